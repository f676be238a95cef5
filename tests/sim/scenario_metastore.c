// SPDX-License-Identifier: Apache-2.0
// The embedded metadata store under kills, power cuts and disk faults.
//
// Every write of the workload is numbered and sets /counter to its number, together with what it does to a few other
// nodes. So after a restart /counter says how many writes are there, and the whole tree must be what the first so many
// writes make. Checked: nothing that was answered or read is lost, a write is there whole or not at all, versions and
// zxids, ephemeral nodes go with their session, a watch fires before the answer that shows the change.
#include "base/bits.h"
#include "metastore/embedded.h"
#include "scenario.h"
#include <stdio.h>
#include <stdlib.h>

enum { KEYS = 6, WRITERS = 4, WATCHERS = 3, WRITES_MAX = 6000, ROUNDS = 5 };
static const char store_path[] = "/data/tailrace.metadata";

enum deed { DEED_SET, DEED_DELETE, DEED_NONE };
struct history {
    // What write n (from 1) does to its key.
    struct {
        enum deed deed;
        int key;
    } writes[WRITES_MAX + 1];
    uint64_t issued;   // in the life of this process, including earlier writes
    uint64_t promised; // answered OK, or seen by a read
    uint64_t sessions; // that came up and verified the tree
    int64_t last_session;
    bool open;   // the writers run
    bool broken; // the store said FAILED
    uint64_t compact_above_bytes, reserve_bytes;
    uint64_t watch_reads;
};

// ---- the model: the tree after the first `count` writes
struct model {
    uint64_t value[KEYS]; // number of the write that set it; 0: no such node
    uint64_t version[KEYS];
};
static void model_replay(const struct history *history, uint64_t count, struct model *model) {
    *model = (struct model){0};
    for (uint64_t n = 1; n <= count; n++) {
        int key = history->writes[n].key;
        switch (history->writes[n].deed) {
        case DEED_SET:
            model->version[key] = model->value[key] == 0 ? 0 : model->version[key] + 1;
            model->value[key] = n;
            break;
        case DEED_DELETE: model->value[key] = 0; break;
        case DEED_NONE: break;
        }
    }
}

// ---- a writer: one write after the other; several run side by side
struct session;
struct writer {
    struct flow flow;
    struct session *session;
    struct metastore_write write;
    struct metastore_change changes[4];
    char path[32], number[24];
    uint64_t n; // 0: a write that must fail
};
// A reader with a watch on /counter.
struct watcher {
    struct flow flow;
    struct session *session;
    struct metastore_read read;
    struct metastore_watch watch;
    uint64_t saw; // by the answered read that set the watch; 0: on its way
};
struct session {
    struct flow flow;
    struct flow_op op;
    struct history *history;
    struct embedded_open open;
    struct metastore_read read;
    int key; // being verified
    uint64_t count;
    struct model model; // after the last write that was issued
    struct writer writers[WRITERS];
    struct watcher watchers[WATCHERS];
};
// Not drawn, so that seeds which have found something keep their runs.
static int watcher_count(void) {
    return sim_seed() % WATCHERS == 0 ? WATCHERS : 1;
}
static uint64_t number_in(struct bytes data) {
    return data.data ? strtoull((const char *)data.data, NULL, 10) : 0;
}

#define WRITER_STEPS(STEP) STEP(writer, issue) STEP(writer, answered) STEP(writer, release)
FLOW_DEFINE(writer, WRITER_STEPS)

// A check that fails takes the whole write with it.
static size_t plan_failing(struct writer *writer) {
    writer->n = 0;
    writer->changes[0] = metastore_set_node("/counter", (struct bytes){(const uint8_t *)"x", 1}, METASTORE_ANY_VERSION);
    writer->changes[1] = metastore_check_node("/counter", (int32_t)writer->session->history->issued + 100);
    return 2;
}

