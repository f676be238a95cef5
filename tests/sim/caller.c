// SPDX-License-Identifier: Apache-2.0
// The script runs in the turn of its host's first core, and while it waits it makes that core's turns itself: so it may
// block, and everything below it is the production code's loop.
#include "caller.h"
#include "base/bits.h"
#include "protocol/batch_writer.h"
#include "protocol/messages/create_topics.h"
#include "protocol/messages/list_offsets.h"
#include "protocol/messages/metadata.h"
#include "protocol/record.h"
#include <stdlib.h>

enum { CALLER_RETRY_MS = 20, BATCH_BYTES_MAX = 256 << 10 };

// The flow that calls and timers wake. It only keeps the turn from going to sleep: the script is to look.
#define CALLER_STEPS(STEP) STEP(caller, idle) STEP(caller, release)
FLOW_DEFINE(caller, CALLER_STEPS)
static void bell_arrive(struct core *core, struct message *message) {
    (void)core;
    container_of(message, struct caller, bell)->bell_rings = false;
}
static flow_next caller_step_idle(struct flow *flow) {
    struct caller *caller = container_of(flow, struct caller, flow);
    if (!caller->bell_rings) core_send(flow->core, flow->core->id, &caller->bell, bell_arrive);
    caller->bell_rings = true;
    return FLOW_WAIT;
}
static flow_next caller_step_release(struct flow *flow) {
    (void)flow;
    return FLOW_END;
}

static bool caller_turn(void *argument) {
    struct caller *caller = argument;
    if (!caller->done) {
        flow_start(&caller->flow, &caller_flow, caller->core);
        caller->client = client_create(caller->core, caller->broker, caller->port, caller->name);
        caller->script(caller, caller->argument);
        caller->done = true;
    }
    return core_turn(caller->core);
}

static int caller_main(struct os_host *host, void *argument) {
    struct caller *caller = argument;
    int error = 0;
    struct core_set *set = core_set_create(host, 1, &error);
    ASSERT(set != NULL);
    caller->core = set->cores[0];
    sim_trace_core(caller->core);
    struct os_core_entry entries[2] = {
        {.name = "caller", .cpu = -1, .turn = caller_turn, .argument = caller},
        {.name = "control", .cpu = -1, .turn = core_turn, .argument = set->cores[1]},
    };
    os_run_cores(host, entries, 2);
    return 0;
}

struct caller *caller_start(const char *host_name, const char *broker, uint16_t port,
                            void (*script)(struct caller *, void *), void *argument) {
    struct caller *caller = calloc(1, sizeof *caller);
    SIM_CHECK(caller, "no memory");
    *caller = (struct caller){
        .name = strdup(host_name), .broker = broker, .port = port, .script = script, .argument = argument};
    caller->host = sim_host_create(host_name, SIM_HOST_DEFAULT);
    sim_start(caller->host, caller_main, caller);
    return caller;
}

bool caller_is_done(void *caller) {
    return ((struct caller *)caller)->done;
}

// ---- asking
void *caller_begin(struct caller *caller, struct client_call *call, int16_t api, int16_t low, int16_t high) {
    const struct api_info *info = api_by_key(api);
    ASSERT(low >= info->min_version && high <= info->max_version);
    const int16_t version = (int16_t)sim_range(SIM_WORKLOAD, (uint64_t)low, (uint64_t)high);
    client_call_init(call, info, version, &caller->flow);
    return client_request(call);
}

bool caller_ask(struct caller *caller, struct client_call *call) {
    client_send(caller->client, call);
    while (!client_is_done(call))
        core_turn(caller->core);
    return call->outcome == CLIENT_OK;
}

void caller_end(struct client_call *call) {
    client_call_end(call);
}

void caller_sleep(struct caller *caller, uint64_t ms) {
    flow_timer_set(&caller->timer, &caller->flow, ms);
    while (!caller->timer.fired)
        core_turn(caller->core);
}

void caller_check_retriable(int16_t error, const char *what) {
    SIM_CHECK(kafka_error_is_retriable(error), "%s answered %s", what, kafka_error_name(error));
}

