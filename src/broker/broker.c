// SPDX-License-Identifier: Apache-2.0
// Making a broker: cores, per-core structs, budgets; and the signals.
#include "broker/broker.h"
#include "broker/internal.h"
#include "core/line.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { BROKER_ARENA_BYTES = 256 << 20 };

static bool addresses_read(struct broker *b, char reason[static 256]) {
    struct text text = text_in(reason, 256);
    return config_listeners(b->config, &b->arena, &b->listeners, &text) &&
           config_advertised_listeners(b->config, &b->arena, &b->advertised, &text);
}

static bool directories_read(struct broker *b, char reason[static 256]) {
    struct str rest = config_log_dirs(b->config), path;
    while (config_list_next(&rest, &path)) {
        if (b->dir_count == BROKER_LOG_DIRS_MAX) {
            snprintf(reason, 256, "log.dirs names more than %d directories", BROKER_LOG_DIRS_MAX);
            return false;
        }
        b->dir_paths[b->dir_count++] = (char *)arena_copy_str(&b->arena, path).data;
    }
    ASSERT(b->dir_count > 0);
    return true;
}

static int cores_wanted(const struct broker *b) {
    int cpus[CORES_MAX];
    int available = os_cpus(b->host, cpus, CORES_MAX);
    int64_t configured = config_i64(b->config, CONFIG_TAILRACE_CORES);
    ASSERT(config_key_info(CONFIG_TAILRACE_CORES)->rule.max == CORES_MAX - 1); // one more core does the rest
    int64_t wanted = configured > 0 ? configured : available;
    return (int)max_i64(1, min_i64(wanted, CORES_MAX - 1));
}

// What one batch may unfold to. max.message.bytes is 1 MiB, and text shrinks to a hundredth at best; walking this many
// bytes takes a good 100 ms of a computing thread. What would take a core more than some ms is done there (decision
// 0008).
enum { DECOMPRESSED_BYTES_MAX = 128 << 20, VALIDATION_COST_MAX_NS = 2000000 };

// Before the first image, the file's; later with what was changed at run time.
static struct net_gate_limits connection_limits(struct core *core) {
    const struct image *image = image_of(core);
    const struct config *c = image && image->config ? image->config : core->facts->config;
    return (struct net_gate_limits){
        .connections_max = (uint32_t)config_i64(c, CONFIG_MAX_CONNECTIONS),
        .connections_per_ip_max = (uint32_t)config_i64(c, CONFIG_MAX_CONNECTIONS_PER_IP),
        .per_ip_overrides = config_str(c, CONFIG_MAX_CONNECTIONS_PER_IP_OVERRIDES),
    };
}

static void cores_prepare(struct broker *b) {
    struct broker_budget budget =
        broker_budget_divide((uint64_t)config_i64(b->config, CONFIG_TAILRACE_MEMORY), b->data_cores);
    const struct net_handler handler = {api_handle, api_overlaps};
    const struct net_limits limits = {
        .frame_bytes_max = (uint32_t)config_i64(b->config, CONFIG_SOCKET_REQUEST_MAX_BYTES),
        .budget_bytes = budget.frames_bytes,
        .arena_bytes_max = budget.arena_bytes,
        .connections_max = budget.connections,
        .idle_ms_max = (uint64_t)max_i64(config_i64(b->config, CONFIG_CONNECTIONS_MAX_IDLE_MS), 0),
    };
    const struct groups_settings groups = groups_settings_of(b->config, budget.groups_bytes);
    for (int i = 0; i < b->data_cores; i++) {
        struct broker_core *c = &b->cores[i];
        struct core *core = b->set->cores[i];
        c->broker = b;
        core->facts = &b->facts;
        core->net = &c->net;
        core->replicas = &c->replicas;
        core->api = &c->api;
        core->groups = &c->groups;
        uint64_t cost_max_ns = b->options.validation_cost_max_ns;
        api_state_init(&c->api, core, cost_max_ns > 0 ? cost_max_ns : VALIDATION_COST_MAX_NS);
        core->buffers.kept_limit_bytes = budget.kept_bytes;
        groups_init(&c->groups, core, &groups);
        net_init(&c->net, core, &handler, &limits);
        b->nets[i] = &c->net;
    }
    net_gate_init(&b->gate, b->set->cores[0], connection_limits);
    b->control->facts = &b->facts;
}

