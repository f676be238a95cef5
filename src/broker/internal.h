// SPDX-License-Identifier: Apache-2.0
// What the files of broker/ share.
#pragma once

#include "api/facts.h"
#include "api/state.h"
#include "broker/broker.h"
#include "config/listener.h"
#include "group/groups.h"
#include "metadata/publish.h"
#include "metastore/embedded.h"
#include "net/gate.h"
#include "replica/checkpointer.h"
#include "replica/close_all.h"
#include "replica/maintenance.h"
#include "replica/replica.h"

enum { BROKER_LOG_DIRS_MAX = 64 };

struct broker_budget {
    size_t frames_bytes;  // of each data core: request frames being received or in progress
    size_t arena_bytes;   // of one request
    size_t kept_bytes;    // freed buffers that a core keeps
    size_t groups_bytes;  // members and offsets of the groups of one core
    uint32_t connections; // of each data core
};
// Divides the broker's memory (tailrace.memory): see budget.c for the formula.
struct broker_budget broker_budget_divide(uint64_t memory_bytes, int data_cores);

// One data core's part of the broker.
struct broker_core {
    struct net net;
    struct replicas replicas;
    struct api_state api;
    struct groups groups;
    struct maintenance maintenance;
    bool maintenance_stopped, groups_stopped;
    struct message message; // of the stop's step that the control core asked for
    // Not the stop's: the start does not wait for it on every core, and a stop may come at once.
    struct message maintenance_message;
    struct flow flow; // stopping: waits for connections and maintenance
    struct broker *broker;
    struct replicas_close close;
    struct message dir_message; // of the directory watch
    int failed_dir;
    struct message steps_message;
    bool steps_asked; // the control core's: not asked again before it has answered
};
// dir_watch.c: looks after the log directories.
struct broker_watch {
    struct flow flow;
    struct flow_timer timer;
    bool told[BROKER_LOG_DIRS_MAX];
    int pending;
    struct controller_request request;
    struct flow *ended_flow;
    bool *ended;
};
// A replica found at start, with what the checkpoints say.
struct broker_found {
    struct log_dir_partition at;
    int dir;
    bool is_taken; // the controller has given it to a core, which answers for its checkpoint lines from then on
};
struct broker {
    struct broker_options options;
    struct os_host *host;
    const struct config *config;
    struct core_set *set;
    struct core *control;
    int data_cores;
    struct broker_core *cores;
    struct broker_facts facts;
    struct image_publisher *publisher;
    struct arena arena; // texts that live as long as the broker

    char *dir_paths[BROKER_LOG_DIRS_MAX];
    struct log_dir *dirs[BROKER_LOG_DIRS_MAX];
    int dir_count;
    bool dir_clean[BROKER_LOG_DIRS_MAX];
    struct broker_found *found; // sorted by topic and partition
    size_t found_count;

    int32_t broker_id;
    char cluster_id[64];
    struct listener_list listeners, advertised;
    struct os_address bound[CONFIG_LISTENERS_MAX];
    struct net_listener *open_listeners[CONFIG_LISTENERS_MAX];
    struct net *nets[CORES_MAX];
    struct net_gate gate; // on the first data core, which accepts

    struct metastore *store;
    struct controller *controller;
    struct checkpointer checkpointer;
    bool checkpointer_runs, maintenance_runs, watch_runs;
    struct broker_watch watch;

    // start.c
    struct flow start;
    struct flow_op op;
    int next; // directory or listener being opened
    struct log_dir_open dir_open;
    struct embedded_open store_open;
    bool controller_started;
    int16_t controller_error;
    struct message listen_message;
    bool listen_done;
    int listen_error, listen_tries; // EADDRINUSE is tried again for a while
    struct flow_timer listen_timer;
    char listen_failure[400];
    char failure[600];
    bool is_ready;

    // stop.c
    struct os_op signal;
    struct flow stop;
    bool stopping, done_flag;
    bool exiting; // asked to stop a second time
    struct message exit_message;
    int pending;
    int exit_status;
    struct checkpoint_batch batch;
};
void broker_begin_start(struct broker *b);
void broker_begin_stop(struct broker *b, int exit_status);
// Notes a failure (of the start, or of the running broker) and begins to stop with exit status 1.
__attribute__((format(printf, 2, 3))) void broker_fail(struct broker *b, const char *format, ...);
// steps.c: every data core writes its step counters to the log.
void broker_tell_steps(struct broker *b);
void broker_watch_begin(struct broker *b);
// The ERROR line about a directory that has failed; it is not told again.
void broker_watch_tell_line(struct broker *b, int dir);
// Ends after what it is doing; sets *done and wakes the flow.
void broker_watch_end(struct broker *b, struct flow *flow, bool *done);
// For the checkpointer: lines of replicas that were found and not taken yet.
void broker_found_ends(void *broker, struct ends_list *ends);
extern const struct controller_replica_functions broker_replica_functions;
