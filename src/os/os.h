// SPDX-License-Identifier: Apache-2.0
// The seam between the broker and the world: files, sockets, clocks,
// randomness, threads, signals, the terminal. Nothing above this header makes a
// system call. It is implemented twice, and the implementation is chosen when a
// program is linked: src/os/linux (io_uring) and tests/sim (whole brokers in
// one thread from one seed).
//
//   struct os_host   the machine as one process sees it: its file system,
//                    network and helper threads. Shared by all cores.
//   struct os        one core's engine: completions, clock, randomness. Used
//                    only by the thread that runs that core.
//   struct os_op     one asynchronous operation, embedded in whatever waits
//                    for it.
//
// Results are >= 0, or a negative errno. Descriptors are small integers >= 0
// (on Linux: file descriptors), valid for every core of the host. Paths are
// absolute or relative to the working directory, terminated by NUL. [any] marks
// what may be called on every thread, offloaded functions included; [core] what
// only the core's own thread may call.
#pragma once

#include "base/slice.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct os_host;
struct os;

// ---- asynchronous operations
// Zero it (or OS_OP(done)) before the first use; it can be used again once it
// is no longer in flight. While in_flight the op and every buffer lent to it
// stay where they are. `done` runs on the core's thread inside os_wait(), never
// inside the call that started the operation, even if the result was known at
// once; it should do no more than note the result and wake a flow. There is no
// cancelling: os_shutdown() makes the operations on a socket complete,
// everything else completes by itself.
struct os_op {
    void (*done)(struct os_op *op);
    int64_t result;
    bool in_flight;
    // private to the implementation
    struct os_op *next;
    uint64_t private[6];
};
#define OS_OP(done_function) ((struct os_op){.done = (done_function)})

// ---- cores
// [any] NULL and a negative errno in *error when the engine cannot be had
// (io_uring refused: -EPERM, -ENOSYS, -ENOMEM). depth: how many operations may
// be in flight at least; more wait inside the os layer, they never fail for
// want of room.
struct os *os_create(struct os_host *host, int core_id, uint32_t depth, int *error);
// [core] Nothing may be in flight.
void os_destroy(struct os *os);
struct os_host *os_host_of(struct os *os);

// [core] Submits what was started, then delivers completions; blocks until
// there is at least one, a doorbell, or deadline_ns (of os_now_ns's clock; 0 =
// do not block; UINT64_MAX = no deadline).
void os_wait(struct os *os, uint64_t deadline_ns);
// [any] The doorbell: the next or present os_wait of that core returns. Cheap
// to repeat.
void os_ring_doorbell(struct os *os);

// Runs entries[i].turn(entries[i].argument) again and again until it returns
// false, each entry on a thread of its own, pinned to cpu (or not pinned if <
// 0). Returns when all have ended. (The simulator takes turns instead.)
struct os_core_entry {
    const char *name; // of the thread, at most 15 bytes
    int cpu;
    bool (*turn)(void *argument);
    void *argument;
};
void os_run_cores(struct os_host *host, struct os_core_entry *entries, int count);

// ---- clock and randomness
uint64_t os_now_ns(struct os *os);             // [core] monotonic, never 0
int64_t os_wall_ms(struct os *os);             // [core] Unix time
int64_t os_host_wall_ms(struct os_host *host); // [any]
uint64_t os_random(struct os *os);             // [core] 64 random bits, fit for ids and hash seeds
uint64_t os_host_random(struct os_host *host); // [any]

// ---- functions on helper threads
// [core] Runs function(host, argument) on a helper thread; its return value is
// the op's result. The function owns what argument points to until the op is
// done, touches nothing else, and may use the [any] calls. At most
// OS_HELPERS_MAX run at once, the rest wait in order.
enum { OS_HELPERS_MAX = 4 };
typedef int64_t os_offload_function(struct os_host *host, void *argument);
void os_offload(struct os *os, struct os_op *op, os_offload_function *function, void *argument);
// [core] The same for functions that compute for long and do not sleep. They have
// threads of their own, one a CPU (2 at least, OS_COMPUTERS_MAX at most), so that
// functions that sleep do not wait for them.
enum { OS_COMPUTERS_MAX = 16 };
void os_compute(struct os *os, struct os_op *op, os_offload_function *function, void *argument);

