// SPDX-License-Identifier: Apache-2.0
#include "sim_broker.h"
#include "broker/broker.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void sim_broker_property(struct sim_broker *b, const char *format, ...) {
    size_t used = strlen(b->properties);
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(b->properties + used, sizeof b->properties - used, format, arguments);
    va_end(arguments);
    SIM_CHECK(n > 0 && used + (size_t)n + 2 < sizeof b->properties, "too many properties");
    strcat(b->properties, "\n");
}

void *sim_new(size_t size_bytes) {
    void *memory = calloc(1, size_bytes);
    SIM_CHECK(memory, "no memory");
    return memory;
}

// Short writes, cold pages, slow operations, now and then.
static void plan_disk(struct sim_broker *b) {
    struct sim_disk_faults *faults = sim_disk_faults(b->host, "/disk");
    faults->short_write = (uint32_t)sim_range(SIM_FAULTS, 0, 20000);
    faults->cache_miss = (uint32_t)sim_range(SIM_FAULTS, 0, 20000);
    faults->slow = (uint32_t)sim_range(SIM_FAULTS, 0, 20000);
    faults->slow_ns = 20 * SIM_MS;
}

struct sim_broker *sim_broker_create(int disks) {
    static const char host_name[] = "broker";
    struct sim_broker *b = sim_new(sizeof *b);
    b->host = sim_host_create(host_name, SIM_HOST_DEFAULT);
    sim_mkdir(b->host, "/disk");
    // 0 is the broker's own limit, which no batch here comes near to; with the least one every batch takes long. Not
    // drawn, so that seeds which have found something keep their runs.
    static const uint64_t limits_ns[] = {0, 1, 500, 2000};
    b->validation_cost_max_ns = limits_ns[sim_seed() % ARRAY_LENGTH(limits_ns)];
    sim_broker_property(b, "broker.id=0");
    sim_broker_property(b, "listeners=PLAINTEXT://0.0.0.0:%d", SIM_BROKER_PORT);
    sim_broker_property(b, "advertised.listeners=PLAINTEXT://%s:%d", host_name, SIM_BROKER_PORT);
    sim_broker_property(b, "log.dirs=/disk/data");
    sim_broker_property(b, "tailrace.cores=%d", (int)sim_range(SIM_WORKLOAD, 1, 3));
    sim_broker_property(b, "num.partitions=%d", (int)sim_range(SIM_WORKLOAD, 1, 3));
    sim_broker_property(b, "offsets.topic.num.partitions=%d", (int)sim_range(SIM_WORKLOAD, 1, 3));
    sim_broker_property(b, "offsets.topic.segment.bytes=%d", (int)sim_range(SIM_WORKLOAD, 4096, 65536));
    sim_broker_property(b, "log.segment.bytes=%d", (int)sim_range(SIM_WORKLOAD, 16384, 200000));
    sim_broker_property(b, "log.index.interval.bytes=%d", (int)sim_range(SIM_WORKLOAD, 0, 4096));
    const int checkpoint_ms = (int)sim_range(SIM_WORKLOAD, 50, 2000);
    sim_broker_property(b, "log.flush.offset.checkpoint.interval.ms=%d", checkpoint_ms);
    sim_broker_property(b, "log.initial.task.delay.ms=%d", checkpoint_ms); // not drawn either
    sim_broker_property(b, "log.flush.start.offset.checkpoint.interval.ms=%d", (int)sim_range(SIM_WORKLOAD, 50, 2000));
    sim_broker_property(b, "replica.high.watermark.checkpoint.interval.ms=%d", (int)sim_range(SIM_WORKLOAD, 50, 2000));
    sim_broker_property(b, "group.initial.rebalance.delay.ms=%d", (int)sim_range(SIM_WORKLOAD, 0, 500));
    if (disks == 2) {
        sim_mkdir(b->host, "/disk2");
        sim_broker_property(b, "log.dirs=/disk/data,/disk2/data");
    }
    plan_disk(b);
    return b;
}

