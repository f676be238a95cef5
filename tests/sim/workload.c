// SPDX-License-Identifier: Apache-2.0
// The programs of workload.h: one flow makes the topic, then a flow for each producer and for each partition's reader.
#include "workload.h"
#include "base/bits.h"
#include "client.h"
#include "protocol/batch_writer.h"
#include "protocol/messages/create_topics.h"
#include "protocol/messages/fetch.h"
#include "protocol/messages/init_producer_id.h"
#include "protocol/messages/list_offsets.h"
#include "protocol/messages/metadata.h"
#include "protocol/messages/produce.h"
#include "tailrace/error.h"
#include <stdio.h>
#include <stdlib.h>

enum { IN_FLIGHT_MAX = 5, BATCH_RECORDS_MAX = 12, BATCH_MEMORY = 64 << 10, RETRY_PAUSE_MS = 10 };

// Both programs may run into a broker that is starting: what a retry can cure is retried.
static void check_retriable(int16_t error, const char *what) {
    SIM_CHECK(kafka_error_is_retriable(error), "%s answered %s", what, kafka_error_name(error));
}
static bool pause_is_over(struct flow *flow, struct flow_timer *timer) {
    if (timer->fired) {
        timer->fired = false;
        return true;
    }
    if (!timer_is_set(&timer->timer)) flow_timer_set(timer, flow, RETRY_PAUSE_MS);
    return false;
}
static int16_t random_version(int16_t key, int16_t low, int16_t high) {
    const struct api_info *api = api_by_key(key);
    ASSERT(low >= api->min_version && high <= api->max_version);
    return (int16_t)sim_range(SIM_WORKLOAD, (uint64_t)low, (uint64_t)high);
}

// ---- a producer
// ------------------------------------------------------------------------------------------------------
struct producer_batch {
    struct client_call call;
    bool sent;
    uint32_t broker_starts; // when it was sent for the first time
    uint64_t first;         // number of its first record
    int32_t count;
    size_t size_bytes;
    uint8_t memory[BATCH_MEMORY];
};
struct producer {
    struct flow flow;
    struct flow_timer timer;
    struct workload *workload;
    struct client *client;
    struct client_call call;
    uint32_t number;
    int partition, window;
    int64_t producer_id;
    int16_t epoch, version;
    uint64_t next; // record to put into a batch
    bool resend;   // something went wrong: everything comes back, then is sent again in order
    struct producer_batch *batches[IN_FLIGHT_MAX]; // in order of their records; the first `used` ones
    int batch_count;
};
#define PRODUCER_STEPS(STEP)                                                                                           \
    STEP(producer, wait_topic)                                                                                         \
    STEP(producer, init) STEP(producer, inited) STEP(producer, produce) STEP(producer, pause) STEP(producer, release)
FLOW_DEFINE(producer, PRODUCER_STEPS)

static flow_next producer_step_wait_topic(struct flow *flow) {
    struct producer *producer = container_of(flow, struct producer, flow);
    if (!producer->workload->topic_ready)
        return pause_is_over(flow, &producer->timer) ? FLOW_GOTO(producer, wait_topic) : FLOW_WAIT;
    flow_timer_cancel(&producer->timer);
    return producer->workload->producers[producer->number].is_idempotent ? FLOW_NEXT : FLOW_GOTO(producer, produce);
}
static flow_next producer_step_init(struct flow *flow) {
    struct producer *producer = container_of(flow, struct producer, flow);
    client_call_init(&producer->call, api_by_key(API_KEY_INIT_PRODUCER_ID),
                     random_version(API_KEY_INIT_PRODUCER_ID, 0, 4), flow);
    struct init_producer_id_request *request = client_request(&producer->call);
    request->transactional_id = (struct str){0};
    request->transaction_timeout_ms = INT32_MAX;
    client_send(producer->client, &producer->call);
    return FLOW_NEXT;
}
static flow_next producer_step_inited(struct flow *flow) {
    struct producer *producer = container_of(flow, struct producer, flow);
    if (!client_is_done(&producer->call)) return FLOW_WAIT;
    bool good = false;
    if (producer->call.outcome == CLIENT_OK) {
        const struct init_producer_id_response *response = producer->call.response;
        if (response->error_code != 0) check_retriable(response->error_code, "InitProducerId");
        good = response->error_code == 0;
        producer->producer_id = response->producer_id;
        producer->epoch = response->producer_epoch;
    }
    client_call_end(&producer->call);
    return good ? FLOW_NEXT : FLOW_GOTO(producer, pause);
}