static size_t plan_write(struct writer *writer) {
    struct session *session = writer->session;
    struct history *history = session->history;
    SIM_CHECK(history->issued < WRITES_MAX, "more writes than the history holds");
    uint64_t n = writer->n = ++history->issued;
    int key = (int)sim_range(SIM_WORKLOAD, 0, KEYS - 1);
    enum deed deed = sim_chance(SIM_WORKLOAD, 250000) ? DEED_DELETE : DEED_SET;
    if (deed == DEED_DELETE && session->model.value[key] == 0) deed = DEED_NONE;
    bool is_new = session->model.value[key] == 0;
    history->writes[n].deed = deed;
    history->writes[n].key = key;
    snprintf(writer->path, sizeof writer->path, "/key%d", key);
    snprintf(writer->number, sizeof writer->number, "%llu", (unsigned long long)n);
    const struct bytes data = {(const uint8_t *)writer->number, strlen(writer->number)};
    size_t count = 0;
    writer->changes[count++] = metastore_set_node("/counter", data, (int32_t)n - 1);
    if (deed == DEED_SET && is_new) writer->changes[count++] = metastore_create_node(writer->path, data, 0);
    if (deed == DEED_SET && !is_new)
        writer->changes[count++] = metastore_set_node(writer->path, data, (int32_t)session->model.version[key]);
    if (deed == DEED_DELETE) writer->changes[count++] = metastore_delete_node(writer->path, METASTORE_ANY_VERSION);
    if (deed == DEED_SET) {
        session->model.version[key] = is_new ? 0 : session->model.version[key] + 1;
        session->model.value[key] = n;
    } else if (deed == DEED_DELETE) {
        session->model.value[key] = 0;
    }
    return count;
}

static flow_next writer_step_issue(struct flow *flow) {
    struct writer *writer = container_of(flow, struct writer, flow);
    size_t count = sim_chance(SIM_WORKLOAD, 50000) ? plan_failing(writer) : plan_write(writer);
    writer->write.call.flow = flow;
    writer->write.changes = writer->changes;
    writer->write.count = count;
    metastore_write_start(writer->session->open.store, &writer->write);
    return FLOW_NEXT;
}
static flow_next writer_step_answered(struct flow *flow) {
    struct writer *writer = container_of(flow, struct writer, flow);
    struct history *history = writer->session->history;
    if (!writer->write.call.done) return FLOW_WAIT;
    enum metastore_result result = writer->write.call.result;
    if (result == METASTORE_FAILED) {
        history->broken = true;
        return FLOW_DONE(flow, 0);
    }
    if (writer->n == 0) {
        SIM_CHECK(result == METASTORE_BAD_VERSION, "a failing check answered %s", metastore_result_name(result));
        return FLOW_GOTO(writer, issue);
    }
    SIM_CHECK(result == METASTORE_OK, "write %llu answered %s", (unsigned long long)writer->n,
              metastore_result_name(result));
    SIM_CHECK(writer->n > history->promised, "answers are out of order: %llu after %llu", (unsigned long long)writer->n,
              (unsigned long long)history->promised);
    history->promised = writer->n;
    SIM_CHECK(writer->write.changes[0].stat.version == (int32_t)writer->n, "/counter has the wrong version");
    for (int i = 0; i < watcher_count(); i++) {
        const struct watcher *watcher = &writer->session->watchers[i];
        SIM_CHECK(watcher->saw == 0 || !watcher->watch.armed || watcher->saw >= writer->n,
                  "write %llu was answered before watch %d fired", (unsigned long long)writer->n, i);
    }
    return FLOW_GOTO(writer, issue);
}
static flow_next writer_step_release(struct flow *flow) {
    (void)flow;
    return FLOW_END;
}

// ---- the watchers: each reads /counter, waits for its watch, reads again
#define WATCHER_STEPS(STEP) STEP(watcher, read) STEP(watcher, answered) STEP(watcher, changed) STEP(watcher, release)
FLOW_DEFINE(watcher, WATCHER_STEPS)

