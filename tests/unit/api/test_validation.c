// SPDX-License-Identifier: Apache-2.0
// Where batches are checked: on the core while there is time in the turn, on a thread when it takes long.
#include "api/validation.h"
#include "os/linux/host.h"
#include "protocol/batch_writer.h"
#include "tailrace/error.h"
#include <criterion/criterion.h>
#include <stdlib.h>

enum { COST_MAX_NS = 20000, ROOM = 1 << 20, JOBS = 12, TURNS_MAX = 100000 };

struct world;
struct job {
    struct flow flow;
    struct world *world;
    struct validation validation;
    struct append_check check;
    struct arena arena;
    uint8_t *memory;
    size_t size;
    bool give_up, given_up;
    int turn;
    bool done;
};
struct world {
    struct os_host *host;
    struct core_set *set;
    struct core *core;
    struct validations validations;
    struct job jobs[JOBS];
    struct timer tick; // a turn does not sleep for long
    int turn;
};
static void tick(struct timer *timer) {
    core_timer_set(container_of(timer, struct world, tick)->core, timer, 1);
}

#define JOB_STEPS(STEP) STEP(job, run) STEP(job, release)
FLOW_DEFINE(job, JOB_STEPS)

static flow_next job_step_run(struct flow *flow) {
    struct job *job = container_of(flow, struct job, flow);
    if (job->give_up && validation_give_up(&job->validation)) {
        job->given_up = true;
        return FLOW_NEXT;
    }
    return validation_run(&job->world->validations, &job->validation) ? FLOW_NEXT : FLOW_WAIT;
}
static flow_next job_step_release(struct flow *flow) {
    struct job *job = container_of(flow, struct job, flow);
    job->turn = job->world->turn;
    job->done = true;
    return FLOW_END;
}

static void world_begin(struct world *w) {
    memset(w, 0, sizeof *w);
    w->host = os_host_create();
    int error = 0;
    w->set = core_set_create(w->host, 1, &error);
    cr_assert_not_null(w->set);
    w->core = w->set->cores[0];
    timer_init(&w->tick, tick);
    tick(&w->tick);
    validations_init(&w->validations, w->core, COST_MAX_NS);
}

static void world_end(struct world *w) {
    for (int i = 0; i < JOBS; i++) {
        if (w->jobs[i].memory) arena_drop(&w->jobs[i].arena);
        free(w->jobs[i].memory);
    }
    core_timer_cancel(w->core, &w->tick);
    validations_free(&w->validations);
    core_set_destroy(w->set);
    os_host_destroy(w->host);
}

// A record of zeros, made with a codec.
static void job_start(struct world *w, int index, size_t value_bytes, enum codec codec) {
    struct job *job = &w->jobs[index];
    uint8_t *value = calloc(1, value_bytes), *plain = malloc(ROOM);
    job->world = w;
    job->memory = malloc(ROOM);
    arena_init(&job->arena, 1 << 20);
    struct batch_writer writer;
    batch_writer_begin(&writer, plain, ROOM, BATCH_OPTIONS_PLAIN);
    cr_assert(batch_writer_add(&writer, 7, (struct bytes){0}, (struct bytes){value, value_bytes}, NULL, 0));
    job->size = batch_writer_end(&writer);
    if (codec == CODEC_NONE) {
        memcpy(job->memory, plain, job->size);
    } else {
        job->size = batch_compress((struct bytes){plain, job->size}, codec, 0, job->memory, ROOM);
    }
    cr_assert_gt(job->size, 0);
    job->validation = (struct validation){.flow = &job->flow,
                                          .records = {job->memory, job->size},
                                          .arena = &job->arena,
                                          .check = &job->check,
                                          .rules = {.now_ms = 1000,
                                                    .timestamp_before_max_ms = INT64_MAX,
                                                    .timestamp_after_max_ms = INT64_MAX,
                                                    .max_batch_bytes = ROOM,
                                                    .produce_version = 9,
                                                    .decompressed_max_bytes = 1 << 24}};
    flow_start(&job->flow, &job_flow, w->core);
    free(value);
    free(plain);
}

static void turn(struct world *w) {
    w->turn++;
    core_turn(w->core);
}
static void run_all(struct world *w, int count) {
    for (int i = 0; i < count; i++) {
        for (int n = 0; n < TURNS_MAX && !w->jobs[i].done; n++)
            turn(w);
        cr_assert(w->jobs[i].done);
        cr_assert_eq(w->jobs[i].check.error, KAFKA_ERROR_NONE, "%s", w->jobs[i].check.reason);
        cr_assert_eq(w->jobs[i].check.max_timestamp, 7);
        cr_assert_not(w->jobs[i].check.postponed);
    }
}

// 8 kB of lz4 cost 8 us of the 20 us that a turn has: three of them go, the next ones wait, in order.
Test(validation, a_turn_has_its_limit) {
    struct world w;
    world_begin(&w);
    for (int i = 0; i < 7; i++)
        job_start(&w, i, 8000, CODEC_LZ4);
    run_all(&w, 7);
    for (int i = 0; i < 7; i++)
        cr_assert_eq(w.jobs[i].turn, i / 3 + 1, "%d in turn %d", i, w.jobs[i].turn);
    cr_assert_eq(w.validations.computing, 0);
    world_end(&w);
}

Test(validation, what_takes_long_goes_to_a_few_threads_and_the_rest_waits) {
    struct world w;
    world_begin(&w);
    for (int i = 0; i < JOBS; i++)
        job_start(&w, i, 500000, CODEC_GZIP + i % 4);
    run_all(&w, JOBS);
    cr_assert_eq(w.validations.computing, 0);
    cr_assert(list_is_empty(&w.validations.waiting));
    world_end(&w);
}

Test(validation, what_has_no_thread_yet_can_be_given_up) {
    struct world w;
    world_begin(&w);
    for (int i = 0; i < JOBS; i++) {
        w.jobs[i].give_up = i >= 2;
        job_start(&w, i, 500000, CODEC_NONE); // long by its header
        cr_assert_not(validation_run(&w.validations, &w.jobs[i].validation));
    }
    uint32_t computing = w.validations.computing;
    cr_assert_gt(computing, 2);
    cr_assert_lt(computing, JOBS);
    turn(&w);
    for (uint32_t i = 0; i < JOBS; i++)
        cr_assert_eq(w.jobs[i].given_up, i >= computing);
    for (int i = 0; i < JOBS; i++) {
        for (int n = 0; n < TURNS_MAX && !w.jobs[i].done; n++)
            turn(&w);
        cr_assert(w.jobs[i].done); // those with a thread have come back
    }
    cr_assert_eq(w.validations.computing, 0);
    cr_assert(list_is_empty(&w.validations.waiting));
    world_end(&w);
}