static void batch_fill(struct producer *producer, struct producer_batch *batch) {
    struct workload *w = producer->workload;
    bool idempotent = w->producers[producer->number].is_idempotent;
    struct batch_options options = BATCH_OPTIONS_PLAIN;
    if (idempotent) {
        options.producer_id = producer->producer_id;
        options.producer_epoch = producer->epoch;
        options.base_sequence = (int32_t)producer->next;
    }
    struct batch_writer writer;
    batch_writer_begin(&writer, batch->memory, sizeof batch->memory, options);
    batch->first = producer->next;
    uint64_t left = w->records_each - producer->next;
    uint64_t wanted = sim_range(SIM_WORKLOAD, 1, left < BATCH_RECORDS_MAX ? left : BATCH_RECORDS_MAX);
    uint8_t value[4096];
    for (batch->count = 0; (uint64_t)batch->count < wanted; batch->count++) {
        size_t size = sim_range(SIM_WORKLOAD, HISTORY_VALUE_MIN_BYTES, w->value_bytes_max);
        ASSERT(size <= sizeof value);
        history_value_make(value, size, producer->number, producer->next++);
        bool added = batch_writer_add(&writer, os_wall_ms(producer->flow.core->os), (struct bytes){0},
                                      (struct bytes){value, size}, NULL, 0);
        ASSERT(added);
    }
    batch->size_bytes = batch_writer_end(&writer);
    batch->broker_starts = 0;
}

static void batch_send(struct producer *producer, struct producer_batch *batch) {
    client_call_init(&batch->call, api_by_key(API_KEY_PRODUCE), producer->version, &producer->flow);
    struct produce_request *request = client_request(&batch->call);
    struct produce_request_partition partition = {.index = producer->partition,
                                                  .records = {batch->memory, batch->size_bytes}};
    struct produce_request_topic topic = {
        .name = str_of(producer->workload->topic), .partition_data = &partition, .partition_data_count = 1};
    request->acks = -1;
    request->timeout_ms = 3000;
    request->topic_data = &topic;
    request->topic_data_count = 1;
    sim_trace(producer->flow.core->host, (int)producer->number, "produce", "", batch->first);
    client_send(producer->client, &batch->call);
    if (batch->broker_starts == 0) batch->broker_starts = sim_starts(producer->workload->broker);
    batch->sent = true;
}

// The answer's error code; the record is written down if it is acknowledged.
static int16_t batch_answer(struct producer *producer, struct producer_batch *batch) {
    const struct produce_response *response = batch->call.response;
    SIM_CHECK(response->responses_count == 1 && response->responses[0].partition_responses_count == 1,
              "Produce of one partition answered another number");
    const struct produce_response_partition *row = &response->responses[0].partition_responses[0];
    SIM_CHECK(row->index == producer->partition && str_is(response->responses[0].name, producer->workload->topic),
              "Produce answered another partition");
    if (row->error_code != 0) return row->error_code;
    struct history_partition *partition = &producer->workload->partitions[producer->partition];
    for (int32_t i = 0; i < batch->count; i++)
        history_acknowledge(partition, row->base_offset + i, producer->number, batch->first + (uint64_t)i);
    return 0;
}

// Of a producer's batches only the last is in a snapshot of the log's producers (as in Kafka). So one that was sent
// before the broker was started again, and comes once more, may be an older duplicate: refused, and in the log. Whether
// it is there shows when the log is read.
static bool batch_is_old_duplicate(const struct producer *producer, const struct producer_batch *batch) {
    return batch->broker_starts != sim_starts(producer->workload->broker);
}

