// SPDX-License-Identifier: Apache-2.0
// The simulated world as a scenario sees it: hosts, processes, disks, a network and virtual time, all in this thread
// and all decided by one seed. The programs that run in it see only src/os/os.h, which process.c, disk_calls.c and
// net.c implement.
//
// Time is virtual: it jumps from event to event. A turn of a core, a disk operation, a packet take some nanoseconds
// that the seed chooses. Nothing depends on addresses, on the real clock or on the order of anything that is not
// ordered: the same seed gives the same trace, and sim_hash() shows it.
//
// There is one world in a process (a scenario runs in a process of its own), so these functions take no handle to it.
#pragma once

#include "core/core.h"
#include "os/os.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    SIM_US = 1000,
    SIM_MS = 1000 * SIM_US,
};
#define SIM_SECOND 1000000000ull

// One generator for each purpose: a fault more does not change what the workload does.
enum sim_stream { SIM_SCHEDULE, SIM_NETWORK, SIM_DISK, SIM_FAULTS, SIM_OS_RANDOM, SIM_WORKLOAD, SIM_STREAMS };

// ---- the world -----------------------------------------------------------------------------------------------------
void sim_create(uint64_t seed, const char *scenario, bool verbose);
uint64_t sim_seed(void);
uint64_t sim_now_ns(void);
uint64_t sim_hash(void);   // of everything that happened so far
uint64_t sim_events(void); // how many events ran so far

uint64_t sim_random(enum sim_stream stream);
uint64_t sim_range(enum sim_stream stream, uint64_t low, uint64_t high); // both included
bool sim_chance(enum sim_stream stream, uint32_t per_million);

// Runs until condition(context) is true (checked after every event), and returns true; or until within_ns have passed,
// and returns false. condition NULL: just lets the time pass.
bool sim_run(uint64_t within_ns, bool (*condition)(void *), void *context);
// Calls function(context) after delay_ns, from the scheduler: it may crash hosts, but not block.
void sim_after(uint64_t delay_ns, void (*function)(void *), void *context);

// Something that must not happen has happened: prints seed, virtual time and the reason, ends the process with
// status 1.
_Noreturn __attribute__((format(printf, 1, 2))) void sim_fail(const char *format, ...);
#define SIM_CHECK(condition, ...) ((condition) ? (void)0 : sim_fail(__VA_ARGS__))

// Into the hash, and printed with -v. host may be NULL; core_id -1: not on a core.
void sim_trace(struct os_host *host, int core_id, const char *label, const char *detail, uint64_t number);

// ---- hosts and processes -------------------------------------------------------------------------------------------
struct sim_host_options {
    int cpus;
    uint64_t memory_bytes;
    uint64_t disk_bytes; // capacity of each of its file systems
    int64_t wall_skew_ms;
};
#define SIM_HOST_DEFAULT ((struct sim_host_options){.cpus = 2, .memory_bytes = 512u << 20, .disk_bytes = 256u << 20})
// Its address is its name, or 10.0.0.<id>. It has a root directory; each directory in it is a file system (a device).
struct os_host *sim_host_create(const char *name, struct sim_host_options options);

// One process a host: main(host, argument) runs on a stack of its own, may block, and its result is the exit status.
typedef int sim_main(struct os_host *host, void *argument);
void sim_start(struct os_host *host, sim_main *main, void *argument);
bool sim_is_running(const struct os_host *host);
uint32_t sim_starts(const char *host_name);      // how many processes have run on it
int sim_exit_status(const struct os_host *host); // of the last process that ended by itself
enum sim_crash {
    SIM_KILL,  // the process dies; the page cache, and what it had sent, live on
    SIM_POWER, // the machine dies: what was not synced is lost, in part or whole; nobody tells its peers
};
void sim_crash(struct os_host *host, enum sim_crash how);
void sim_terminate(struct os_host *host); // SIGTERM
// Printed by the processes of the host with os_print_error so far: how many lines contain `text`.
int sim_log_lines_with(const struct os_host *host, const char *text);
// Stalls every core of the host for a while, as a busy machine does.
void sim_stall(struct os_host *host, uint64_t duration_ns);
// Or only one, while the others go on; nothing if the process has no such core (any more).
void sim_stall_core(struct os_host *host, int core, uint64_t duration_ns);
// The wall clock of the host is set forward or back; its monotonic clock goes on.
void sim_jump_wall_clock(struct os_host *host, int64_t by_ms);
// A core may call what can sleep (open, fsync, rename): only for programs that are not under test.
void sim_allow_blocking_cores(struct os_host *host);

// In a process's main function or an offloaded function.
void sim_sleep(struct os_host *host, uint64_t duration_ns);

// A process of one data core and a control core: start(core, argument) runs on core 0 before the first turn.
struct sim_program {
    void (*start)(struct core *core, void *argument);
    void *argument;
    int data_cores; // 0 counts as 1; start runs on core 0 only
};
int sim_program_main(struct os_host *host, void *program);
// The core's part in the trace and the hash; os_run_cores does it for every core of a core_set.
void sim_trace_core(struct core *core);

// ---- disks ---------------------------------------------------------------------------------------------------------
// Probabilities are per million operations; `*_in` counts down: 1 = the next one fails, 0 = none.
struct sim_disk_faults {
    uint32_t read_eio, write_eio, fsync_eio, short_write, cache_miss, slow;
    uint32_t read_eio_in, write_eio_in, fsync_eio_in;
    uint32_t open_emfile; // of the openings of files
    uint64_t slow_ns;     // what a slow operation takes at most
    uint64_t capacity;    // bytes
};
// path: any on that device; the device exists.
struct sim_disk_faults *sim_disk_faults(struct os_host *host, const char *path);
void sim_mkdir(struct os_host *host, const char *path); // durable at once
void sim_wipe(struct os_host *host, const char *path);  // empties a directory without subdirectories, durably
// Content as the processes see it (page cache), and as a power cut would leave it at worst. NULL: no such file.
const uint8_t *sim_file(struct os_host *host, const char *path, uint64_t *size);
const uint8_t *sim_file_durable(struct os_host *host, const char *path, uint64_t *size);
uint64_t sim_disk_syncs(const struct os_host *host); // fsyncs that succeeded so far

// ---- network -------------------------------------------------------------------------------------------------------
struct sim_net_options {
    uint64_t latency_min_ns, latency_max_ns;
    uint64_t bytes_per_ms;
    uint32_t split; // per million: a recv gets only a part of what is there
    uint32_t reset; // per million pushes: the connection is reset
    uint32_t window_bytes;
};
struct sim_net_options *sim_net(void);
void sim_partition(struct os_host *a, struct os_host *b, bool cut);
void sim_reset_connections(struct os_host *host);
