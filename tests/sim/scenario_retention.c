// SPDX-License-Identifier: Apache-2.0
// Log starts that move: DeleteRecords, retention by size and by time with a wall clock that jumps by hours; and what
// the broker says of leader epochs; through kills, power cuts, bad networks, and disks that fail and fill up.
//
// Checked: the log start never goes back behind an acknowledged DeleteRecords, nor at all in the life of one process;
// nothing is deleted that no rule allows; reads below the log start are OFFSET_OUT_OF_RANGE, reads at or above it give
// what was acknowledged; a record keeps its leader epoch, and OffsetForLeaderEpoch agrees with the records; at the end
// retention has done all that it should.
#include "caller.h"
#include "protocol/messages/delete_records.h"
#include "protocol/messages/offset_for_leader_epoch.h"
#include "scenario.h"
#include "sim_broker.h"
#include <stdio.h>
#include <stdlib.h>

enum { PARTITIONS_MAX = 2, OFFSETS_MAX = 60000, COUNT_MAX = 6, VALUE_MAX = 700, RETRY_MS = 20, HOUR_MS = 3600 * 1000 };
static const char topic[] = "orders";
static const int64_t RETENTION_MS = 2 * HOUR_MS;

struct part {
    struct history_partition history;
    int32_t epoch[OFFSETS_MAX]; // + 1; 0: not known
    int64_t promised_start;     // DeleteRecords up to here was acknowledged
    int64_t asked_start;        // or asked for
    int64_t seen_start;
    uint32_t seen_in; // the broker's process
};
struct retention {
    int32_t partition_count;
    int64_t retention_bytes, segment_bytes; // -1: no such rule
    bool by_time;
    int64_t skew_ms, skew_max_ms; // of the broker's clock
    struct part parts[PARTITIONS_MAX];
    struct history_producer producer;
    uint64_t next_record;
    int32_t epoch_max;
    const char *configs[4][2];
    char texts[4][24];
    struct caller_topic found;
    bool ready, stop;
    struct caller *callers[4];
};

static struct part *random_part(struct retention *r, int32_t *partition) {
    *partition = (int32_t)sim_range(SIM_WORKLOAD, 0, (uint64_t)r->partition_count - 1);
    return &r->parts[*partition];
}
static void await_ready(struct caller *caller, const struct retention *r) {
    while (!r->ready)
        caller_sleep(caller, RETRY_MS);
}

// What was known when a question was sent: the answer must not be behind it.
struct known {
    int64_t promised, seen; // -1: nothing was seen in this process
    uint32_t in;            // the broker's process
};
static struct known known_of(const struct part *p) {
    const uint32_t in = sim_starts("broker");
    return (struct known){p->promised_start, p->seen_in == in ? p->seen_start : -1, in};
}
// What somebody was told of the log start.
static void saw_start(struct part *p, int64_t start, const struct known *before) {
    SIM_CHECK(start >= before->promised, "%s-%d: the log start is %lld, DeleteRecords up to %lld was acknowledged",
              topic, p->history.index, (long long)start, (long long)before->promised);
    if (before->in != sim_starts("broker")) return;
    SIM_CHECK(start >= before->seen, "%s-%d: the log start went back from %lld to %lld", topic, p->history.index,
              (long long)before->seen, (long long)start);
    if (p->seen_in != before->in || start > p->seen_start) p->seen_start = start;
    p->seen_in = before->in;
}

