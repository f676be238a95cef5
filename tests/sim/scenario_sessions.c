// SPDX-License-Identifier: Apache-2.0
// Fetch sessions (KIP-227): several readers that add, move and forget partitions of two topics, more readers than the
// broker has room for sessions, through kills, power cuts and bad networks.
//
// Checked: a full answer has every partition, an incremental one none that was forgotten or not asked for; sessions end
// as the protocol says; every record that was acknowledged comes to every reader, and so does every change of the high
// watermark; a session that is idle for two minutes makes room for another.
#include "caller.h"
#include "scenario.h"
#include "sim_broker.h"
#include <stdio.h>
#include <stdlib.h>

enum { TOPICS = 2, PARTITIONS = 3, PLACES = TOPICS * PARTITIONS, READERS = 3, RETRY_MS = 20, COUNT_MAX = 4 };
enum { IDLE_MS = 125 * 1000 };
static const char *const topics[TOPICS] = {"orders", "a.b"};

struct sessions {
    struct caller_topic found[TOPICS];
    struct history_partition places[PLACES]; // topic * PARTITIONS + partition
    struct history_producer producer;
    uint64_t next_record;
    bool ready, writer_stop, finish;
    int slots, full_fetches, incremental_fetches;
    struct caller *writer, *readers[READERS + 1];
};
struct place { // as one reader sees it
    int64_t position, sent_position, high_watermark;
    bool wanted, in_session, answered;
};
struct reader {
    struct sessions *s;
    struct place places[PLACES];
    int16_t version;
    int32_t id, epoch; // id 0: no session
    int32_t to_close;  // id of one that may still be there
};

// ---- the writer
static void writer_script(struct caller *caller, void *argument) {
    struct sessions *s = argument;
    for (int t = 0; t < TOPICS; t++)
        caller_await_topic(caller, topics[t], NULL, 0, PARTITIONS, &s->found[t]);
    s->ready = true;
    while (!s->writer_stop) {
        const int at = (int)sim_range(SIM_WORKLOAD, 0, PLACES - 1);
        const struct caller_batch batch = {.number = s->next_record,
                                           .count = (int32_t)sim_range(SIM_WORKLOAD, 1, COUNT_MAX),
                                           .value_bytes = sim_range(SIM_WORKLOAD, HISTORY_VALUE_MIN_BYTES, 300),
                                           .timestamp_ms = os_wall_ms(caller->core->os)};
        s->next_record += (uint64_t)batch.count;
        int64_t base = -1;
        int16_t error = caller_produce(caller, topics[at / PARTITIONS], at % PARTITIONS, &batch, &base);
        if (error != 0) caller_check_retriable(error, "Produce");
        for (int32_t i = 0; error == 0 && i < batch.count; i++)
            history_acknowledge(&s->places[at], base + i, 0, batch.number + (uint64_t)i);
        caller_sleep(caller, error != 0 ? RETRY_MS : sim_range(SIM_WORKLOAD, 1, 60));
    }
}

// ---- one fetch
struct fetch_rows {
    struct fetch_request_partition partitions[TOPICS][PARTITIONS];
    struct fetch_request_topic topics[TOPICS];
    int32_t forgotten[TOPICS][PARTITIONS];
    struct fetch_request_forgotten_topic forgotten_topics[TOPICS];
};

static void name_topic(const struct reader *reader, int t, struct str *name, struct uuid *id) {
    if (reader->version >= 13) {
        *id = reader->s->found[t].id;
    } else {
        *name = str_of(topics[t]);
    }
}

static void add_place(struct reader *reader, int at, struct fetch_request_topic *topic) {
    struct place *place = &reader->places[at];
    topic->partitions[topic->partitions_count++] =
        (struct fetch_request_partition){.partition = at % PARTITIONS,
                                         .current_leader_epoch = -1,
                                         .fetch_offset = place->position,
                                         .last_fetched_epoch = -1,
                                         .log_start_offset = -1,
                                         .partition_max_bytes = (int32_t)sim_range(SIM_WORKLOAD, 1, 4000)};
    place->sent_position = place->position;
    place->in_session = true;
}