static void watch_fired(struct metastore_watch *watch) {
    flow_wake(&container_of(watch, struct watcher, watch)->flow);
}
static flow_next watcher_step_read(struct flow *flow) {
    struct watcher *watcher = container_of(flow, struct watcher, flow);
    watcher->watch.fired = watch_fired;
    watcher->saw = 0;
    watcher->read =
        (struct metastore_read){.call.flow = flow, .kind = METASTORE_GET, .path = "/counter", .watch = &watcher->watch};
    metastore_read_start(watcher->session->open.store, &watcher->read);
    return FLOW_NEXT;
}
static flow_next watcher_step_answered(struct flow *flow) {
    struct watcher *watcher = container_of(flow, struct watcher, flow);
    struct history *history = watcher->session->history;
    if (!watcher->read.call.done) return FLOW_WAIT;
    if (watcher->read.call.result == METASTORE_FAILED) return FLOW_DONE(flow, 0);
    SIM_CHECK(watcher->read.call.result == METASTORE_OK, "/counter cannot be read");
    uint64_t seen = number_in(watcher->read.data);
    SIM_CHECK(seen >= history->promised, "a read went back: %llu after %llu", (unsigned long long)seen,
              (unsigned long long)history->promised);
    history->promised = seen;
    watcher->saw = seen;
    history->watch_reads++;
    metastore_read_free(&watcher->read);
    return FLOW_NEXT;
}
static flow_next watcher_step_changed(struct flow *flow) {
    return container_of(flow, struct watcher, flow)->watch.armed ? FLOW_WAIT : FLOW_GOTO(watcher, read);
}
static flow_next watcher_step_release(struct flow *flow) {
    metastore_read_free(&container_of(flow, struct watcher, flow)->read);
    return FLOW_END;
}

// ---- a session: open, verify, then let the writers run
#define SESSION_STEPS(STEP)                                                                                            \
    STEP(session, open)                                                                                                \
    STEP(session, attach)                                                                                              \
    STEP(session, counter)                                                                                             \
    STEP(session, counted)                                                                                             \
    STEP(session, key) STEP(session, verify) STEP(session, ephemeral) STEP(session, write) STEP(session, release)
FLOW_DEFINE(session, SESSION_STEPS)