// ---- the writer
static void writer_script(struct caller *caller, void *argument) {
    struct retention *r = argument;
    caller_await_topic(caller, topic, r->configs, ARRAY_LENGTH(r->configs), r->partition_count, &r->found);
    r->ready = true;
    while (!r->stop) {
        int32_t partition;
        struct part *p = random_part(r, &partition);
        if (p->history.known_end + 4 * COUNT_MAX >= OFFSETS_MAX) break;
        const struct caller_batch batch = {.number = r->next_record,
                                           .count = (int32_t)sim_range(SIM_WORKLOAD, 1, COUNT_MAX),
                                           .value_bytes = sim_range(SIM_WORKLOAD, HISTORY_VALUE_MIN_BYTES, VALUE_MAX),
                                           .timestamp_ms = os_wall_ms(caller->core->os)};
        r->next_record += (uint64_t)batch.count;
        int64_t base = -1;
        int16_t error = caller_produce(caller, topic, partition, &batch, &base);
        if (error != 0) caller_check_retriable(error, "Produce");
        for (int32_t i = 0; error == 0 && i < batch.count; i++)
            history_acknowledge(&p->history, base + i, 0, batch.number + (uint64_t)i);
        if (error != 0 || sim_chance(SIM_WORKLOAD, 400000)) caller_sleep(caller, sim_range(SIM_WORKLOAD, 1, 30));
    }
}

// ---- DeleteRecords
static int16_t ask_delete(struct caller *caller, int32_t partition, int64_t offset, int64_t *low_watermark) {
    struct client_call call;
    struct delete_records_request *request = caller_begin(caller, &call, API_KEY_DELETE_RECORDS, 0, 2);
    struct delete_records_request_partition row = {partition, offset};
    struct delete_records_request_topic rows = {str_of(topic), &row, 1};
    request->topics = &rows;
    request->topics_count = 1;
    request->timeout_ms = 3000;
    int16_t error = KAFKA_ERROR_NETWORK_EXCEPTION;
    if (caller_ask(caller, &call)) {
        const struct delete_records_response *response = call.response;
        SIM_CHECK(response->topics_count == 1 && response->topics[0].partitions_count == 1,
                  "DeleteRecords: wrong rows");
        error = response->topics[0].partitions[0].error_code;
        *low_watermark = response->topics[0].partitions[0].low_watermark;
    }
    caller_end(&call);
    return error;
}

static void deleter_script(struct caller *caller, void *argument) {
    struct retention *r = argument;
    await_ready(caller, r);
    while (!r->stop) {
        int32_t partition;
        struct part *p = random_part(r, &partition);
        const int64_t end = p->history.high_watermark;
        const bool beyond = sim_chance(SIM_WORKLOAD, 50000);
        int64_t offset = beyond ? OFFSETS_MAX + 1 : (int64_t)sim_range(SIM_WORKLOAD, 0, (uint64_t)end);
        // Mostly not far: something is to be left.
        if (!beyond && offset > p->promised_start + 60) offset = p->promised_start + 60;
        if (!beyond) p->asked_start = max_i64(p->asked_start, offset);
        const struct known before = known_of(p);
        int64_t low = -1;
        int16_t error = ask_delete(caller, partition, offset, &low);
        if (error == 0) {
            SIM_CHECK(!beyond && low >= offset, "DeleteRecords up to %lld answered %lld", (long long)offset,
                      (long long)low);
            p->promised_start = max_i64(p->promised_start, offset);
            saw_start(p, low, &before);
        } else if (error != KAFKA_ERROR_OFFSET_OUT_OF_RANGE || !beyond) {
            caller_check_retriable(error, "DeleteRecords");
        }
        caller_sleep(caller, sim_range(SIM_WORKLOAD, 1, 200));
    }
}

// ---- reading
struct reading {
    struct retention *r;
    struct part *p;
    int64_t next, start; // of the log
    int64_t bytes, in_batch;
};