// Takes what was answered off the front, in order. False: a batch must be sent again.
static void producer_collect(struct producer *producer) {
    struct history_producer *facts = &producer->workload->producers[producer->number];
    bool first_failed = false;
    for (int i = 0; i < producer->batch_count; i++) {
        struct producer_batch *batch = producer->batches[i];
        if (!batch->sent || !client_is_done(&batch->call)) continue;
        int16_t error =
            batch->call.outcome == CLIENT_OK ? batch_answer(producer, batch) : KAFKA_ERROR_NETWORK_EXCEPTION;
        client_call_end(&batch->call);
        batch->sent = false;
        sim_trace(producer->flow.core->host, (int)producer->number, "answer", kafka_error_name(error), batch->first);
        if (error == KAFKA_ERROR_OUT_OF_ORDER_SEQUENCE_NUMBER && i == 0 && batch_is_old_duplicate(producer, batch))
            error = 0;
        if (error == 0 && !first_failed && i == 0) {
            facts->acknowledged = batch->first + (uint64_t)batch->count;
            memmove(&producer->batches[0], &producer->batches[1],
                    sizeof producer->batches - sizeof producer->batches[0]);
            producer->batches[IN_FLIGHT_MAX - 1] = batch;
            producer->batch_count--;
            i--;
            continue;
        }
        // Behind a batch that has to come again, the sequence does not fit; a later one that was taken nevertheless
        // (after a lost answer) is a duplicate when it comes again.
        bool behind = i > 0 && error == KAFKA_ERROR_OUT_OF_ORDER_SEQUENCE_NUMBER;
        if (error != 0 && !behind) check_retriable(error, "Produce");
        producer->resend = true;
        first_failed = true;
    }
}

static flow_next producer_step_produce(struct flow *flow) {
    struct producer *producer = container_of(flow, struct producer, flow);
    struct workload *w = producer->workload;
    producer_collect(producer);
    bool in_flight = false;
    for (int i = 0; i < producer->batch_count; i++)
        in_flight = in_flight || producer->batches[i]->sent;
    if (producer->resend && in_flight) return FLOW_WAIT;
    if (producer->resend) return FLOW_NEXT;
    bool alone = w->first_alone && w->producers[producer->number].acknowledged == 0;
    while (producer->batch_count < (alone ? 1 : producer->window) && producer->next < w->records_each) {
        batch_fill(producer, producer->batches[producer->batch_count++]);
        batch_send(producer, producer->batches[producer->batch_count - 1]);
    }
    if (producer->batch_count == 0) return FLOW_DONE(flow, 0);
    return FLOW_WAIT;
}
static flow_next producer_step_pause(struct flow *flow) {
    struct producer *producer = container_of(flow, struct producer, flow);
    if (!pause_is_over(flow, &producer->timer)) return FLOW_WAIT;
    if (!producer->resend) return FLOW_GOTO(producer, init);
    producer->resend = false;
    for (int i = 0; i < producer->batch_count; i++)
        batch_send(producer, producer->batches[i]);
    return FLOW_GOTO(producer, produce);
}
static flow_next producer_step_release(struct flow *flow) {
    struct producer *producer = container_of(flow, struct producer, flow);
    producer->workload->producers_done++;
    for (int i = 0; i < IN_FLIGHT_MAX; i++)
        free(producer->batches[i]);
    free(producer);
    return FLOW_END;
}

static void producer_start(struct core *core, struct workload *w, uint32_t number) {
    struct producer *producer = calloc(1, sizeof *producer);
    ASSERT(producer != NULL);
    char name[24];
    snprintf(name, sizeof name, "producer-%u", number);
    producer->workload = w;
    producer->number = number;
    producer->client = client_create(core, w->broker, w->port, name);
    producer->partition = (int)sim_range(SIM_WORKLOAD, 0, (uint64_t)w->partition_count - 1);
    producer->version = random_version(API_KEY_PRODUCE, 3, 11);
    bool idempotent = w->producers[number].is_idempotent;
    // Without idempotence a resent batch could overtake its successor: one at a time keeps the order.
    producer->window = idempotent ? (int)sim_range(SIM_WORKLOAD, 1, IN_FLIGHT_MAX) : 1;
    for (int i = 0; i < IN_FLIGHT_MAX; i++) {
        producer->batches[i] = calloc(1, sizeof *producer->batches[i]);
        ASSERT(producer->batches[i] != NULL);
    }
    flow_start(&producer->flow, &producer_flow, core);
}

