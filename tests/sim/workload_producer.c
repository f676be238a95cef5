// SPDX-License-Identifier: Apache-2.0
// A producer of workload.h: batches in flight, and all of them again, in order, when something went wrong.
#include "protocol/batch_writer.h"
#include "protocol/messages/init_producer_id.h"
#include "protocol/messages/produce.h"
#include "workload_parts.h"
#include <stdio.h>
#include <stdlib.h>

enum { IN_FLIGHT_MAX = 5, BATCH_RECORDS_MAX = 12, BATCH_MEMORY = 64 << 10 };

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
        return workload_pause_is_over(flow, &producer->timer) ? FLOW_GOTO(producer, wait_topic) : FLOW_WAIT;
    flow_timer_cancel(&producer->timer);
    return producer->workload->producers[producer->number].is_idempotent ? FLOW_NEXT : FLOW_GOTO(producer, produce);
}
static flow_next producer_step_init(struct flow *flow) {
    struct producer *producer = container_of(flow, struct producer, flow);
    client_call_init(&producer->call, api_by_key(API_KEY_INIT_PRODUCER_ID),
                     workload_version(API_KEY_INIT_PRODUCER_ID, 0, 4), flow);
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
        if (response->error_code != 0) workload_check_retriable(response->error_code, "InitProducerId");
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
        if (error != 0 && !behind) workload_check_retriable(error, "Produce");
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
    if (!workload_pause_is_over(flow, &producer->timer)) return FLOW_WAIT;
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

void workload_producer_start(struct core *core, struct workload *w, uint32_t number) {
    struct producer *producer = calloc(1, sizeof *producer);
    ASSERT(producer != NULL);
    char name[24];
    snprintf(name, sizeof name, "producer-%u", number);
    producer->workload = w;
    producer->number = number;
    producer->client = client_create(core, w->broker, w->port, name);
    producer->partition = (int)sim_range(SIM_WORKLOAD, 0, (uint64_t)w->partition_count - 1);
    producer->version = workload_version(API_KEY_PRODUCE, 3, 11);
    bool idempotent = w->producers[number].is_idempotent;
    // Without idempotence a resent batch could overtake its successor: one at a time keeps the order.
    producer->window = idempotent ? (int)sim_range(SIM_WORKLOAD, 1, IN_FLIGHT_MAX) : 1;
    for (int i = 0; i < IN_FLIGHT_MAX; i++) {
        producer->batches[i] = calloc(1, sizeof *producer->batches[i]);
        ASSERT(producer->batches[i] != NULL);
    }
    flow_start(&producer->flow, &producer_flow, core);
}