static void fill_request(struct reader *reader, struct fetch_request *request, struct fetch_rows *rows) {
    const bool incremental = reader->id != 0;
    request->topics = rows->topics;
    request->forgotten_topics_data = rows->forgotten_topics;
    for (int t = 0; t < TOPICS; t++) {
        struct fetch_request_topic *topic = &rows->topics[request->topics_count];
        struct fetch_request_forgotten_topic *forgotten = &rows->forgotten_topics[request->forgotten_topics_data_count];
        *topic = (struct fetch_request_topic){.partitions = rows->partitions[t]};
        *forgotten = (struct fetch_request_forgotten_topic){.partitions = rows->forgotten[t]};
        name_topic(reader, t, &topic->topic, &topic->topic_id);
        name_topic(reader, t, &forgotten->topic, &forgotten->topic_id);
        for (int p = 0; p < PARTITIONS; p++) {
            struct place *place = &reader->places[t * PARTITIONS + p];
            if (!incremental) place->in_session = false;
            if (place->in_session && !place->wanted) {
                rows->forgotten[t][forgotten->partitions_count++] = p;
                place->in_session = false;
            } else if (place->wanted && (!place->in_session || place->position != place->sent_position)) {
                add_place(reader, t * PARTITIONS + p, topic);
            }
        }
        if (topic->partitions_count > 0) request->topics_count++;
        if (forgotten->partitions_count > 0) request->forgotten_topics_data_count++;
    }
    request->session_id = incremental ? reader->id : reader->to_close;
    request->session_epoch = incremental ? reader->epoch : 0;
    reader->to_close = 0;
}

struct reading {
    struct reader *reader;
    int at;
};
static void read_record(void *context, const struct batch *batch, int64_t offset, struct bytes value) {
    const struct reading *reading = context;
    struct place *place = &reading->reader->places[reading->at];
    (void)batch;
    history_read(&reading->reader->s->places[reading->at], &reading->reader->s->producer, 1, offset, value);
    if (offset < place->position) return;
    SIM_CHECK(offset == place->position, "%s-%d: offset %lld after %lld", topics[reading->at / PARTITIONS],
              reading->at % PARTITIONS, (long long)offset, (long long)place->position - 1);
    place->position = offset + 1;
}

static int topic_of(const struct reader *reader, const struct fetch_response_topic *topic) {
    for (int t = 0; t < TOPICS; t++)
        if (reader->version >= 13 ? uuid_equal(topic->topic_id, reader->s->found[t].id)
                                  : str_is(topic->topic, topics[t]))
            return t;
    sim_fail("Fetch answered a topic that is not ours");
}

static void take_row(struct reader *reader, int at, const struct fetch_response_partition *row) {
    struct place *place = &reader->places[at];
    SIM_CHECK(place->in_session && !place->answered, "Fetch answered %s-%d, %s", topics[at / PARTITIONS],
              at % PARTITIONS, place->answered ? "twice" : "which is not in the session");
    place->answered = true;
    if (row->error_code != 0) {
        caller_check_retriable(row->error_code, "Fetch");
        return;
    }
    SIM_CHECK(row->high_watermark >= place->high_watermark, "%s-%d: the high watermark went back from %lld to %lld",
              topics[at / PARTITIONS], at % PARTITIONS, (long long)place->high_watermark,
              (long long)row->high_watermark);
    place->high_watermark = row->high_watermark;
    struct reading reading = {reader, at};
    caller_each_record(row->records, read_record, &reading);
}

static int places_in_session(const struct reader *reader) {
    int count = 0;
    for (int i = 0; i < PLACES; i++)
        count += reader->places[i].in_session;
    return count;
}

