// SPDX-License-Identifier: Apache-2.0
// What an error of a system call says about the disk. A shortage passes: what was to be written is not on the disk, but
// nothing that was there is lost, so that the caller may take its work back, and try again later.
//
// Not for the result of an fsync: what an fsync that fails has lost is not known, whatever its error.
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

// error: 0 or negative; EFBIG is the limit of file sizes.
static inline bool os_is_full_disk(int64_t error) {
    return error == -ENOSPC || error == -EDQUOT || error == -EFBIG;
}

// A full disk, or no descriptors left (clients can use them up), or no memory for the kernel.
static inline bool os_is_shortage(int64_t error) {
    return os_is_full_disk(error) || error == -EMFILE || error == -ENFILE || error == -ENOMEM;
}
