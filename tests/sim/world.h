// SPDX-License-Identifier: Apache-2.0
// Inside the simulator: events, fibers, and the state of hosts. Scenarios include sim.h only.
#pragma once

#include "base/assert.h"
#include "base/bits.h"
#include "base/list.h"
#include "sim.h"
#include <stdarg.h>
#include <stdlib.h>

// ---- events: what will happen when
// ----------------------------------------------------------------------------------- An event of a process
// (incarnation != 0) is dropped when that process is no more.
struct event {
    uint64_t time_ns, sequence; // the heap's order; sequence is unique
    struct os_host *host;
    uint32_t incarnation;
    void (*run)(struct event *event);
    void *a, *b;
    uint64_t n;
};
// host NULL: an event of the world.
void event_add(uint64_t delay_ns, void (*run)(struct event *), struct os_host *process, void *a, void *b, uint64_t n);

// ---- fibers: code that may block
// --------------------------------------------------------------------------------------
struct fiber {
    void *stack, *stack_pointer;
    struct fiber *next; // in the pool, or in the host's list
    struct os_host *host;
    struct os *os; // of a core
    void (*run)(struct fiber *fiber);
    void *argument;
    bool finished;
    void *fake_stack; // AddressSanitizer's
};
struct fiber *fiber_create(struct os_host *host, void (*run)(struct fiber *), void *argument);
void fiber_resume(struct fiber *fiber); // from the scheduler only; returns when it blocks or ends
void fiber_yield(void);                 // from a fiber only
void fiber_wake_after(struct fiber *fiber, uint64_t delay_ns);
void fiber_drop(struct fiber *fiber); // it will never run again
// Lets the time pass if we are in a fiber; in a core's turn it is a fault of the program ("what" blocks the core)
// unless that host may; in the scenario nothing happens.
void sim_block(struct os_host *host, const char *what, uint64_t delay_ns);

// ---- hosts
// ------------------------------------------------------------------------------------------------------------
enum handle_kind { HANDLE_FREE, HANDLE_FILE, HANDLE_SOCKET, HANDLE_LISTENER };
struct handle {
    enum handle_kind kind;
    int flags;                 // OS_READ...
    uint32_t errors_seen;      // of the inode's
    uint32_t disk_errors_seen; // of the disk's
    struct inode *inode;
    struct endpoint *endpoint;
    struct listener *listener;
};
enum { SIM_HANDLES_MAX = 65536, SIM_CORES_MAX = 16, SIM_LOG_LINES_MAX = 4096, SIM_DISKS_MAX = 8 };

struct os {
    struct os_host *host;
    int core_id;
    struct os_op *ready, **ready_last;
    uint64_t in_flight;
    bool doorbell, idle;
    uint64_t stalled_until_ns;
    uint64_t wait; // a planned end of another wait is out of date
    struct fiber *waiter;
};
struct offload {
    struct offload *next;
    struct os *os;
    struct os_op *op;
    os_offload_function *function;
    void *argument;
    int64_t result;
    bool computes;
};
struct disk {
    int id;
    uint64_t used_bytes;
    struct sim_disk_faults faults;
    struct list inodes;    // in order of creation
    uint32_t write_errors; // failed write-backs of all inodes so far
    bool error_is_reported;
};
struct os_host {
    int id;
    char name[16], address[24];
    struct sim_host_options options;
    bool running, powered_off, may_block;
    uint32_t incarnation; // of the present process; odd numbers and even ones alike
    uint32_t starts;
    int exit_status;
    uint64_t boot_ns, stalled_until_ns;
    struct os *cores[SIM_CORES_MAX]; // of the present process, in order of creation
    int core_count;
    struct fiber *fibers, *main_fiber;
    sim_main *main;
    void *main_argument;
    int run_cores_left;
    struct offload *offloads, **offloads_last;
    int offloads_running;
    struct os_op *signal_op, *signal_delivered;
    struct os *signal_os;
    int signal_pending;
    struct handle *handles;
    int handle_capacity;
    struct inode *root;
    struct disk disks[SIM_DISKS_MAX];
    int disk_count;
    uint64_t syncs;
    struct list listeners, endpoints;
    uint16_t next_port;
    char *log[SIM_LOG_LINES_MAX];
    int log_count;
};
struct handle *handle_get(struct os_host *host, int descriptor); // NULL: not open
int handle_new(struct os_host *host, enum handle_kind kind);     // a descriptor, or -EMFILE

// An operation begins, and completes after a delay or now (its `done` runs in the core's next os_wait).
void op_begin(struct os *os, struct os_op *op);
void op_complete(struct os *os, struct os_op *op, int64_t result);
void op_complete_after(struct os *os, struct os_op *op, int64_t result, uint64_t delay_ns);
void core_wake(struct os *os);

// ---- disk.c, net.c
// ------------------------------------------------------------------------------------------------------
void disk_host_init(struct os_host *host);
void disk_close(struct os_host *host, struct handle *handle);
void disk_power_cut(struct os_host *host);
// What is in the page cache; short at the end of the file.
int64_t disk_peek(struct os_host *host, int file, void *buffer, size_t size, uint64_t position);
void net_host_init(struct os_host *host);
// orderly: the kernel says good-bye; else the machine has vanished.
void net_process_died(struct os_host *host, bool orderly);
int net_close(struct os_host *host, struct handle *handle);

struct world {
    uint64_t seed, now_ns, next_sequence, events_run;
    const char *scenario;
    bool verbose;
    uint64_t random[SIM_STREAMS][4];
    struct event **heap;
    size_t heap_count, heap_capacity;
    struct event *free_events;
    struct os_host *hosts[64];
    int host_count;
    struct os *current_os; // whose core runs
    struct fiber *current_fiber;
    void *scheduler; // its stack pointer, while a fiber runs
    struct fiber *fiber_pool;
    struct sim_net_options net;
    bool cut[64][64];
    uint64_t turn_min_ns, turn_max_ns; // what a turn costs
    uint64_t next_inode, next_connection;
};
extern struct world sim;