static void read_record(void *context, const struct batch *batch, int64_t offset, struct bytes value) {
    struct reading *reading = context;
    struct part *p = reading->p;
    if (offset < reading->start) return; // of a batch that the log start divides
    history_read(&p->history, &reading->r->producer, 1, offset, value);
    SIM_CHECK(offset < OFFSETS_MAX, "too many records");
    int32_t *epoch = &p->epoch[offset];
    SIM_CHECK(*epoch == 0 || *epoch == batch->partition_leader_epoch + 1,
              "%s-%d offset %lld: leader epoch %d, it was %d before", topic, p->history.index, (long long)offset,
              batch->partition_leader_epoch, *epoch - 1);
    *epoch = batch->partition_leader_epoch + 1;
    if (batch->partition_leader_epoch > reading->r->epoch_max) reading->r->epoch_max = batch->partition_leader_epoch;
    if (batch->base_offset != reading->in_batch) reading->bytes += (int64_t)batch->bytes.size;
    reading->in_batch = batch->base_offset;
    if (offset < reading->next) return;
    SIM_CHECK(offset == reading->next, "%s-%d: offset %lld after %lld", topic, p->history.index, (long long)offset,
              (long long)reading->next - 1);
    reading->next = offset + 1;
}

// One fetch. The offset after the last that was read; -1: not answered.
static int16_t read_at(struct caller *caller, struct retention *r, int32_t partition, int64_t offset,
                       struct reading *reading) {
    struct part *p = &r->parts[partition];
    const int64_t promised = p->promised_start;
    struct client_call call;
    const struct fetch_response_partition *row;
    const struct caller_fetch fetch = {.topic = topic,
                                       .id = r->found.id,
                                       .partition = partition,
                                       .offset = offset,
                                       .max_bytes = (int32_t)sim_range(SIM_WORKLOAD, 1, 20000),
                                       .last_epoch_and =
                                           offset > 0 && offset <= p->history.known_end ? p->epoch[offset - 1] : 0};
    int16_t error = caller_fetch(caller, &call, &fetch, &row);
    *reading = (struct reading){r, p, offset, promised, 0, -1};
    if (error == 0) {
        SIM_CHECK(offset >= promised, "%s-%d: offset %lld is served, DeleteRecords up to %lld was acknowledged", topic,
                  partition, (long long)offset, (long long)promised);
        SIM_CHECK(call.version < 5 || row->log_start_offset >= promised, "%s-%d: the log start is %lld, not %lld",
                  topic, partition, (long long)row->log_start_offset, (long long)promised);
        SIM_CHECK(row->diverging_epoch.epoch < 0,
                  "%s-%d offset %lld: epoch %d of the record before is refused: %d, %lld", topic, partition,
                  (long long)offset, fetch.last_epoch_and - 1, row->diverging_epoch.epoch,
                  (long long)row->diverging_epoch.end_offset);
        SIM_CHECK(row->records.size > 0 || offset >= row->high_watermark,
                  "%s-%d: nothing at offset %lld, the high watermark is %lld", topic, partition, (long long)offset,
                  (long long)row->high_watermark);
        history_high_watermark(&p->history, max_i64(p->history.high_watermark, row->high_watermark));
        if (call.version >= 5) reading->start = row->log_start_offset;
        caller_each_record(row->records, read_record, reading);
    }
    caller_end(&call);
    return error;
}

static void reader_script(struct caller *caller, void *argument) {
    struct retention *r = argument;
    await_ready(caller, r);
    while (!r->stop) {
        int32_t partition;
        struct part *p = random_part(r, &partition);
        const struct known before = known_of(p);
        const int64_t acknowledged = p->history.acknowledged_end;
        const int64_t from = max_i64(0, p->seen_start - 30), to = acknowledged + 10;
        const int64_t offset = (int64_t)sim_range(SIM_WORKLOAD, (uint64_t)min_i64(from, to), (uint64_t)to);
        struct reading reading;
        int64_t start = -1;
        int16_t error = read_at(caller, r, partition, offset, &reading);
        if (error != 0 && error != KAFKA_ERROR_OFFSET_OUT_OF_RANGE) caller_check_retriable(error, "Fetch");
        int16_t asked = caller_list_offset(caller, topic, partition, -2, &start);
        if (asked != 0) caller_check_retriable(asked, "ListOffsets");
        if (asked == 0) saw_start(p, start, &before);
        if (asked == 0 && error == KAFKA_ERROR_OFFSET_OUT_OF_RANGE && before.in == sim_starts("broker"))
            SIM_CHECK(offset < start || offset > acknowledged, "%s-%d: offset %lld is refused, the log is %lld to %lld",
                      topic, partition, (long long)offset, (long long)start, (long long)acknowledged);
        caller_sleep(caller, asked != 0 ? RETRY_MS : sim_range(SIM_WORKLOAD, 1, 80));
    }
}