static void take_rows(struct reader *reader, const struct fetch_response *response) {
    const bool incremental = reader->id != 0;
    for (int i = 0; i < PLACES; i++)
        reader->places[i].answered = false;
    for (int32_t t = 0; t < response->responses_count; t++) {
        const int topic = topic_of(reader, &response->responses[t]);
        for (int32_t i = 0; i < response->responses[t].partitions_count; i++) {
            const struct fetch_response_partition *row = &response->responses[t].partitions[i];
            SIM_CHECK(row->partition_index >= 0 && row->partition_index < PARTITIONS, "Fetch: a wrong partition");
            take_row(reader, topic * PARTITIONS + row->partition_index, row);
        }
    }
    for (int i = 0; i < PLACES && !incremental; i++)
        SIM_CHECK(!reader->places[i].in_session || reader->places[i].answered, "a full Fetch leaves %s-%d out",
                  topics[i / PARTITIONS], i % PARTITIONS);
    if (incremental) {
        const bool ends = places_in_session(reader) == 0;
        SIM_CHECK(response->session_id == (ends ? 0 : reader->id), "session %d answers as %d", reader->id,
                  response->session_id);
        reader->id = response->session_id;
        reader->epoch++;
        reader->s->incremental_fetches++;
    } else {
        reader->id = response->session_id;
        reader->epoch = 1;
        reader->s->full_fetches++;
    }
}

static void fetch_once(struct caller *caller, struct reader *reader) {
    struct client_call call;
    struct fetch_rows rows;
    struct fetch_request *request = caller_begin(caller, &call, API_KEY_FETCH, reader->version, reader->version);
    request->max_wait_ms = (int32_t)sim_range(SIM_WORKLOAD, 0, 100);
    request->min_bytes = (int32_t)sim_range(SIM_WORKLOAD, 0, 500);
    request->max_bytes = (int32_t)sim_range(SIM_WORKLOAD, 1, 10000);
    fill_request(reader, request, &rows);
    int16_t error = KAFKA_ERROR_NETWORK_EXCEPTION;
    if (caller_ask(caller, &call)) error = ((const struct fetch_response *)call.response)->error_code;
    if (error == 0) {
        take_rows(reader, call.response);
    } else {
        SIM_CHECK(error == KAFKA_ERROR_NETWORK_EXCEPTION ||
                      (reader->id != 0 && (error == KAFKA_ERROR_FETCH_SESSION_ID_NOT_FOUND ||
                                           error == KAFKA_ERROR_INVALID_FETCH_SESSION_EPOCH)),
                  "Fetch answered %s", kafka_error_name(error));
        if (sim_chance(SIM_WORKLOAD, 500000)) reader->to_close = reader->id;
        reader->id = 0;
    }
    caller_end(&call);
    if (error != 0) caller_sleep(caller, RETRY_MS);
}

// ---- a reader
static void choose_places(struct reader *reader, bool all) {
    bool any = false;
    for (int i = 0; i < PLACES; i++) {
        struct place *place = &reader->places[i];
        if (all) place->wanted = true;
        if (!all && sim_chance(SIM_WORKLOAD, 80000)) place->wanted = !place->wanted;
        if (!all && sim_chance(SIM_WORKLOAD, 10000)) place->position = 0; // reads again
        any = any || place->wanted;
    }
    // A session may end with its last partition; a request that asks for nothing makes no sense otherwise.
    if (!any && reader->id == 0) reader->places[sim_range(SIM_WORKLOAD, 0, PLACES - 1)].wanted = true;
}

static bool has_everything(const struct reader *reader) {
    for (int i = 0; i < PLACES; i++) {
        const int64_t end = reader->s->places[i].acknowledged_end;
        if (reader->places[i].position < end || reader->places[i].high_watermark < end) return false;
    }
    return true;
}

