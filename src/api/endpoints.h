// SPDX-License-Identifier: Apache-2.0
// Brokers as a client must see them: by the listener that the client came in by; and the operations that exist for each
// kind of resource (KIP-430), all of which are allowed as long as there is no authorizer.
#pragma once

#include "api/api.h"
#include "metadata/publish.h"

enum {
    TOPIC_OPERATIONS = 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 10 | 1 << 11,
    CLUSTER_OPERATIONS = 1 << 5 | 1 << 7 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 12,
};

// NULL: that broker has no such listener.
static inline const struct image_endpoint *call_endpoint(struct api_call *call, const struct image_broker *broker) {
    return image_endpoint(broker, str_of(request_listener(call->request)));
}
// This broker's own.
static inline const struct image_endpoint *call_own_endpoint(struct api_call *call) {
    const struct image *image = image_of(call->core);
    const struct image_broker *broker = image_broker_by_id(image, image->broker_id);
    return broker ? call_endpoint(call, broker) : NULL;
}