// ---- a reader of one partition
// ------------------------------------------------------------------------------------------
struct reader {
    struct flow flow;
    struct flow_timer timer;
    struct workload *workload;
    struct client *client;
    struct client_call call;
    int partition;
    int64_t position, end;
    int16_t version;
};
#define READER_STEPS(STEP)                                                                                             \
    STEP(reader, wait_topic)                                                                                           \
    STEP(reader, fetch)                                                                                                \
    STEP(reader, fetched) STEP(reader, ask_end) STEP(reader, end) STEP(reader, pause) STEP(reader, release)
FLOW_DEFINE(reader, READER_STEPS)

static flow_next reader_step_wait_topic(struct flow *flow) {
    struct reader *reader = container_of(flow, struct reader, flow);
    if (!reader->workload->topic_ready)
        return pause_is_over(flow, &reader->timer) ? FLOW_GOTO(reader, wait_topic) : FLOW_WAIT;
    flow_timer_cancel(&reader->timer);
    return FLOW_NEXT;
}
static flow_next reader_step_fetch(struct flow *flow) {
    struct reader *reader = container_of(flow, struct reader, flow);
    client_call_init(&reader->call, api_by_key(API_KEY_FETCH), reader->version, flow);
    struct fetch_request *request = client_request(&reader->call);
    struct fetch_request_partition partition = {.partition = reader->partition,
                                                .current_leader_epoch = -1,
                                                .fetch_offset = reader->position,
                                                .last_fetched_epoch = -1,
                                                .log_start_offset = -1};
    partition.partition_max_bytes = (int32_t)sim_range(SIM_WORKLOAD, 1, 20000);
    struct fetch_request_topic topic = {.partitions = &partition, .partitions_count = 1};
    if (reader->version >= 13) {
        topic.topic_id = reader->workload->topic_id;
    } else {
        topic.topic = str_of(reader->workload->topic);
    }
    request->max_wait_ms = (int32_t)sim_range(SIM_WORKLOAD, 0, 300);
    request->min_bytes = (int32_t)sim_range(SIM_WORKLOAD, 0, 2000);
    request->max_bytes = (int32_t)sim_range(SIM_WORKLOAD, 1, 100000);
    request->topics = &topic;
    request->topics_count = 1;
    client_send(reader->client, &reader->call);
    return FLOW_NEXT;
}

static void read_batch(struct reader *reader, const struct batch *batch, int64_t high_watermark) {
    struct workload *w = reader->workload;
    struct history_partition *partition = &w->partitions[reader->partition];
    SIM_CHECK(batch_crc_is_valid(batch), "%s-%d offset %lld: bad CRC", w->topic, reader->partition,
              (long long)batch->base_offset);
    SIM_CHECK(batch->base_offset <= reader->position && batch_last_offset(batch) >= reader->position,
              "%s-%d: asked for offset %lld, got a batch from %lld to %lld", w->topic, reader->partition,
              (long long)reader->position, (long long)batch->base_offset, (long long)batch_last_offset(batch));
    SIM_CHECK(batch_last_offset(batch) < high_watermark, "%s-%d: got offset %lld, the high watermark is %lld", w->topic,
              reader->partition, (long long)batch_last_offset(batch), (long long)high_watermark);
    struct record_reader records;
    struct record record;
    record_open(&records, batch, 1 << 24, RECORD_CONTENT);
    enum record_status status;
    while ((status = record_next(&records, &record)) == RECORD_OK)
        history_read(partition, w->producers, (uint32_t)w->producer_count, batch->base_offset + record.offset_delta,
                     record.value);
    SIM_CHECK(status == RECORD_END, "%s-%d offset %lld: damaged records", w->topic, reader->partition,
              (long long)batch->base_offset);
    record_close(&records);
    reader->position = batch_last_offset(batch) + 1;
}