static void reader_script(struct caller *caller, void *argument) {
    struct sessions *s = argument;
    struct reader *reader = calloc(1, sizeof *reader);
    SIM_CHECK(reader, "no memory");
    *reader = (struct reader){.s = s, .version = (int16_t)sim_range(SIM_WORKLOAD, 7, 17)};
    while (!s->ready)
        caller_sleep(caller, RETRY_MS);
    while (!s->finish) {
        choose_places(reader, false);
        fetch_once(caller, reader);
        if (sim_chance(SIM_WORKLOAD, 100000)) caller_sleep(caller, sim_range(SIM_WORKLOAD, 1, 500));
    }
    while (!has_everything(reader)) {
        choose_places(reader, true);
        fetch_once(caller, reader);
    }
    free(reader);
}

// After all others were silent for longer than a session is kept: there is room.
static void late_script(struct caller *caller, void *argument) {
    struct sessions *s = argument;
    struct reader *reader = calloc(1, sizeof *reader);
    SIM_CHECK(reader, "no memory");
    *reader = (struct reader){.s = s, .version = (int16_t)sim_range(SIM_WORKLOAD, 7, 17)};
    caller_sleep(caller, IDLE_MS);
    while (!has_everything(reader)) {
        choose_places(reader, true);
        fetch_once(caller, reader);
    }
    SIM_CHECK(s->slots == 0 || reader->id != 0, "a session that nobody uses takes the room of another");
    fetch_once(caller, reader);
    SIM_CHECK(s->slots == 0 || s->incremental_fetches > 0, "no fetch was incremental");
    free(reader);
}

// ---- the scenario
static bool readers_are_done(void *context) {
    const struct sessions *s = context;
    for (int i = 0; i < READERS; i++)
        if (!s->readers[i]->done) return false;
    return s->writer->done;
}
static bool has_topics(void *context) {
    return ((struct sessions *)context)->ready;
}

void scenario_sessions(void) {
    struct sim_broker *broker = sim_broker_create(1);
    struct sessions *s = sim_new(sizeof *s);
    s->slots = 3 * (int)sim_range(SIM_WORKLOAD, 0, 2); // each core has its share, rounded down
    sim_broker_property(broker, "max.incremental.fetch.session.cache.slots=%d", s->slots);
    for (int i = 0; i < PLACES; i++) {
        s->places[i].topic = topics[i / PARTITIONS];
        s->places[i].index = i % PARTITIONS;
    }
    sim_broker_come_up(broker);
    s->writer = caller_start("writer", "broker", SIM_BROKER_PORT, writer_script, s);
    for (int i = 0; i < READERS; i++) {
        char host[32];
        snprintf(host, sizeof host, "reader-%d", i);
        s->readers[i] = caller_start(host, "broker", SIM_BROKER_PORT, reader_script, s);
    }
    for (int i = 0; i < 6; i++) {
        sim_run(sim_range(SIM_FAULTS, 1, 600) * SIM_MS, NULL, NULL);
        sim_broker_trouble(broker, s->readers[sim_range(SIM_FAULTS, 0, READERS - 1)]->host);
    }
    sim_broker_check_runs(broker);
    SIM_CHECK(sim_run(60 * SIM_SECOND, has_topics, s), "the topics do not come to be");
    sim_run(SIM_SECOND, NULL, NULL); // if the faults have left no time until now
    s->writer_stop = true;
    sim_run(SIM_SECOND, NULL, NULL);
    s->finish = true;
    SIM_CHECK(sim_run(60 * SIM_SECOND, readers_are_done, s), "a reader does not get everything");
    SIM_CHECK(s->full_fetches > 0, "nothing was fetched");
    struct caller *late = caller_start("late", "broker", SIM_BROKER_PORT, late_script, s);
    SIM_CHECK(sim_run(200 * SIM_SECOND, caller_is_done, late), "the last reader does not get everything");
    sim_broker_finish(broker);
}
