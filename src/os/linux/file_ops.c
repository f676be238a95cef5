// SPDX-License-Identifier: Apache-2.0
// Files: the operations. Writes and syncs go to the ring as they are; a read goes on until it has everything or the
// file ends.
#include "os/linux/engine.h"
#include <errno.h>
#include <fcntl.h>

enum { READ_AT_ONCE_MAX = 1 << 30 };

void os_pwritev_start(struct os *os, struct os_op *op, int file, const struct os_vector *vectors, int count,
                      uint64_t position) {
    ASSERT(count > 0 && count <= OS_VECTORS_MAX);
    engine_begin(os, op);
    *request_of(op) = (struct request){
        .opcode = IORING_OP_WRITEV,
        .fd = file,
        .address = (uint64_t)(uintptr_t)vectors,
        .length = (uint32_t)count,
        .offset = position,
    };
    ring_start(os, op);
}

void os_fdatasync_start(struct os *os, struct os_op *op, int file) {
    engine_begin(os, op);
    *request_of(op) = (struct request){
        .opcode = IORING_OP_FSYNC,
        .flags = REQUEST_NO_RETRY,
        .fd = file,
        .op_flags = IORING_FSYNC_DATASYNC,
    };
    ring_start(os, op);
}

// request.extra is what is still to be read, op->result what has been.
static void pread_submit(struct os *os, struct os_op *op) {
    struct request *request = request_of(op);
    request->length = (uint32_t)(request->extra < READ_AT_ONCE_MAX ? request->extra : READ_AT_ONCE_MAX);
    request->retries = 0;
    ring_start(os, op);
}

static void pread_done(struct os *os, struct os_op *op, int32_t result) {
    if (result < 0) {
        engine_finish(os, op, result);
        return;
    }
    struct request *request = request_of(op);
    ASSERT((uint32_t)result <= request->length);
    op->result += result;
    request->address += (uint32_t)result;
    request->offset += (uint32_t)result;
    request->extra -= (uint32_t)result;
    if (result == 0 || request->extra == 0) {
        engine_finish(os, op, op->result);
    } else {
        pread_submit(os, op);
    }
}

void os_pread_start(struct os *os, struct os_op *op, int file, void *buffer, size_t size, uint64_t position) {
    engine_begin(os, op);
    *request_of(op) = (struct request){
        .opcode = IORING_OP_READ,
        .flags = REQUEST_ASYNC, // else the core itself would submit the disk's reads
        .fd = file,
        .address = (uint64_t)(uintptr_t)buffer,
        .offset = position,
        .complete = pread_done,
        .extra = size,
    };
    pread_submit(os, op);
}

// The kernel allocates the blocks and hands the pages to the disk, for 8 MiB over half a millisecond: on a worker
// thread. A full ring is no reason to leave it out: it is what keeps flushes short.
void os_start_writeback(struct os *os, int file, uint64_t position, uint64_t size_bytes) {
    ASSERT(size_bytes <= UINT32_MAX);
    if (ring_write_back(os, file, position, (uint32_t)size_bytes)) return;
    (void)sync_file_range(file, (off64_t)position, (off64_t)size_bytes, SYNC_FILE_RANGE_WRITE);
}
