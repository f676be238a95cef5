// SPDX-License-Identifier: Apache-2.0
// What a Produce request is refused with as a whole, and the words that tell why records were refused. produce.c's own.
#pragma once

#include "base/arena.h"
#include "config/topic.h"
#include "protocol/batch_validate.h"
#include "protocol/messages/produce.h"

// Kafka looks for transactional batches before anything else. What it cannot take apart then, and a transactional batch
// that nobody may write, is the answer to every partition of the request. NONE: neither. The message is null, or the
// arena's.
int16_t produce_refused_whole(const struct produce_request *request, struct arena *arena, struct str *message);

// error_message and record_errors, in Kafka's words, if single records were refused. Without memory for them the answer
// goes without.
void produce_record_errors(const struct append_check *check, struct str topic, enum topic_compression compression,
                           struct arena *arena, struct produce_response_partition *answer);