static void read_rows(struct reader *reader, const struct fetch_response_partition *row) {
    SIM_CHECK(row->partition_index == reader->partition, "Fetch answered another partition");
    if (row->error_code != 0) {
        check_retriable(row->error_code, "Fetch");
        return;
    }
    history_high_watermark(&reader->workload->partitions[reader->partition], row->high_watermark);
    struct bytes left = row->records;
    struct batch batch;
    while (left.size > 0) {
        enum batch_status status = batch_next(&left, &batch);
        if (status == BATCH_INCOMPLETE || status == BATCH_END) break; // cut by the limit
        SIM_CHECK(status == BATCH_OK, "Fetch gave damaged batches");
        read_batch(reader, &batch, row->high_watermark);
    }
}

static flow_next reader_step_fetched(struct flow *flow) {
    struct reader *reader = container_of(flow, struct reader, flow);
    if (!client_is_done(&reader->call)) return FLOW_WAIT;
    int64_t before = reader->position;
    if (reader->call.outcome == CLIENT_OK) {
        const struct fetch_response *response = reader->call.response;
        if (response->error_code != 0) check_retriable(response->error_code, "Fetch");
        for (int32_t i = 0; i < response->responses_count; i++)
            for (int32_t j = 0; j < response->responses[i].partitions_count; j++)
                read_rows(reader, &response->responses[i].partitions[j]);
    }
    client_call_end(&reader->call);
    if (reader->position > before) return FLOW_GOTO(reader, fetch);
    return reader->workload->reading_to_end ? FLOW_NEXT : FLOW_GOTO(reader, pause);
}

static flow_next reader_step_ask_end(struct flow *flow) {
    struct reader *reader = container_of(flow, struct reader, flow);
    client_call_init(&reader->call, api_by_key(API_KEY_LIST_OFFSETS), random_version(API_KEY_LIST_OFFSETS, 1, 8), flow);
    struct list_offsets_request *request = client_request(&reader->call);
    struct list_offsets_request_partition partition = {
        .partition_index = reader->partition, .current_leader_epoch = -1, .timestamp = -1, .max_num_offsets = 1};
    struct list_offsets_request_topic topic = {
        .name = str_of(reader->workload->topic), .partitions = &partition, .partitions_count = 1};
    request->replica_id = -1;
    request->topics = &topic;
    request->topics_count = 1;
    client_send(reader->client, &reader->call);
    return FLOW_NEXT;
}
static flow_next reader_step_end(struct flow *flow) {
    struct reader *reader = container_of(flow, struct reader, flow);
    if (!client_is_done(&reader->call)) return FLOW_WAIT;
    bool at_end = false;
    if (reader->call.outcome == CLIENT_OK) {
        const struct list_offsets_response *response = reader->call.response;
        SIM_CHECK(response->topics_count == 1 && response->topics[0].partitions_count == 1, "ListOffsets: wrong rows");
        const struct list_offsets_response_partition *row = &response->topics[0].partitions[0];
        if (row->error_code != 0) check_retriable(row->error_code, "ListOffsets");
        reader->end = row->offset;
        at_end = row->error_code == 0 && reader->position == row->offset;
    }
    client_call_end(&reader->call);
    return at_end ? FLOW_DONE(flow, 0) : FLOW_NEXT;
}
static flow_next reader_step_pause(struct flow *flow) {
    struct reader *reader = container_of(flow, struct reader, flow);
    return pause_is_over(flow, &reader->timer) ? FLOW_GOTO(reader, fetch) : FLOW_WAIT;
}
static flow_next reader_step_release(struct flow *flow) {
    struct reader *reader = container_of(flow, struct reader, flow);
    history_check(&reader->workload->partitions[reader->partition], reader->end);
    reader->workload->consumers_done++;
    free(reader);
    return FLOW_END;
}

static void reader_start(struct core *core, struct workload *w, int partition) {
    struct reader *reader = calloc(1, sizeof *reader);
    ASSERT(reader != NULL);
    char name[24];
    snprintf(name, sizeof name, "reader-%d", partition);
    reader->workload = w;
    reader->partition = partition;
    reader->client = client_create(core, w->broker, w->port, name);
    reader->version = random_version(API_KEY_FETCH, 4, 17);
    flow_start(&reader->flow, &reader_flow, core);
}

