// SPDX-License-Identifier: Apache-2.0
// See perf_payload.h. The letters are one block of twice the record's size, of which each record is another part: a
// record costs nothing to make, and no two in a row are equal.
#include "cli/perf_payload.h"
#include "cli/cli.h"
#include <stdio.h>

static uint64_t next_random(struct perf_payload *p) { // xorshift: the same records in every run
    p->random ^= p->random << 13;
    p->random ^= p->random >> 7;
    p->random ^= p->random << 17;
    return p->random;
}

// Cuts the file into records at the delimiter; an empty one at the end is none.
static bool split(struct perf_payload *p, struct arena *a, struct str file, const char *command) {
    size_t delimiter_size = strlen(p->delimiter), capacity = 1;
    for (size_t pass = 0; pass < 2; pass++) {
        size_t begin = 0;
        p->count = 0;
        while (begin < file.size) {
            const char *at = memmem(file.data + begin, file.size - begin, p->delimiter, delimiter_size);
            size_t end = at ? (size_t)(at - file.data) : file.size;
            if (pass == 1) p->records[p->count] = (struct str){file.data + begin, end - begin};
            p->count++;
            begin = end + delimiter_size;
        }
        capacity = p->count;
        if (capacity == 0 || capacity > PERF_PAYLOAD_RECORDS_MAX) {
            fprintf(stderr, "tailrace %s: %s has %zu records: 1 to %d are allowed\n", command, p->path, capacity,
                    PERF_PAYLOAD_RECORDS_MAX);
            return false;
        }
        if (pass == 0) p->records = arena_alloc(a, capacity * sizeof *p->records);
        if (!p->records) return false;
    }
    return true;
}

bool perf_payload_prepare(struct perf_payload *p, struct arena *a, const char *command) {
    p->random = 0x9e3779b97f4a7c15ULL;
    if (p->monotonic) return true;
    if (p->path) {
        struct str file;
        return cli_read_file(a, command, p->path, PERF_PAYLOAD_FILE_MAX, &file) && split(p, a, file, command);
    }
    size_t size = 2 * (size_t)p->record_size_bytes;
    p->letters = arena_alloc(a, size);
    if (!p->letters) {
        fprintf(stderr, "tailrace %s: no memory for records of %lld bytes\n", command, (long long)p->record_size_bytes);
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        p->letters[i] = (char)('A' + next_random(p) % 26);
    }
    return true;
}

struct str perf_payload_next(struct perf_payload *p, int64_t i) {
    if (p->monotonic) {
        int size = snprintf(p->number, sizeof p->number, "%lld", (long long)i);
        return (struct str){p->number, (size_t)size};
    }
    if (p->records) return p->records[next_random(p) % p->count];
    size_t size = (size_t)p->record_size_bytes;
    return (struct str){p->letters + next_random(p) % (size + 1), size};
}