// ---- the process
static void broker_is_ready(void *context, struct broker *broker, const char *failure) {
    (void)broker;
    struct sim_broker *b = context;
    if (failure) {
        snprintf(b->failure, sizeof b->failure, "%s", failure);
    } else {
        b->ready++;
    }
}

static const struct config *read_config(struct arena *arena, const struct sim_broker *b) {
    const struct config_options options = {.file_name = str_of("server.properties"),
                                           .standalone = true,
                                           .memory_total_bytes = (int64_t)os_memory_bytes(b->host)};
    struct config_report report;
    config_report_init(&report, arena, options.file_name);
    const struct config *config = config_parse(arena, str_of(b->properties), &options, &report);
    for (size_t i = 0; i < report.count && i < CONFIG_REPORT_MAX; i++)
        os_print_error(b->host, report.problems[i].text.data, report.problems[i].text.size);
    SIM_CHECK(config, "the configuration is refused");
    return config;
}

static int broker_main(struct os_host *host, void *argument) {
    struct sim_broker *b = argument;
    struct arena arena;
    arena_init(&arena, CONFIG_ARENA_BYTES);
    const struct broker_options options = {.host = host,
                                           .config = read_config(&arena, b),
                                           .ready = broker_is_ready,
                                           .context = b,
                                           .validation_cost_max_ns = b->validation_cost_max_ns};
    char reason[256];
    struct broker *broker = broker_create(&options, reason);
    SIM_CHECK(broker, "the broker cannot be made: %s", reason);
    int status = broker_run(broker);
    broker_destroy(broker);
    arena_drop(&arena);
    return status;
}

// ---- what happens to it
static int ready_before;
bool sim_broker_is_ready(void *broker) {
    return ((struct sim_broker *)broker)->ready > ready_before;
}
bool sim_broker_has_ended(void *broker) {
    return !sim_is_running(((struct sim_broker *)broker)->host);
}

void sim_broker_start(struct sim_broker *b) {
    ready_before = b->ready;
    b->failure[0] = 0;
    sim_start(b->host, broker_main, b);
}

void sim_broker_await(struct sim_broker *b) {
    SIM_CHECK(sim_run(60 * SIM_SECOND, sim_broker_is_ready, b), "the broker does not come up: %s", b->failure);
}
void sim_broker_come_up(struct sim_broker *b) {
    sim_broker_start(b);
    sim_broker_await(b);
}

void sim_broker_check_runs(const struct sim_broker *b) {
    SIM_CHECK(sim_is_running(b->host), "the broker has ended by itself with status %d: %s", sim_exit_status(b->host),
              b->failure);
}
void sim_broker_finish(struct sim_broker *b) {
    sim_broker_stop(b);
    SIM_CHECK(b->has_had_disk_trouble || sim_log_lines_with(b->host, " ERROR ") == 0, "the broker logged an error");
}

void sim_broker_stop(struct sim_broker *b) {
    sim_terminate(b->host);
    SIM_CHECK(sim_run(60 * SIM_SECOND, sim_broker_has_ended, b), "the broker does not stop after SIGTERM");
    SIM_CHECK(sim_exit_status(b->host) == 0, "the broker ended with status %d after SIGTERM", sim_exit_status(b->host));
}