static flow_next session_step_open(struct flow *flow) {
    struct session *session = container_of(flow, struct session, flow);
    session->open = (struct embedded_open){.path = store_path,
                                           .compact_above_bytes = session->history->compact_above_bytes,
                                           .reserve_bytes = session->history->reserve_bytes};
    flow_op_init(&session->op, flow);
    os_offload(flow->core->os, &session->op.op, embedded_open_run, &session->open);
    return FLOW_NEXT;
}
static flow_next session_step_attach(struct flow *flow) {
    struct session *session = container_of(flow, struct session, flow);
    if (session->op.op.in_flight) return FLOW_WAIT;
    if (session->op.op.result == -5) { // a fault that was planned
        session->history->broken = true;
        return FLOW_DONE(flow, 0);
    }
    SIM_CHECK(session->op.op.result == 0 && session->open.store, "the store does not open: %s", session->open.reason);
    embedded_attach(session->open.store, flow->core);
    SIM_CHECK(session->open.store->session_id != session->history->last_session, "a session id came again");
    session->history->last_session = session->open.store->session_id;
    return FLOW_NEXT;
}
static void session_read(struct session *session, enum metastore_read_kind kind, const char *path) {
    session->read = (struct metastore_read){.call.flow = &session->flow, .kind = kind, .path = path};
    metastore_read_start(session->open.store, &session->read);
}
static flow_next session_step_counter(struct flow *flow) {
    session_read(container_of(flow, struct session, flow), METASTORE_GET, "/counter");
    return FLOW_NEXT;
}
static flow_next session_step_counted(struct flow *flow) {
    struct session *session = container_of(flow, struct session, flow);
    struct history *history = session->history;
    if (!session->read.call.done) return FLOW_WAIT;
    session->count = session->read.call.result == METASTORE_OK ? number_in(session->read.data) : 0;
    SIM_CHECK(session->count >= history->promised, "%llu writes were answered or seen, %llu are there",
              (unsigned long long)history->promised, (unsigned long long)session->count);
    SIM_CHECK(session->count <= history->issued, "a write that nobody made");
    SIM_CHECK(session->count == 0 || session->read.stat.version == (int32_t)session->count, "/counter: wrong version");
    metastore_read_free(&session->read);
    history->issued = history->promised = session->count; // seen is promised
    model_replay(history, session->count, &session->model);
    session->key = 0;
    return FLOW_NEXT;
}
static flow_next session_step_key(struct flow *flow) {
    struct session *session = container_of(flow, struct session, flow);
    if (session->key == KEYS) {
        session_read(session, METASTORE_EXISTS, "/alive");
        return FLOW_GOTO(session, ephemeral);
    }
    char *path = session->writers[0].path;
    snprintf(path, sizeof session->writers[0].path, "/key%d", session->key);
    session_read(session, METASTORE_GET, path);
    return FLOW_NEXT;
}
static flow_next session_step_verify(struct flow *flow) {
    struct session *session = container_of(flow, struct session, flow);
    if (!session->read.call.done) return FLOW_WAIT;
    bool there = session->read.call.result == METASTORE_OK;
    uint64_t value = there ? number_in(session->read.data) : 0;
    int key = session->key++;
    SIM_CHECK(value == session->model.value[key], "/key%d: write %llu is there, %llu should be", key,
              (unsigned long long)value, (unsigned long long)session->model.value[key]);
    SIM_CHECK(!there || session->read.stat.version == (int32_t)session->model.version[key], "/key%d: version %d", key,
              session->read.stat.version);
    metastore_read_free(&session->read);
    return FLOW_GOTO(session, key);
}
// The ephemeral node of the last session must be gone; ours is made, with /counter if it is the first time.
static flow_next session_step_ephemeral(struct flow *flow) {
    struct session *session = container_of(flow, struct session, flow);
    if (!session->read.call.done) return FLOW_WAIT;
    SIM_CHECK(session->read.call.result == METASTORE_NO_NODE, "an ephemeral node outlived its session");
    metastore_read_free(&session->read);
    struct writer *first = &session->writers[0];
    size_t count = 0;
    first->changes[count++] = metastore_create_node("/alive", (struct bytes){0}, METASTORE_EPHEMERAL);
    if (session->count == 0) first->changes[count++] = metastore_create_node("/counter", (struct bytes){0}, 0);
    first->write = (struct metastore_write){.call.flow = flow, .changes = first->changes, .count = count};
    metastore_write_start(session->open.store, &first->write);
    return FLOW_NEXT;
}
static flow_next session_step_write(struct flow *flow) {
    struct session *session = container_of(flow, struct session, flow);
    if (!session->writers[0].write.call.done) return FLOW_WAIT;
    enum metastore_result result = session->writers[0].write.call.result;
    if (result == METASTORE_FAILED) {
        session->history->broken = true;
        return FLOW_DONE(flow, 0);
    }
    // With no write answered yet /counter may be there from the last session.
    bool counter_was_there = session->count == 0 && result != METASTORE_OK && session->writers[0].write.failed == 1;
    SIM_CHECK(result == METASTORE_OK || counter_was_there, "the first write answered %s",
              metastore_result_name(result));
    session->history->sessions++;
    session->history->open = true;
    for (int i = 0; i < WRITERS; i++) {
        session->writers[i].session = session;
        flow_start(&session->writers[i].flow, &writer_flow, flow->core);
    }
    for (int i = 0; i < watcher_count(); i++) {
        session->watchers[i].session = session;
        flow_start(&session->watchers[i].flow, &watcher_flow, flow->core);
    }
    return FLOW_DONE(flow, 0);
}
static flow_next session_step_release(struct flow *flow) {
    (void)flow;
    return FLOW_END;
}