// ---- the topic
// --------------------------------------------------------------------------------------------------------------
struct maker {
    struct flow flow;
    struct flow_timer timer;
    struct workload *workload;
    struct client *client;
    struct client_call call;
    bool known; // Metadata has shown it once
};
#define MAKER_STEPS(STEP)                                                                                              \
    STEP(maker, create)                                                                                                \
    STEP(maker, created) STEP(maker, look) STEP(maker, looked) STEP(maker, pause) STEP(maker, release)
FLOW_DEFINE(maker, MAKER_STEPS)

static flow_next maker_step_create(struct flow *flow) {
    struct maker *maker = container_of(flow, struct maker, flow);
    struct workload *w = maker->workload;
    if (w->auto_create) return FLOW_GOTO(maker, look);
    client_call_init(&maker->call, api_by_key(API_KEY_CREATE_TOPICS), random_version(API_KEY_CREATE_TOPICS, 0, 7),
                     flow);
    struct create_topics_request *request = client_request(&maker->call);
    struct create_topics_request_config configs[ARRAY_LENGTH(w->configs)];
    struct create_topics_request_topic topic = {
        .name = str_of(w->topic), .num_partitions = w->partition_count, .replication_factor = 1, .configs = configs};
    for (size_t i = 0; i < ARRAY_LENGTH(w->configs) && w->configs[i][0]; i++)
        configs[topic.configs_count++] =
            (struct create_topics_request_config){str_of(w->configs[i][0]), str_of(w->configs[i][1])};
    request->topics = &topic;
    request->topics_count = 1;
    request->timeout_ms = 3000;
    client_send(maker->client, &maker->call);
    return FLOW_NEXT;
}
static flow_next maker_step_created(struct flow *flow) {
    struct maker *maker = container_of(flow, struct maker, flow);
    if (!client_is_done(&maker->call)) return FLOW_WAIT;
    bool good = false;
    if (maker->call.outcome == CLIENT_OK) {
        const struct create_topics_response *response = maker->call.response;
        SIM_CHECK(response->topics_count == 1, "CreateTopics: wrong rows");
        int16_t error = response->topics[0].error_code;
        good = error == 0 || error == KAFKA_ERROR_TOPIC_ALREADY_EXISTS; // an earlier try whose answer was lost
        if (!good) check_retriable(error, "CreateTopics");
        if (error == 0 && maker->call.version >= 7) maker->workload->topic_id = response->topics[0].topic_id;
    }
    client_call_end(&maker->call);
    return good ? FLOW_NEXT : FLOW_GOTO(maker, pause);
}
static flow_next maker_step_look(struct flow *flow) {
    struct maker *maker = container_of(flow, struct maker, flow);
    client_call_init(&maker->call, api_by_key(API_KEY_METADATA), random_version(API_KEY_METADATA, 10, 12), flow);
    struct metadata_request *request = client_request(&maker->call);
    struct metadata_request_topic topic = {.name = str_of(maker->workload->topic)};
    request->topics = &topic;
    request->topics_count = 1;
    request->allow_auto_topic_creation = maker->workload->auto_create;
    client_send(maker->client, &maker->call);
    return FLOW_NEXT;
}
// Leaves when every partition has a leader; comes back for ever to see that the topic stays the same one.
static flow_next maker_step_looked(struct flow *flow) {
    struct maker *maker = container_of(flow, struct maker, flow);
    struct workload *w = maker->workload;
    if (!client_is_done(&maker->call)) return FLOW_WAIT;
    if (maker->call.outcome == CLIENT_OK) {
        const struct metadata_response *response = maker->call.response;
        SIM_CHECK(response->topics_count == 1, "Metadata: wrong rows");
        const struct metadata_response_topic *topic = &response->topics[0];
        if (topic->error_code != 0) {
            check_retriable(topic->error_code, "Metadata");
            SIM_CHECK(!w->topic_ready || topic->error_code != KAFKA_ERROR_UNKNOWN_TOPIC_OR_PARTITION,
                      "topic %s is gone", w->topic);
        } else {
            SIM_CHECK(uuid_is_zero(w->topic_id) || uuid_equal(w->topic_id, topic->topic_id),
                      "topic %s has another id than before", w->topic);
            SIM_CHECK(topic->partitions_count == w->partition_count || w->auto_create, "topic %s has %d partitions",
                      w->topic, topic->partitions_count);
            w->topic_id = topic->topic_id;
            bool all = true;
            for (int32_t i = 0; i < topic->partitions_count; i++)
                all = all && topic->partitions[i].error_code == 0 && topic->partitions[i].leader_id >= 0;
            w->topic_ready = w->topic_ready || all;
        }
    }
    client_call_end(&maker->call);
    return FLOW_NEXT;
}
static flow_next maker_step_pause(struct flow *flow) {
    struct maker *maker = container_of(flow, struct maker, flow);
    if (!pause_is_over(flow, &maker->timer)) return FLOW_WAIT;
    return maker->workload->topic_ready ? FLOW_GOTO(maker, look) : FLOW_GOTO(maker, create);
}
static flow_next maker_step_release(struct flow *flow) {
    (void)flow;
    return FLOW_END;
}

