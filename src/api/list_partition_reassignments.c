// SPDX-License-Identifier: Apache-2.0
// ListPartitionReassignments: none, as long as there is one broker. Partitions that do not exist are left out, not
// errors (trap 66).
#include "protocol/messages/list_partition_reassignments.h"
#include "api/handlers.h"
#include "protocol/message.h"

void handle_list_partition_reassignments(struct api_call *call) {
    struct list_partition_reassignments_response response;
    message_default(call->api->response, &response);
    response.error_message = str_of(""); // not null, as in Kafka
    respond(call, &response);
}