// ---- topics
int16_t caller_create_topic(struct caller *caller, const char *name, int32_t partitions,
                            const char *const (*configs)[2], size_t config_count) {
    struct client_call call;
    struct create_topics_request *request = caller_begin(caller, &call, API_KEY_CREATE_TOPICS, 0, 7);
    struct create_topics_request_config rows[8];
    ASSERT(config_count <= ARRAY_LENGTH(rows));
    for (size_t i = 0; i < config_count; i++)
        rows[i] = (struct create_topics_request_config){str_of(configs[i][0]), str_of(configs[i][1])};
    struct create_topics_request_topic topic = {.name = str_of(name),
                                                .num_partitions = partitions,
                                                .replication_factor = 1,
                                                .configs = rows,
                                                .configs_count = (int32_t)config_count};
    request->topics = &topic;
    request->topics_count = 1;
    request->timeout_ms = (int32_t)sim_range(SIM_WORKLOAD, 0, 3000);
    int16_t error = KAFKA_ERROR_NETWORK_EXCEPTION;
    if (caller_ask(caller, &call)) {
        const struct create_topics_response *response = call.response;
        SIM_CHECK(response->topics_count == 1, "CreateTopics: wrong rows");
        error = response->topics[0].error_code;
    }
    caller_end(&call);
    return error;
}

int16_t caller_look(struct caller *caller, const char *name, struct caller_topic *topic) {
    struct client_call call;
    struct metadata_request *request = caller_begin(caller, &call, API_KEY_METADATA, 10, 12);
    struct metadata_request_topic row = {.name = str_of(name)};
    request->topics = &row;
    request->topics_count = 1;
    request->allow_auto_topic_creation = false;
    int16_t error = KAFKA_ERROR_NETWORK_EXCEPTION;
    if (caller_ask(caller, &call)) {
        const struct metadata_response *response = call.response;
        SIM_CHECK(response->topics_count == 1, "Metadata: wrong rows");
        const struct metadata_response_topic *found = &response->topics[0];
        error = found->error_code;
        *topic = (struct caller_topic){found->topic_id, found->partitions_count, found->partitions_count > 0};
        for (int32_t i = 0; i < found->partitions_count; i++)
            if (found->partitions[i].error_code != 0 || found->partitions[i].leader_id < 0) topic->all_led = false;
    }
    caller_end(&call);
    return error;
}

void caller_await_topic(struct caller *caller, const char *name, const char *const (*configs)[2], size_t config_count,
                        int32_t partitions, struct caller_topic *topic) {
    for (;;) {
        int16_t error = caller_look(caller, name, topic);
        if (error == 0 && topic->all_led) break;
        if (error == KAFKA_ERROR_UNKNOWN_TOPIC_OR_PARTITION) {
            error = caller_create_topic(caller, name, partitions, configs, config_count);
            if (error != 0 && error != KAFKA_ERROR_TOPIC_ALREADY_EXISTS) caller_check_retriable(error, "CreateTopics");
        } else if (error != 0) {
            caller_check_retriable(error, "Metadata");
        }
        caller_sleep(caller, CALLER_RETRY_MS);
    }
    SIM_CHECK(topic->partition_count == partitions, "topic %s has %d partitions", name, topic->partition_count);
}

// ---- records
int16_t caller_produce(struct caller *caller, const char *topic, int32_t partition, const struct caller_batch *batch,
                       int64_t *base_offset) {
    uint8_t *memory = malloc(BATCH_BYTES_MAX), *value = malloc(batch->value_bytes);
    ASSERT(memory && value && batch->value_bytes >= HISTORY_VALUE_MIN_BYTES);
    struct batch_writer writer;
    batch_writer_begin(&writer, memory, BATCH_BYTES_MAX, BATCH_OPTIONS_PLAIN);
    for (int32_t i = 0; i < batch->count; i++) {
        history_value_make(value, batch->value_bytes, batch->producer, batch->number + (uint64_t)i);
        bool added = batch_writer_add(&writer, batch->timestamp_ms, (struct bytes){0},
                                      (struct bytes){value, batch->value_bytes}, NULL, 0);
        ASSERT(added);
    }
    struct client_call call;
    struct produce_request *request = caller_begin(caller, &call, API_KEY_PRODUCE, 3, 11);
    struct produce_request_partition row = {.index = partition, .records = {memory, batch_writer_end(&writer)}};
    struct produce_request_topic rows = {.name = str_of(topic), .partition_data = &row, .partition_data_count = 1};
    request->acks = -1;
    request->timeout_ms = 3000;
    request->topic_data = &rows;
    request->topic_data_count = 1;
    int16_t error = KAFKA_ERROR_NETWORK_EXCEPTION;
    if (caller_ask(caller, &call)) {
        const struct produce_response *response = call.response;
        SIM_CHECK(response->responses_count == 1 && response->responses[0].partition_responses_count == 1 &&
                      response->responses[0].partition_responses[0].index == partition,
                  "Produce: wrong rows");
        error = response->responses[0].partition_responses[0].error_code;
        *base_offset = response->responses[0].partition_responses[0].base_offset;
    }
    caller_end(&call);
    free(memory);
    free(value);
    return error;
}

