// SPDX-License-Identifier: Apache-2.0
// What the files of loading share (load.c, tidy.c, recover.c). Not for others. Everything blocks and works on a log
// that nobody else has yet.
#pragma once

#include "log/files.h"
#include "log/internal.h"
#include "log/snapshot.h"

// Results besides 0 and negative errnos.
enum {
    LOADING_CORRUPT = -1000001, // the partition cannot be used as it is: *reason says why; nothing was cut
    LOADING_AGAIN = -1000002,   // what was trusted (clean marker, index, recovery point) does not hold: read more
};

struct loading {
    struct os_host *host;
    struct log_load *load;
    struct text reason; // into load->reason
    const char *path;   // of the partition directory
    int64_t now_ms;
    struct name_list names; // in the directory; after loading_tidy

    // one attempt
    struct log *log;
    bool clean;             // end of log and indexes are trusted
    int64_t recovery_point; // below it nothing is checked; INT64_MAX: all is trusted
    bool rebuild_epochs;    // the epoch file was damaged: from all batches
    bool had_snapshot;      // producer state did not begin from nothing
    bool directory_changed; // names in it: fsync it at the end
};
// Adds to load->reason, separated by "; ".
__attribute__((format(printf, 2, 3))) void loading_note(struct loading *l, const char *format, ...);

// tidy.c: finishes or takes back what a crash has interrupted: .deleted, .cleaned, .swap, .tmp files; index files
// without a log.
int64_t loading_tidy(struct loading *l);
// Whether the names have "<base offset><suffix>".
bool loading_has_file(const struct loading *l, int64_t base_offset, const char *suffix);

// recover_segment.c: one pass over a segment of which nothing is known but its size (segment->size_bytes).
struct segment_pass {
    int64_t check_from; // batches that end at or after it have their checksums verified
    int64_t apply_from; // those that begin at or after it count for epochs, producers and aborted transactions
    int64_t below;      // batches must end below it: the next segment's base
    bool use_index;     // begin at the last index entry before check_from, if the index is good
    // out
    uint64_t valid_bytes; // up to the end, or to the first bad byte
    int64_t end_offset;   // behind the last batch of these
    bool damaged;
    char why[160]; // with damaged: "byte 17: ..."
};
// Builds the segment's indexes in memory. LOADING_AGAIN: damage below check_from.
int64_t loading_pass(struct loading *l, struct segment *segment, struct segment_pass *pass);
// Batches in [from, to) of the log, without looking at their records: those from producers_from on are applied to the
// producers, those from epochs_from on to the epochs. LOADING_AGAIN: damage.
int64_t loading_replay(struct loading *l, int64_t producers_from, int64_t epochs_from, int64_t to);
// The snapshot at `at` has been loaded: the batches just before it are recalled, as far as that is cheap.
int64_t loading_recall(struct loading *l, int64_t at);
// A segment that is not active: only its size and largest timestamp.
int64_t loading_take_closed(struct loading *l, struct segment *segment);

// recover.c
// The segment that holds `offset`, or the first.
size_t loading_segment_of(const struct loading *l, int64_t offset);
int64_t loading_log_start(const struct loading *l);
// Deletes the files of the segment, the log first, and its snapshot.
int64_t loading_delete_segment(struct loading *l, int64_t base_offset);
// Whether records that are known to have been durable or committed would be missing from a log that ends here.
bool loading_would_lose(const struct loading *l, int64_t end_offset);
// A clean log: finds the end of the active segment. Fills producers, log->end_offset. LOADING_AGAIN: it is not clean.
int64_t loading_open_clean(struct loading *l);
// Checks every batch from the recovery point on, rebuilds what belongs to them, cuts at the first bad byte. Everything
// kept is on stable storage afterwards. LOADING_AGAIN: damage below the recovery point.
int64_t loading_recover(struct loading *l);
