// SPDX-License-Identifier: Apache-2.0
// The records that tailrace perf producer sends: random letters, lines of a file, or rising numbers.
#pragma once

#include "base/arena.h"
#include "base/slice.h"

struct perf_payload {
    int64_t record_size_bytes; // > 0: random letters
    const char *path;          // or records from a file
    const char *delimiter;     // what is between them
    bool monotonic;            // or 0, 1, 2, ...
    // private
    uint64_t random;
    char *letters;
    struct str *records;
    size_t count;
    char number[24];
};
enum { PERF_PAYLOAD_FILE_MAX = 1 << 28, PERF_PAYLOAD_RECORDS_MAX = 10000000 };

// Reads the file, or makes the letters. False, and said so.
bool perf_payload_prepare(struct perf_payload *p, struct arena *a, const char *command);
// The i-th record; valid until the next call.
struct str perf_payload_next(struct perf_payload *p, int64_t i);