// ---- leader epochs
static int16_t ask_epoch(struct caller *caller, int32_t partition, int32_t epoch, int32_t *found, int64_t *end) {
    struct client_call call;
    struct offset_for_leader_epoch_request *request =
        caller_begin(caller, &call, API_KEY_OFFSET_FOR_LEADER_EPOCH, 1, 4);
    struct offset_for_leader_epoch_request_partition row = {partition, -1, epoch};
    struct offset_for_leader_epoch_request_topic rows = {str_of(topic), &row, 1};
    request->topics = &rows;
    request->topics_count = 1;
    int16_t error = KAFKA_ERROR_NETWORK_EXCEPTION;
    if (caller_ask(caller, &call)) {
        const struct offset_for_leader_epoch_response *response = call.response;
        SIM_CHECK(response->topics_count == 1 && response->topics[0].partitions_count == 1,
                  "OffsetForLeaderEpoch: wrong rows");
        error = response->topics[0].partitions[0].error_code;
        *found = response->topics[0].partitions[0].leader_epoch;
        *end = response->topics[0].partitions[0].end_offset;
    }
    caller_end(&call);
    return error;
}

// Records whose epoch is known, and that are still there (from `start`), against an answer.
static void check_epoch(const struct part *p, int32_t epoch, int32_t found, int64_t end, int64_t start,
                        int64_t known_end) {
    SIM_CHECK(found <= epoch && (found >= 0) == (end >= 0), "epoch %d: found %d, its end %lld", epoch, found,
              (long long)end);
    for (int64_t offset = start; offset < known_end; offset++) {
        if (p->epoch[offset] == 0) continue;
        const int32_t of_record = p->epoch[offset] - 1;
        SIM_CHECK(found >= 0 || of_record < epoch, "%s-%d: epoch %d is not known, offset %lld is of epoch %d", topic,
                  p->history.index, epoch, (long long)offset, of_record);
        SIM_CHECK(found < 0 || (of_record <= epoch) == (offset < end),
                  "%s-%d: epoch %d (%d) ends at %lld, offset %lld is of epoch %d", topic, p->history.index, epoch,
                  found, (long long)end, (long long)offset, of_record);
    }
}

static void epoch_script(struct caller *caller, void *argument) {
    struct retention *r = argument;
    await_ready(caller, r);
    while (!r->stop) {
        int32_t partition, found = -1;
        struct part *p = random_part(r, &partition);
        const uint32_t in = sim_starts("broker");
        const int64_t known_end = min_i64(p->history.known_end, OFFSETS_MAX);
        const int32_t epoch = (int32_t)sim_range(SIM_WORKLOAD, 0, (uint64_t)r->epoch_max + 2);
        int64_t end = -1, start = -1;
        int16_t error = ask_epoch(caller, partition, epoch, &found, &end);
        if (error == 0) error = caller_list_offset(caller, topic, partition, -2, &start);
        if (error != 0) caller_check_retriable(error, "OffsetForLeaderEpoch");
        if (error == 0 && in == sim_starts("broker")) check_epoch(p, epoch, found, end, start, known_end);
        caller_sleep(caller, sim_range(SIM_WORKLOAD, 5, 200));
    }
}