static void start_session(struct core *core, void *history) {
    struct session *session = calloc(1, sizeof *session);
    ASSERT(session != NULL);
    session->history = history;
    flow_start(&session->flow, &session_flow, core_control(core->set));
}

static bool is_open(void *history) {
    return ((struct history *)history)->open;
}
static bool is_broken(void *history) {
    return ((struct history *)history)->broken;
}

// No write fails, and they go on when there is space again.
static void fill_disk(struct os_host *host, struct sim_disk_faults *faults, struct history *history) {
    const uint64_t capacity = faults->capacity;
    uint64_t total, left;
    os_space(host, "/data", &total, &left);
    faults->capacity = total - left + (sim_chance(SIM_FAULTS, 500000) ? 0 : sim_range(SIM_FAULTS, 0, 3000));
    sim_run(sim_range(SIM_FAULTS, 1, 1500) * SIM_MS, NULL, NULL);
    SIM_CHECK(!history->broken, "a full disk breaks the store");
    faults->capacity = capacity;
    const uint64_t promised = history->promised;
    if (sim_chance(SIM_FAULTS, 300000)) return;
    for (int i = 0; i < 20 && history->promised == promised; i++)
        sim_run(50 * SIM_MS, NULL, NULL);
    SIM_CHECK(history->promised > promised, "nothing is written after a full disk");
}

static void run_metastore(bool full) {
    struct os_host *host = sim_host_create("broker", SIM_HOST_DEFAULT);
    sim_mkdir(host, "/data");
    struct sim_disk_faults *faults = sim_disk_faults(host, "/data");
    struct history *history = calloc(1, sizeof *history);
    ASSERT(history != NULL);
    history->compact_above_bytes = sim_chance(SIM_WORKLOAD, 700000) ? sim_range(SIM_WORKLOAD, 1000, 20000) : 0;
    if (full) history->reserve_bytes = sim_range(SIM_WORKLOAD, 1, 20000);
    faults->short_write = (uint32_t)sim_range(SIM_FAULTS, 0, 200000);
    faults->slow = (uint32_t)sim_range(SIM_FAULTS, 0, 50000);
    faults->slow_ns = 20 * SIM_MS;
    struct sim_program program = {.start = start_session, .argument = history};
    for (int round = 0; round < ROUNDS; round++) {
        history->broken = history->open = false;
        sim_start(host, sim_program_main, &program);
        if (!full && sim_chance(SIM_FAULTS, 150000)) faults->fsync_eio_in = (uint32_t)sim_range(SIM_FAULTS, 1, 40);
        if (!full && sim_chance(SIM_FAULTS, 150000)) faults->write_eio_in = (uint32_t)sim_range(SIM_FAULTS, 1, 40);
        sim_run(sim_range(SIM_FAULTS, 200, 60000) * SIM_US, is_broken, history);
        if (full && sim_run(SIM_SECOND, is_open, history)) fill_disk(host, faults, history);
        if (history->broken) sim_run(50 * SIM_MS, NULL, NULL); // every call ends, with FAILED
        faults->fsync_eio_in = faults->write_eio_in = 0;
        // A disk that failed an fsync shows what it does not have (see scenario_append.c): only a power cut ends that.
        sim_crash(host, history->broken || sim_chance(SIM_FAULTS, 500000) ? SIM_POWER : SIM_KILL);
    }
    uint64_t sessions = history->sessions;
    history->broken = false;
    sim_start(host, sim_program_main, &program);
    sim_run(200 * SIM_MS, NULL, NULL);
    SIM_CHECK(history->sessions == sessions + 1 && !history->broken, "the store did not come back");
    SIM_CHECK(history->watch_reads > 0, "the watch has seen nothing");
}

void scenario_metastore(void) {
    run_metastore(false);
}
void scenario_metastore_full(void) {
    run_metastore(true);
}
