// SPDX-License-Identifier: Apache-2.0
// A program that appends numbered records to a file, makes them durable and then acknowledges them, while the scenario
// kills it and cuts the power; at every start it reads the file back: what was acknowledged must be there. Proves the
// disk and the checker itself: with a planted bug (acknowledge before the fsync) it must find a loss.
#include "base/bits.h"
#include "scenario.h"
#include <errno.h>
#include <stdlib.h>
#include <xxhash.h>

// A record: number, size of the filling, checksum of both and the filling.
enum { HEADER_BYTES = 24, FILLING_BYTES_MAX = 2000, ROUNDS = 6 };

struct writer {
    bool ack_before_sync;
    uint64_t acknowledged; // records 1..acknowledged are promised; written by the program, read by the scenario
    uint64_t progress;     // acknowledged since the scenario last looked
};

struct append {
    struct flow flow;
    struct flow_op sync;
    struct writer *writer;
    int file;
    uint64_t next, position, failures;
    uint8_t bytes[HEADER_BYTES + FILLING_BYTES_MAX];
};
#define APPEND_STEPS(STEP) STEP(append, write) STEP(append, sync) STEP(append, acknowledge) STEP(append, release)
FLOW_DEFINE(append, APPEND_STEPS)

static size_t record_make(uint8_t *bytes, uint64_t number, size_t filling) {
    store_be64(bytes, number);
    store_be64(bytes + 8, filling);
    memset(bytes + HEADER_BYTES, (int)(number & 255), filling);
    store_be64(bytes + 16, XXH3_64bits_withSeed(bytes + HEADER_BYTES, filling, number ^ (filling << 32)));
    return HEADER_BYTES + filling;
}

static flow_next append_step_write(struct flow *flow) {
    struct append *append = container_of(flow, struct append, flow);
    size_t size = record_make(append->bytes, append->next, sim_range(SIM_WORKLOAD, 0, FILLING_BYTES_MAX));
    for (size_t done = 0; done < size;) {
        struct os_vector vector = {append->bytes + done, size - done};
        int64_t n = os_pwritev(flow->core->host, append->file, &vector, 1, append->position + done);
        if (n < 0) os_exit(flow->core->host, 1);
        done += (size_t)n;
    }
    append->position += size;
    if (append->writer->ack_before_sync) append->writer->acknowledged = append->next;
    os_fdatasync_start(flow->core->os, &append->sync.op, append->file);
    return FLOW_NEXT;
}
static _Noreturn void sync_failed(struct os_host *host) {
    static const char line[] = "fsync failed\n";
    os_print_error(host, line, sizeof line - 1);
    os_exit(host, 1);
}
static flow_next append_step_sync(struct flow *flow) {
    struct append *append = container_of(flow, struct append, flow);
    if (append->sync.op.in_flight) return FLOW_WAIT;
    if (append->sync.op.result < 0) sync_failed(flow->core->host);
    return FLOW_NEXT;
}
static flow_next append_step_acknowledge(struct flow *flow) {
    struct append *append = container_of(flow, struct append, flow);
    append->writer->acknowledged = append->next++;
    append->writer->progress++;
    return FLOW_GOTO(append, write);
}
static flow_next append_step_release(struct flow *flow) {
    free(container_of(flow, struct append, flow));
    return FLOW_END;
}

// Reads whole records from the start; returns where they end.
static uint64_t recover(struct os_host *host, int file, uint64_t *records) {
    uint8_t bytes[HEADER_BYTES + FILLING_BYTES_MAX];
    uint64_t position = 0;
    for (*records = 0;; ++*records) {
        if (os_pread(host, file, bytes, HEADER_BYTES, position) != HEADER_BYTES) return position;
        uint64_t filling = load_be64(bytes + 8);
        if (load_be64(bytes) != *records + 1 || filling > FILLING_BYTES_MAX) return position;
        int64_t n = os_pread(host, file, bytes + HEADER_BYTES, filling, position + HEADER_BYTES);
        if (n != (int64_t)filling) return position;
        if (load_be64(bytes + 16) !=
            XXH3_64bits_withSeed(bytes + HEADER_BYTES, filling, load_be64(bytes) ^ (filling << 32)))
            return position;
        position += HEADER_BYTES + filling;
    }
}