// What a person can do about it.
static void engine_reason(int error, char reason[static 256]) {
    bool is_refused = error == -EPERM || error == -EACCES || error == -ENOSYS || error == -EINVAL;
    const char *hint = "";
    if (is_refused)
        hint =
            "; needed are Linux 5.19 or newer, the sysctl kernel.io_uring_disabled at 0, and in a container a seccomp "
            "profile that allows io_uring";
    else if (error == -ENOMEM)
        hint = "; its memory counts as locked: raise that limit (ulimit -l, systemd: LimitMEMLOCK=) to 8 MiB or more";
    snprintf(reason, 256, "the io_uring engine cannot be had: %s%s", os_error_text(error), hint);
}

struct broker *broker_create(const struct broker_options *options, char reason[static 256]) {
    struct broker *b = calloc(1, sizeof *b);
    ASSERT(b != NULL);
    b->options = *options;
    b->host = options->host;
    b->config = options->config;
    arena_init(&b->arena, BROKER_ARENA_BYTES);
    b->broker_id = (int32_t)config_i64(b->config, CONFIG_BROKER_ID);
    if (!config_is_set(b->config, CONFIG_BROKER_ID)) b->broker_id = -1;
    if (!addresses_read(b, reason) || !directories_read(b, reason)) {
        broker_destroy(b);
        return NULL;
    }
    os_raise_descriptor_limit(b->host);
    b->data_cores = cores_wanted(b);
    int error = 0;
    b->set = core_set_create(b->host, b->data_cores, &error);
    if (!b->set) {
        engine_reason(error, reason);
        broker_destroy(b);
        return NULL;
    }
    b->control = core_control(b->set);
    b->cores = calloc((size_t)b->data_cores, sizeof *b->cores);
    ASSERT(b->cores != NULL);
    b->facts = (struct broker_facts){.config = b->config,
                                     .dirs = b->dirs,
                                     .dir_count = b->dir_count,
                                     .data_cores = b->data_cores,
                                     .decompressed_bytes_max = DECOMPRESSED_BYTES_MAX};
    b->publisher = image_publisher_create(b->set);
    cores_prepare(b);
    return b;
}

static void signalled(struct os_op *op) {
    struct broker *b = container_of(op, struct broker, signal);
    if (op->result < 0) return;
    if (op->result != OS_SIGNAL_REPORT) {
        broker_stop(b);
    } else if (!b->stopping) { // a core that has ended would not answer
        broker_tell_steps(b);
    }
    os_signal_start(b->control->os, &b->signal);
}

static void exit_at_once(struct core *core, struct message *message) {
    (void)core;
    os_exit(container_of(message, struct broker, exit_message)->host, 1);
}

void broker_stop(struct broker *b) {
    if (b->exiting) return;
    if (b->stopping) {
        b->exiting = true;
        line(b->control, LINE_WARN, "broker", "", "stopped_at_once", "reason=\"asked a second time\"");
        core_send(b->control, b->control->id, &b->exit_message, exit_at_once); // behind the line, so that it is printed
        return;
    }
    line(b->control, LINE_INFO, "broker", "", "stopping", "reason=\"asked to\"");
    broker_begin_stop(b, 0);
}

static bool control_turn(void *argument) {
    struct broker *b = argument;
    if (!b->signal.in_flight && !b->stopping) {
        b->signal = OS_OP(signalled);
        os_signal_start(b->control->os, &b->signal);
        broker_begin_start(b);
    }
    return core_turn(b->control);
}

int broker_run(struct broker *b) {
    static const char *const name = "tailrace";
    struct os_core_entry entries[CORES_MAX];
    int cpus[CORES_MAX];
    int available = os_cpus(b->host, cpus, CORES_MAX);
    for (int i = 0; i < b->data_cores; i++) {
        entries[i] =
            (struct os_core_entry){name, available > 0 ? cpus[i % available] : -1, core_turn, b->set->cores[i]};
    }
    entries[b->data_cores] = (struct os_core_entry){"control", -1, control_turn, b};
    os_run_cores(b->host, entries, b->data_cores + 1);
    return b->exit_status;
}

void broker_destroy(struct broker *b) {
    if (b->publisher) image_publisher_destroy(b->publisher);
    if (b->set) core_set_destroy(b->set);
    if (b->cores) net_gate_free(&b->gate);
    for (int i = 0; b->cores && i < b->data_cores; i++)
        api_state_free(&b->cores[i].api);
    for (int i = 0; b->cores && i < b->data_cores; i++)
        groups_free(&b->cores[i].groups);
    free(b->cores);
    free(b->found);
    arena_drop(&b->arena);
    free(b);
}

const struct os_address *broker_address(const struct broker *b) {
    return &b->bound[0];
}
int broker_data_cores(const struct broker *b) {
    return b->data_cores;
}
