// SPDX-License-Identifier: Apache-2.0
// The programs of workload.h: one flow makes the topic, then a flow for each producer (workload_producer.c) and for
// each partition's reader.
#include "protocol/messages/create_topics.h"
#include "protocol/messages/fetch.h"
#include "protocol/messages/list_offsets.h"
#include "protocol/messages/metadata.h"
#include "protocol/record.h"
#include "tailrace/error.h"
#include "workload_parts.h"
#include <stdio.h>
#include <stdlib.h>

enum { RETRY_PAUSE_MS = 10 };

// Both programs may run into a broker that is starting: what a retry can cure is retried.
void workload_check_retriable(int16_t error, const char *what) {
    SIM_CHECK(kafka_error_is_retriable(error), "%s answered %s", what, kafka_error_name(error));
}
bool workload_pause_is_over(struct flow *flow, struct flow_timer *timer) {
    if (timer->fired) {
        timer->fired = false;
        return true;
    }
    if (!timer_is_set(&timer->timer)) flow_timer_set(timer, flow, RETRY_PAUSE_MS);
    return false;
}
int16_t workload_version(int16_t key, int16_t low, int16_t high) {
    const struct api_info *api = api_by_key(key);
    ASSERT(low >= api->min_version && high <= api->max_version);
    return (int16_t)sim_range(SIM_WORKLOAD, (uint64_t)low, (uint64_t)high);
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
        return workload_pause_is_over(flow, &reader->timer) ? FLOW_GOTO(reader, wait_topic) : FLOW_WAIT;
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
        workload_check_retriable(row->error_code, "Fetch");
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
        if (response->error_code != 0) workload_check_retriable(response->error_code, "Fetch");
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
    client_call_init(&reader->call, api_by_key(API_KEY_LIST_OFFSETS), workload_version(API_KEY_LIST_OFFSETS, 1, 8),
                     flow);
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
        if (row->error_code != 0) workload_check_retriable(row->error_code, "ListOffsets");
        reader->end = row->offset;
        at_end = row->error_code == 0 && reader->position == row->offset;
    }
    client_call_end(&reader->call);
    return at_end ? FLOW_DONE(flow, 0) : FLOW_NEXT;
}
static flow_next reader_step_pause(struct flow *flow) {
    struct reader *reader = container_of(flow, struct reader, flow);
    return workload_pause_is_over(flow, &reader->timer) ? FLOW_GOTO(reader, fetch) : FLOW_WAIT;
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
    reader->version = workload_version(API_KEY_FETCH, 4, 17);
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
    client_call_init(&maker->call, api_by_key(API_KEY_CREATE_TOPICS), workload_version(API_KEY_CREATE_TOPICS, 0, 7),
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
        if (!good) workload_check_retriable(error, "CreateTopics");
        if (error == 0 && maker->call.version >= 7) maker->workload->topic_id = response->topics[0].topic_id;
    }
    client_call_end(&maker->call);
    return good ? FLOW_NEXT : FLOW_GOTO(maker, pause);
}
static flow_next maker_step_look(struct flow *flow) {
    struct maker *maker = container_of(flow, struct maker, flow);
    client_call_init(&maker->call, api_by_key(API_KEY_METADATA), workload_version(API_KEY_METADATA, 10, 12), flow);
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
            workload_check_retriable(topic->error_code, "Metadata");
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
    if (!workload_pause_is_over(flow, &maker->timer)) return FLOW_WAIT;
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
        workload_producer_start(core, w, (uint32_t)i);
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