// ---- all of it
// -----------------------------------------------------------------------------------------------------------------
static void start_readers(struct core *core, void *argument) {
    struct workload *w = argument;
    for (int i = 0; i < w->partition_count; i++)
        reader_start(core, w, i);
}

static void start_clients(struct core *core, void *argument) {
    struct workload *w = argument;
    struct maker *maker = calloc(1, sizeof *maker);
    ASSERT(maker != NULL);
    maker->workload = w;
    maker->client = client_create(core, w->broker, w->port, "maker");
    flow_start(&maker->flow, &maker_flow, core);
    for (int i = 0; i < w->producer_count; i++)
        producer_start(core, w, (uint32_t)i);
    start_readers(core, w);
}

void workload_init(struct workload *w, const char *broker, uint16_t port, const char *topic) {
    *w = (struct workload){.broker = broker, .port = port, .topic = topic, .value_bytes_max = 400};
    w->partition_count = (int)sim_range(SIM_WORKLOAD, 1, 3);
    w->producer_count = (int)sim_range(SIM_WORKLOAD, 1, 4);
    w->records_each = sim_range(SIM_WORKLOAD, 200, 2500);
    for (int i = 0; i < w->producer_count; i++)
        w->producers[i].is_idempotent = sim_chance(SIM_WORKLOAD, 750000);
    for (int i = 0; i < w->partition_count; i++) {
        w->partitions[i].topic = topic;
        w->partitions[i].index = i;
    }
}

struct os_host *workload_start(struct workload *w, const char *host_name) {
    struct os_host *host = sim_host_create(host_name, SIM_HOST_DEFAULT);
    struct sim_program *program = calloc(1, sizeof *program);
    ASSERT(program != NULL);
    *program = (struct sim_program){.start = start_clients, .argument = w};
    sim_start(host, sim_program_main, program);
    return host;
}

void workload_read_again(struct workload *w, const char *host_name) {
    struct os_host *host = sim_host_create(host_name, SIM_HOST_DEFAULT);
    static struct sim_program program;
    program = (struct sim_program){.start = start_readers, .argument = w};
    w->consumers_done = 0;
    sim_start(host, sim_program_main, &program);
}

bool workload_has_topic(void *workload) {
    return ((struct workload *)workload)->topic_ready;
}
bool workload_is_produced(void *workload) {
    const struct workload *w = workload;
    return w->producers_done == w->producer_count;
}
bool workload_is_consumed(void *workload) {
    const struct workload *w = workload;
    return w->consumers_done == w->partition_count;
}

void workload_check(struct workload *w) {
    for (int i = 0; i < w->producer_count; i++) {
        SIM_CHECK(w->producers[i].acknowledged == w->records_each, "producer %d: %llu of %llu acknowledged", i,
                  (unsigned long long)w->producers[i].acknowledged, (unsigned long long)w->records_each);
        SIM_CHECK(w->producers[i].seen == w->records_each, "producer %d: %llu of %llu read", i,
                  (unsigned long long)w->producers[i].seen, (unsigned long long)w->records_each);
    }
}