static int open_file(struct os_host *host) {
    int file = os_open(host, "/data/file", OS_READ | OS_WRITE | OS_CREATE);
    if (file < 0) os_exit(host, 1);
    int directory = os_open(host, "/data", OS_READ | OS_DIRECTORY);
    if (directory < 0) os_exit(host, 1);
    if (os_fsync(host, directory) < 0) sync_failed(host);
    os_close(host, directory);
    return file;
}

static void start_append(struct core *core, void *argument) {
    struct append *append = argument;
    uint64_t records;
    append->position = recover(core->host, append->file, &records);
    SIM_CHECK(records >= append->writer->acknowledged, "%llu records were acknowledged, %llu are there",
              (unsigned long long)append->writer->acknowledged, (unsigned long long)records);
    // What was read may be only in the page cache (after a kill): make it durable before it counts.
    if (os_truncate(core->host, append->file, append->position) < 0 || os_fsync(core->host, append->file) < 0)
        sync_failed(core->host);
    append->next = records + 1;
    flow_start(&append->flow, &append_flow, core);
    flow_op_init(&append->sync, &append->flow);
}

static int writer_main(struct os_host *host, void *argument) {
    struct append *append = calloc(1, sizeof *append);
    ASSERT(append != NULL);
    append->writer = argument;
    append->file = open_file(host);
    struct sim_program program = {.start = start_append, .argument = append};
    return sim_program_main(host, &program);
}

static bool has_stopped(void *host) {
    return !sim_is_running(host);
}

static bool has_come_far(void *writer) {
    return ((struct writer *)writer)->progress >= 20;
}

static void run_append(bool ack_before_sync) {
    struct os_host *host = sim_host_create("writer", SIM_HOST_DEFAULT);
    sim_mkdir(host, "/data");
    struct sim_disk_faults *faults = sim_disk_faults(host, "/data");
    int failures = 0;
    struct writer writer = {.ack_before_sync = ack_before_sync};
    faults->short_write = (uint32_t)sim_range(SIM_FAULTS, 0, 200000);
    faults->slow = 20000;
    faults->slow_ns = 50 * SIM_MS;
    for (int round = 0; round < ROUNDS; round++) {
        bool last = round == ROUNDS - 1;
        sim_start(host, writer_main, &writer);
        if (!last && sim_chance(SIM_FAULTS, 200000)) faults->fsync_eio_in = (uint32_t)sim_range(SIM_FAULTS, 2, 60);
        if (!last && sim_chance(SIM_FAULTS, 200000)) faults->write_eio_in = (uint32_t)sim_range(SIM_FAULTS, 2, 60);
        sim_run(sim_range(SIM_FAULTS, 1, 60) * SIM_MS, has_stopped, host);
        // After a failed fsync the page cache lies: it shows what is on no disk, and the next fsync succeeds. No
        // program can see that from outside, so whoever runs it restarts the machine.
        bool cache_lies = sim_log_lines_with(host, "fsync failed") > failures;
        failures = sim_log_lines_with(host, "fsync failed");
        faults->fsync_eio_in = faults->write_eio_in = 0;
        sim_crash(host, cache_lies || sim_chance(SIM_FAULTS, 500000) ? SIM_POWER : SIM_KILL);
    }
    writer.progress = 0;
    sim_start(host, writer_main, &writer);
    SIM_CHECK(sim_run(60 * SIM_SECOND, has_come_far, &writer), "the writer did not come back");
}

void scenario_append(void) {
    run_append(false);
}
void scenario_append_early_ack(void) {
    run_append(true);
}