void sim_broker_trouble(struct sim_broker *b, struct os_host *others) {
    sim_run(sim_range(SIM_FAULTS, 1, 400) * SIM_MS, sim_broker_has_ended, b);
    sim_broker_check_runs(b);
    enum { KILL, POWER, STOP, CUT, RESET, STALL, WAYS };
    bool restart = false;
    switch (sim_range(SIM_FAULTS, 0, WAYS - 1)) {
    case KILL:
    case POWER:
        // Sometimes in the middle of the orderly stop, sometimes while it is still starting.
        if (sim_chance(SIM_FAULTS, 250000)) {
            sim_terminate(b->host);
            sim_run(sim_range(SIM_FAULTS, 0, 50) * SIM_MS, sim_broker_has_ended, b);
        }
        sim_crash(b->host, sim_chance(SIM_FAULTS, 500000) ? SIM_KILL : SIM_POWER);
        restart = true;
        break;
    case STOP:
        sim_broker_stop(b);
        restart = true;
        break;
    case CUT:
        sim_partition(b->host, others, true);
        sim_run(sim_range(SIM_FAULTS, 1, 8000) * SIM_MS, NULL, NULL);
        sim_partition(b->host, others, false);
        break;
    case RESET: sim_reset_connections(others); break;
    default: sim_stall(b->host, sim_range(SIM_FAULTS, 1, 2000) * SIM_MS); break;
    }
    if (!restart) return;
    sim_run(sim_range(SIM_FAULTS, 0, 300) * SIM_MS, NULL, NULL);
    sim_broker_start(b);
    if (sim_chance(SIM_FAULTS, 300000)) return; // trouble again before it is ready
    sim_broker_await(b);
}

void sim_broker_jump_clock(struct sim_broker *b) {
    enum { HOURS_5_MS = 5 * 3600 * 1000 };
    const int64_t to_ms = (int64_t)sim_range(SIM_FAULTS, 0, 2 * HOURS_5_MS) - HOURS_5_MS;
    sim_jump_wall_clock(b->host, to_ms - b->skew_ms);
    b->skew_ms = to_ms;
}

// ---- its disks
void sim_broker_disk_trouble(struct sim_broker *b) {
    const char *const paths[2] = {"/disk", "/disk2"};
    b->has_had_disk_trouble = true;
    struct sim_disk_faults *faults = sim_disk_faults(b->host, paths[sim_range(SIM_FAULTS, 0, 1)]);
    const uint64_t capacity = faults->capacity;
    const int offline_before = sim_log_lines_with(b->host, " offline ");
    enum { FSYNC, WRITE, READ, FULL, WAYS };
    uint64_t way = sim_range(SIM_FAULTS, 0, WAYS - 1);
    switch (way) {
    case FSYNC: faults->fsync_eio_in = (uint32_t)sim_range(SIM_FAULTS, 1, 30); break;
    case WRITE: faults->write_eio_in = (uint32_t)sim_range(SIM_FAULTS, 1, 60); break;
    case READ: faults->read_eio_in = (uint32_t)sim_range(SIM_FAULTS, 1, 30); break;
    default: {
        uint64_t total, left;
        os_space(b->host, faults == sim_disk_faults(b->host, "/disk") ? "/disk" : "/disk2", &total, &left);
        faults->capacity = total - left + sim_range(SIM_FAULTS, 0, 40000);
    }
    }
    sim_run(sim_range(SIM_FAULTS, 1, 600) * SIM_MS, sim_broker_has_ended, b);
    if (!sim_is_running(b->host))
        SIM_CHECK(sim_exit_status(b->host) == 1 && sim_log_lines_with(b->host, " ERROR ") > 0,
                  "the broker ended with status %d and said nothing", sim_exit_status(b->host));
    faults->fsync_eio_in = faults->write_eio_in = faults->read_eio_in = 0;
    faults->capacity = capacity;
    // Full: it goes on by itself when there is space again, except with logs that could not be loaded.
    bool offline = sim_log_lines_with(b->host, " offline ") > offline_before;
    if (way == FULL && sim_is_running(b->host) && !offline) return;
    // A disk that failed shows what it does not have (see scenario_append.c): only a power cut ends that.
    sim_crash(b->host, SIM_POWER);
    sim_broker_come_up(b);
}

void sim_broker_revive(struct sim_broker *b) {
    if (!sim_run(200 * SIM_MS, sim_broker_has_ended, b)) return;
    SIM_CHECK(sim_exit_status(b->host) == 1 && sim_log_lines_with(b->host, " ERROR ") > 0,
              "the broker ended with status %d and said nothing", sim_exit_status(b->host));
    sim_broker_come_up(b);
}