// ---- at the end
static void verify_partition(struct caller *caller, struct retention *r, int32_t partition) {
    struct part *p = &r->parts[partition];
    int64_t start = -1, end = -1;
    int16_t error;
    while ((error = caller_list_offset(caller, topic, partition, -2, &start)) != 0 ||
           (error = caller_list_offset(caller, topic, partition, -1, &end)) != 0) {
        caller_check_retriable(error, "ListOffsets");
        caller_sleep(caller, RETRY_MS);
    }
    SIM_CHECK(start >= p->promised_start, "%s-%d: the log start is %lld, DeleteRecords up to %lld was acknowledged",
              topic, partition, (long long)start, (long long)p->promised_start);
    SIM_CHECK(end >= p->history.acknowledged_end, "%s-%d ends at %lld, acknowledged up to %lld", topic, partition,
              (long long)end, (long long)p->history.acknowledged_end);
    for (int64_t offset = start; offset < end; offset++)
        if (offset < p->history.known_end) p->history.facts[offset].read = false;
    int64_t next = start, bytes = 0;
    while (next < end) {
        struct reading reading;
        error = read_at(caller, r, partition, next, &reading);
        // Retention goes on meanwhile: what is refused must be below the log start now.
        if (error == KAFKA_ERROR_OFFSET_OUT_OF_RANGE) {
            int64_t now = -1;
            if (caller_list_offset(caller, topic, partition, -2, &now) != 0) continue;
            SIM_CHECK(now > next, "%s-%d: offset %lld is refused, the log starts at %lld", topic, partition,
                      (long long)next, (long long)now);
            next = start = now;
            bytes = 0;
            continue;
        }
        if (error != 0) caller_check_retriable(error, "Fetch");
        if (error != 0) caller_sleep(caller, RETRY_MS);
        next = reading.next;
        bytes += reading.bytes;
    }
    p->seen_start = start;
    for (int64_t offset = start; offset < end; offset++)
        SIM_CHECK(p->history.facts[offset].read, "%s-%d: offset %lld is not there", topic, partition,
                  (long long)offset);
    // What has not been flushed when it is counted may be lost later: a few batches.
    if (start > p->asked_start && r->retention_bytes >= 0 && !r->by_time)
        SIM_CHECK(bytes + 3 * COUNT_MAX * VALUE_MAX >= r->retention_bytes,
                  "%s-%d: %lld bytes are left from offset %lld, retention.bytes is %lld", topic, partition,
                  (long long)bytes, (long long)start, (long long)r->retention_bytes);
    const bool by_rule = r->retention_bytes >= 0 || (r->by_time && r->skew_max_ms + HOUR_MS > RETENTION_MS);
    SIM_CHECK(start <= p->asked_start || by_rule, "%s-%d: the log starts at %lld, and nobody asked for more than %lld",
              topic, partition, (long long)start, (long long)p->asked_start);
}

static void verify_script(struct caller *caller, void *argument) {
    struct retention *r = argument;
    for (int32_t i = 0; i < r->partition_count; i++)
        verify_partition(caller, r, i);
}

// ---- the scenario
static void config(struct retention *r, int i, const char *key, int64_t value) {
    snprintf(r->texts[i], sizeof r->texts[i], "%lld", (long long)value);
    r->configs[i][0] = key;
    r->configs[i][1] = r->texts[i];
}

static void plan(struct retention *r) {
    r->partition_count = (int32_t)sim_range(SIM_WORKLOAD, 1, PARTITIONS_MAX);
    r->segment_bytes = (int64_t)sim_range(SIM_WORKLOAD, 5000, 20000);
    r->retention_bytes = sim_chance(SIM_WORKLOAD, 400000) ? (int64_t)sim_range(SIM_WORKLOAD, 1000, 60000) : -1;
    r->by_time = sim_chance(SIM_WORKLOAD, 500000);
    config(r, 0, "segment.bytes", r->segment_bytes);
    config(r, 1, "retention.bytes", r->retention_bytes);
    config(r, 2, "retention.ms", r->by_time ? RETENTION_MS : -1);
    config(r, 3, "file.delete.delay.ms", (int64_t)sim_range(SIM_WORKLOAD, 0, 2000));
    for (int i = 0; i < r->partition_count; i++) {
        r->parts[i].history.topic = topic;
        r->parts[i].history.index = i;
    }
}