// ---- files: calls that complete at once
// [any], but on a core only those that cannot sleep: os_pwritev of a cached
// file, os_pread_nowait, os_close.
enum {
    OS_READ = 1,
    OS_WRITE = 2,
    OS_CREATE = 4,    // mode 0644; durable only after os_fsync of the parent directory
    OS_EXCLUSIVE = 8, // with OS_CREATE: -EEXIST if it is there
    OS_TRUNCATE = 16,
    OS_DIRECTORY = 32, // with OS_READ: to fsync it
};
struct os_vector {
    const void *data;
    size_t size;
};
struct os_stat {
    uint64_t size_bytes;
    int64_t modified_ms;
    bool is_directory;
    uint64_t device; // equal for paths of one file system
};
// -ESPIPE: a FIFO, which could be waited for.
int os_open(struct os_host *host, const char *path, int flags);
int os_close(struct os_host *host, int file); // also sockets
// Reads until size bytes or the end of the file: a short result means the end.
int64_t os_pread(struct os_host *host, int file, void *buffer, size_t size, uint64_t position);
// Only what is in the page cache: -EAGAIN when some of it is not. May be short.
int64_t os_pread_nowait(struct os_host *host, int file, void *buffer, size_t size, uint64_t position);
// May write less than asked (disk full, a signal): the caller goes on from
// there. count <= OS_VECTORS_MAX.
enum { OS_VECTORS_MAX = 64 };
int64_t os_pwritev(struct os_host *host, int file, const struct os_vector *vectors, int count, uint64_t position);
int os_fsync(struct os_host *host, int file);     // data and metadata; directories too
int os_fdatasync(struct os_host *host, int file); // data and what is needed to read it
int os_sync_filesystem(struct os_host *host, int file);
// Whether that is as good as an fdatasync of each of its files: waits for the device, and tells of all that failed.
// Known of ext4, XFS, Btrfs and F2FS. overlayfs does not tell what the layer below has met, FUSE may not ask its
// server.
bool os_sync_filesystem_is_enough(struct os_host *host, int file);
int os_truncate(struct os_host *host, int file, uint64_t size_bytes);
// Makes an empty file so long, of zeros, with all its space reserved (where the file system cannot: without).
int os_allocate(struct os_host *host, int file, uint64_t size_bytes);
// Reserves space for what will be written there; the size stays.
int os_reserve(struct os_host *host, int file, uint64_t position, uint64_t size_bytes);
int os_will_need(struct os_host *host, int file, uint64_t position, uint64_t size_bytes);
int os_stat(struct os_host *host, const char *path, struct os_stat *stat);
int os_stat_file(struct os_host *host, int file, struct os_stat *stat);
int os_set_modified(struct os_host *host, const char *path, int64_t modified_ms);
int os_rename(struct os_host *host, const char *from, const char *to); // replaces `to`
int os_unlink(struct os_host *host, const char *path);
int os_mkdir(struct os_host *host, const char *path);
int os_rmdir(struct os_host *host, const char *path);
// Calls entry(context, name) for each entry but . and .., in bytewise order of
// names; stops at the first non-zero answer and returns it.
int os_list_directory(struct os_host *host, const char *path, int (*entry)(void *context, const char *name),
                      void *context);
// An exclusive lock that lasts until the file is closed or the process ends:
// -EAGAIN if another process has it.
int os_lock(struct os_host *host, int file);
int os_space(struct os_host *host, const char *path, uint64_t *total_bytes, uint64_t *available_bytes);

// ---- files: operations
void os_pwritev_start(struct os *os, struct os_op *op, int file, const struct os_vector *vectors, int count,
                      uint64_t position);
void os_fdatasync_start(struct os *os, struct os_op *op, int file);
// Lets what was written there go to the disk; nobody waits for it, and nothing is promised. size_bytes <= UINT32_MAX.
void os_start_writeback(struct os *os, int file, uint64_t position, uint64_t size_bytes);
// Reads from the disk without blocking the core; also how a cold range is
// brought into the page cache before it is sent.
void os_pread_start(struct os *os, struct os_op *op, int file, void *buffer, size_t size, uint64_t position);

// ---- sockets
struct os_address {
    char text[64]; // numeric, "127.0.0.1" or "::1"
    uint16_t port;
};
// [core] Listens; port 0 lets the system choose. *bound gets the address. The
// address text may be a name ("localhost"), "" or "0.0.0.0".
int os_listen(struct os *os, const char *address, uint16_t port, int backlog, struct os_address *bound);
// The kernel's buffers of a listener's future connections, or of a socket; 0 leaves what the system chooses. The kernel
// may give less.
void os_set_socket_buffers(struct os_host *host, int socket, uint32_t receive_bytes, uint32_t send_bytes);
// The result is a new socket, TCP_NODELAY set; *peer is filled.
void os_accept_start(struct os *os, struct os_op *op, int listener, struct os_address *peer);
// Name or numeric address; the result is a connected socket.
void os_connect_start(struct os *os, struct os_op *op, const char *address, uint16_t port);
// Any number of bytes up to size; 0 is the end of the stream.
void os_recv_start(struct os *os, struct os_op *op, int socket, void *buffer, size_t size);
// Ends the socket in both directions (a listener too): operations in flight on
// it complete soon. os_close() only after they have.
void os_shutdown(struct os *os, int socket);
// Nothing more will be sent: the peer sees the end of the stream behind what has been. Receiving goes on.
void os_shutdown_send(struct os *os, int socket);

// What is sent: memory, or a range of a file that goes from the page cache to
// the socket without passing through the process.
struct os_slice {
    const void *memory; // NULL: a range of `file`
    int file;
    uint64_t position;
    size_t size;
};
struct os_send {
    struct os_op op; // result: all bytes (the sum of the slices), or a negative
                     // errno; -EIO: a file was shorter than its slice
    const struct os_slice *slices;
    size_t count;
    int64_t sent_bytes; // so far: one that does not move belongs to a peer that does not read
    // private to the implementation
    int socket;
    size_t index;      // the slice being sent
    size_t done_bytes; // of that slice
};
// [core] One send in flight a socket. The slices, their memory and files stay
// until it is done.
void os_send_start(struct os *os, struct os_send *send, int socket, const struct os_slice *slices, size_t count);

// ---- the process
// Completes when the process is asked to stop (SIGTERM, SIGINT) or to say how
// it is (SIGUSR1, OS_SIGNAL_REPORT): the result is the signal's number. One
// core only.
enum { OS_SIGNAL_REPORT = 10 };
void os_signal_start(struct os *os, struct os_op *op);
uint64_t os_memory_bytes(struct os_host *host); // of the machine, or of the cgroup if that is less
int os_cpus(struct os_host *host, int *cpus,
            int capacity);                               // those that the process may use; returns how many
int64_t os_raise_descriptor_limit(struct os_host *host); // soft limit to the hard one; returns the limit
void os_print_error(struct os_host *host, const char *text,
                    size_t size);     // standard error, whole lines
const char *os_error_text(int error); // [any] of an errno, positive or negative; static text
_Noreturn void os_exit(struct os_host *host,
                       int status); // [any] at once: no clean-up
