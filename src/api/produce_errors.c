// SPDX-License-Identifier: Apache-2.0
#include "api/produce_errors.h"
#include "base/assert.h"
#include "base/bits.h"
#include "base/text.h"
#include "config/topic_name.h"
#include "tailrace/error.h"

enum { MESSAGE_BYTES_MAX = 300 + TOPIC_NAME_MAX, ERRORS_SHOWN = 3, OLD_OVERHEAD_BYTES = 14 };

static struct str copy(struct arena *arena, const struct text *text) {
    return arena_copy_str(arena, (struct str){text->data, text->size});
}

// ---- the request as a whole
// The first batch of a partition as far as Kafka looks. True: it is refused, with a text if it cannot be taken apart.
static bool first_batch_refuses(struct bytes records, struct text *problem) {
    if (!records.data || records.size < BATCH_OVERHEAD_BYTES) return false;
    int32_t length = (int32_t)load_be32(records.data + BATCH_LENGTH);
    if (length < OLD_OVERHEAD_BYTES) {
        text_addf(problem, "Record size %d is less than the minimum record overhead (%d)", length, OLD_OVERHEAD_BYTES);
        return true;
    }
    if (records.size < BATCH_MAGIC_END) return false;
    int magic = (int8_t)records.data[BATCH_MAGIC];
    if (magic < 0 || magic > 2) {
        text_addf(problem, "Invalid magic found in record: %d", magic);
        return true;
    }
    if (magic < 2 || (uint64_t)length + BATCH_OVERHEAD_BYTES > records.size) return false;
    return load_be16(records.data + BATCH_ATTRIBUTES) & BATCH_TRANSACTIONAL;
}

int16_t produce_refused_whole(const struct produce_request *request, struct arena *arena, struct str *message) {
    char memory[MESSAGE_BYTES_MAX];
    struct text problem = TEXT_IN(memory);
    *message = (struct str){NULL, 0};
    for (int32_t t = 0; t < request->topic_data_count; t++) {
        const struct produce_request_topic *topic = &request->topic_data[t];
        for (int32_t i = 0; i < topic->partition_data_count; i++) {
            if (!first_batch_refuses(topic->partition_data[i].records, &problem)) continue;
            if (problem.size == 0) return KAFKA_ERROR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
            *message = copy(arena, &problem);
            return KAFKA_ERROR_CORRUPT_MESSAGE;
        }
    }
    return KAFKA_ERROR_NONE;
}

// ---- single records
struct words {
    const struct append_check *check;
    struct str topic;
    int32_t partition;
    bool is_partial; // the batch is written as it came, so that Kafka did not unfold its records' contents
};

static void explain(const struct words *w, const struct record_error *error, struct text *t) {
    int64_t offset = w->check->batch.base_offset + error->offset_delta;
    switch (error->fault) {
    case RECORD_WITHOUT_KEY:
        text_addf(t, "Compacted topic cannot accept message without key in topic partition %.*s-%d", (int)w->topic.size,
                  w->topic.data, w->partition);
        break;
    case RECORD_OUT_OF_TIME:
        text_addf(t,
                  "Timestamp %lld of message with offset %lld is out of range. The timestamp should be within "
                  "[%lld, %lld]",
                  (long long)error->timestamp, (long long)offset, (long long)w->check->time_min_ms,
                  (long long)w->check->time_max_ms);
        break;
    case RECORD_WITH_BROKER_TIME: {
        int32_t none = w->is_partial ? -1 : 0;
        text_addf(t,
                  "Invalid timestamp type in message %sDefaultRecord(offset=%lld, timestamp=%lld, key=%d bytes, "
                  "value=%d bytes). Producer should not set timestamp type to LogAppendTime.",
                  w->is_partial ? "Partial" : "", (long long)offset, (long long)error->timestamp,
                  error->key_bytes < 0 ? none : error->key_bytes, error->value_bytes < 0 ? none : error->value_bytes);
        break;
    }
    }
}

static struct str summary(const struct words *w, struct arena *arena) {
    char memory[ERRORS_SHOWN * MESSAGE_BYTES_MAX + 200], one[MESSAGE_BYTES_MAX];
    struct text t = TEXT_IN(memory);
    if (w->check->error == KAFKA_ERROR_INVALID_TIMESTAMP) {
        text_addf(&t, "One or more records have been rejected due to invalid timestamp");
        return copy(arena, &t);
    }
    int32_t count = w->check->record_error_count;
    text_addf(&t,
              "One or more records have been rejected due to %d record errors in total, and only showing the first "
              "three errors at most: [",
              count);
    for (int32_t i = 0; i < count && i < ERRORS_SHOWN; i++) {
        struct text message = TEXT_IN(one);
        explain(w, &w->check->record_errors[i], &message);
        text_addf(&t, "%sRecordError(batchIndex=%d, message='%s')", i > 0 ? ", " : "",
                  w->check->record_errors[i].batch_index, one);
    }
    text_addf(&t, "]");
    ASSERT(!t.truncated);
    return copy(arena, &t);
}

void produce_record_errors(const struct append_check *check, struct str topic, enum topic_compression compression,
                           struct arena *arena, struct produce_response_partition *answer) {
    int32_t count = check->record_error_count;
    if (count == 0) return;
    int codec = batch_codec(&check->batch);
    bool stays = compression == TOPIC_COMPRESSION_PRODUCER || (int)compression == codec;
    struct words w = {check, topic, answer->index, codec != CODEC_NONE && stays};
    answer->error_message = summary(&w, arena);
    struct produce_response_record_error *rows = arena_alloc_array(arena, (size_t)count, sizeof *rows);
    for (int32_t i = 0; rows && i < count; i++) {
        char memory[MESSAGE_BYTES_MAX];
        struct text message = TEXT_IN(memory);
        explain(&w, &check->record_errors[i], &message);
        rows[i] = (struct produce_response_record_error){check->record_errors[i].batch_index, copy(arena, &message)};
        if (!rows[i].batch_index_error_message.data) return; // no memory: the summary alone
    }
    answer->record_errors = rows;
    answer->record_errors_count = rows ? count : 0;
}