static void jump_clock(struct sim_broker *broker, struct retention *r) {
    const int64_t to_ms = (int64_t)sim_range(SIM_FAULTS, 0, 10 * HOUR_MS) - 5 * HOUR_MS;
    sim_jump_wall_clock(broker->host, to_ms - r->skew_ms);
    r->skew_ms = to_ms;
    r->skew_max_ms = max_i64(r->skew_max_ms, to_ms);
}

static bool callers_are_done(void *context) {
    struct retention *r = context;
    for (size_t i = 0; i < ARRAY_LENGTH(r->callers); i++)
        if (!r->callers[i]->done) return false;
    return true;
}
static void verify(struct retention *r, const char *host) {
    struct caller *caller = caller_start(host, "broker", SIM_BROKER_PORT, verify_script, r);
    SIM_CHECK(sim_run(60 * SIM_SECOND, caller_is_done, caller), "the log cannot be read");
}

// Everything is too old: it must all go.
static void check_all_expires(struct sim_broker *broker, struct retention *r) {
    sim_jump_wall_clock(broker->host, 30 * (int64_t)HOUR_MS);
    r->skew_max_ms += 30 * (int64_t)HOUR_MS;
    sim_run(5 * SIM_SECOND, NULL, NULL);
    verify(r, "verify-expired");
    for (int32_t i = 0; i < r->partition_count; i++)
        SIM_CHECK(r->parts[i].seen_start >= r->parts[i].history.acknowledged_end,
                  "%s-%d: the log starts at %lld, all up to %lld is too old", topic, i,
                  (long long)r->parts[i].seen_start, (long long)r->parts[i].history.acknowledged_end);
}

static void run_retention(bool disk_faults, int troubles) {
    struct sim_broker *broker = sim_broker_create(2);
    struct retention *r = sim_new(sizeof *r);
    sim_broker_property(broker, "log.retention.check.interval.ms=%d", (int)sim_range(SIM_WORKLOAD, 50, 1000));
    plan(r);
    sim_broker_come_up(broker);
    r->callers[0] = caller_start("writer", "broker", SIM_BROKER_PORT, writer_script, r);
    r->callers[1] = caller_start("deleter", "broker", SIM_BROKER_PORT, deleter_script, r);
    r->callers[2] = caller_start("reader", "broker", SIM_BROKER_PORT, reader_script, r);
    r->callers[3] = caller_start("epochs", "broker", SIM_BROKER_PORT, epoch_script, r);
    for (int i = 0; i < troubles; i++) {
        if (sim_chance(SIM_FAULTS, 500000)) jump_clock(broker, r);
        sim_run(sim_range(SIM_FAULTS, 1, 600) * SIM_MS, NULL, NULL);
        if (disk_faults) {
            sim_broker_disk_trouble(broker);
            sim_broker_revive(broker);
        } else {
            sim_broker_trouble(broker, r->callers[sim_range(SIM_FAULTS, 0, 3)]->host);
        }
    }
    sim_broker_check_runs(broker);
    r->stop = true;
    SIM_CHECK(sim_run(60 * SIM_SECOND, callers_are_done, r), "the clients do not end");
    verify(r, "verify");
    sim_crash(broker->host, SIM_POWER);
    sim_broker_come_up(broker);
    verify(r, "verify-again");
    if (r->by_time) check_all_expires(broker, r);
    sim_broker_finish(broker);
}

void scenario_retention(void) {
    run_retention(false, 8);
}
void scenario_retention_disk(void) {
    run_retention(true, 5);
}
