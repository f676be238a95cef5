// SPDX-License-Identifier: Apache-2.0
// A whole broker as a simulated process: the production code from server.properties to sockets.
#pragma once

#include "sim.h"

enum { SIM_BROKER_PORT = 9092 };
struct sim_broker {
    struct os_host *host;
    char properties[2048];           // the text of server.properties
    uint64_t validation_cost_max_ns; // of its options
    int64_t skew_ms;                 // of its wall clock
    int ready;                       // how often it has come up
    char failure[256];               // the last time it could not
    bool has_had_disk_trouble;
};
// How a scenario begins and ends. The struct of its own (zeroed, for the whole run); the broker: a host "broker" with
// disks /disk and, if there are two, /disk2, each with a log directory; the properties differ from seed to seed in what
// may not matter (cores, sizes, times, which batches are checked by a thread).
void *sim_new(size_t size_bytes);
struct sim_broker *sim_broker_create(int disks);
// Starts it, and it must come up.
void sim_broker_come_up(struct sim_broker *b);
// After the last trouble: it must run.
void sim_broker_check_runs(const struct sim_broker *b);
// Stops it in order; if nobody has hurt its disks, it has logged no error.
void sim_broker_finish(struct sim_broker *b);
__attribute__((format(printf, 2, 3))) void sim_broker_property(struct sim_broker *b, const char *format, ...);
void sim_broker_start(struct sim_broker *b);
bool sim_broker_is_ready(void *broker); // since the last start; for sim_run
bool sim_broker_has_ended(void *broker);
void sim_broker_await(struct sim_broker *b); // ready, within a minute
// SIGTERM, and the orderly end that must follow: status 0 within a minute.
void sim_broker_stop(struct sim_broker *b);
// Lets the time pass, and something bad happen at the end of it: kill, power cut, restart, partition, reset, stall. The
// broker runs again afterwards. others: the host that may be cut off.
void sim_broker_trouble(struct sim_broker *b, struct os_host *others);
// Sets the wall clock anywhere within five hours of the true time.
void sim_broker_jump_clock(struct sim_broker *b);
// Two log directories on two disks, the metadata on the first: one of /disk and /disk2 fails or fills up for a while.
void sim_broker_disk_trouble(struct sim_broker *b);
// After that: a broker that could not write its metadata has ended, or is about to; it is started again.
void sim_broker_revive(struct sim_broker *b);