int16_t caller_list_offset(struct caller *caller, const char *topic, int32_t partition, int64_t timestamp,
                           int64_t *offset) {
    struct client_call call;
    struct list_offsets_request *request = caller_begin(caller, &call, API_KEY_LIST_OFFSETS, 1, 8);
    struct list_offsets_request_partition row = {
        .partition_index = partition, .current_leader_epoch = -1, .timestamp = timestamp, .max_num_offsets = 1};
    struct list_offsets_request_topic rows = {.name = str_of(topic), .partitions = &row, .partitions_count = 1};
    request->replica_id = -1;
    request->topics = &rows;
    request->topics_count = 1;
    int16_t error = KAFKA_ERROR_NETWORK_EXCEPTION;
    if (caller_ask(caller, &call)) {
        const struct list_offsets_response *response = call.response;
        SIM_CHECK(response->topics_count == 1 && response->topics[0].partitions_count == 1, "ListOffsets: wrong rows");
        error = response->topics[0].partitions[0].error_code;
        *offset = response->topics[0].partitions[0].offset;
    }
    caller_end(&call);
    return error;
}

int16_t caller_fetch(struct caller *caller, struct client_call *call, const struct caller_fetch *fetch,
                     const struct fetch_response_partition **row) {
    struct fetch_request *request = caller_begin(caller, call, API_KEY_FETCH, 4, fetch->by_name ? 12 : 17);
    struct fetch_request_partition asked = {.partition = fetch->partition,
                                            .current_leader_epoch = -1,
                                            .fetch_offset = fetch->offset,
                                            .last_fetched_epoch = call->version >= 12 ? fetch->last_epoch_and - 1 : -1,
                                            .log_start_offset = -1,
                                            .partition_max_bytes = fetch->max_bytes};
    struct fetch_request_topic topic = {.partitions = &asked, .partitions_count = 1};
    if (call->version >= 13) {
        topic.topic_id = fetch->id;
    } else {
        topic.topic = str_of(fetch->topic);
    }
    request->max_wait_ms = fetch->max_wait_ms;
    request->min_bytes = 1;
    request->max_bytes = fetch->max_bytes;
    request->topics = &topic;
    request->topics_count = 1;
    *row = NULL;
    if (!caller_ask(caller, call)) return KAFKA_ERROR_NETWORK_EXCEPTION;
    const struct fetch_response *response = call->response;
    if (response->error_code != 0) return response->error_code;
    SIM_CHECK(response->responses_count == 1 && response->responses[0].partitions_count == 1 &&
                  response->responses[0].partitions[0].partition_index == fetch->partition,
              "Fetch: wrong rows");
    *row = &response->responses[0].partitions[0];
    return (*row)->error_code;
}

void caller_each_record(struct bytes left,
                        void (*each)(void *context, const struct batch *batch, int64_t offset, struct bytes value),
                        void *context) {
    struct batch batch;
    while (left.size > 0) {
        enum batch_status status = batch_next(&left, &batch);
        if (status == BATCH_INCOMPLETE || status == BATCH_END) return; // cut by the limit
        SIM_CHECK(status == BATCH_OK && batch_crc_is_valid(&batch), "Fetch gave damaged batches");
        struct record_reader records;
        struct record record;
        enum record_status next;
        record_open(&records, &batch, 1 << 24, RECORD_CONTENT);
        while ((next = record_next(&records, &record)) == RECORD_OK)
            each(context, &batch, batch.base_offset + record.offset_delta, record.value);
        SIM_CHECK(next == RECORD_END, "damaged records at offset %lld", (long long)batch.base_offset);
        record_close(&records);
    }
}
