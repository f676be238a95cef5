// SPDX-License-Identifier: Apache-2.0
// Batches and records of one segment file, as text or as JSON. Damage is shown where it is; a batch whose bytes are all
// there is passed over, and the dump goes on behind it.
#include "cli/log_commands.h"
#include "log/producers_batch.h"
#include "log/walk.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH_BYTES_MAX = 256 << 20 };

static const char *codec_text(int codec) {
    static const char *const names[] = {"none", "gzip", "snappy", "lz4", "zstd", "unknown", "unknown", "unknown"};
    return names[codec & 7];
}

// ---- batches
// ---------------------------------------------------------------------------------------------------------------------------
static void print_batch_text(const struct walk *w) {
    const struct batch *b = &w->batch;
    char time[LOG_TIME_TEXT_BYTES];
    printf("batch %" PRId64 "-%" PRId64 " position %" PRIu64 " bytes %" PRIu64 " records %" PRId32 " epoch %" PRId32
           " %s %s codec %s magic %d",
           b->base_offset, walk_last_offset(w), w->batch_position, w->batch_bytes, b->count, b->partition_leader_epoch,
           batch_is_log_append_time(b) ? "appended" : "created", log_time_text(b->max_timestamp, time),
           codec_text(batch_codec(b)), w->magic);
    if (b->producer_id >= 0) printf(" producer %" PRId64 " epoch %d", b->producer_id, b->producer_epoch);
    if (b->base_sequence >= 0) printf(" sequence %" PRId32 "-%" PRId32, b->base_sequence, batch_last_sequence(b));
    if (batch_is_transactional(b)) fputs(" transactional", stdout);
    if (batch_is_control(b)) fputs(" control", stdout);
    putchar('\n');
}

static void print_batch_json(const struct walk *w) {
    const struct batch *b = &w->batch;
    printf("{\"type\":\"batch\",\"baseOffset\":%" PRId64 ",\"lastOffset\":%" PRId64 ",\"position\":%" PRIu64
           ",\"bytes\":%" PRIu64 ",\"count\":%" PRId32 ",\"partitionLeaderEpoch\":%" PRId32
           ",\"magic\":%d,\"codec\":\"%s\""
           ",\"timestampType\":\"%s\",\"baseTimestamp\":%" PRId64 ",\"maxTimestamp\":%" PRId64
           ",\"producerId\":%" PRId64 ",\"producerEpoch\":%d,\"baseSequence\":%" PRId32 ",\"lastSequence\":%" PRId32
           ",\"isTransactional\":%s,\"isControl\":%s,\"crc\":%" PRIu32 "}\n",
           b->base_offset, walk_last_offset(w), w->batch_position, w->batch_bytes, b->count, b->partition_leader_epoch,
           w->magic, codec_text(batch_codec(b)), batch_is_log_append_time(b) ? "LogAppendTime" : "CreateTime",
           b->base_timestamp, b->max_timestamp, b->producer_id, b->producer_epoch, b->base_sequence,
           batch_last_sequence(b), batch_is_transactional(b) ? "true" : "false", batch_is_control(b) ? "true" : "false",
           b->crc);
}

static void print_damage(const struct log_dump *dump, const char *path, const char *what) {
    if (dump->json) {
        fputs("{\"type\":\"damage\",\"file\":", stdout);
        log_print_string(log_text(path));
        fputs(",\"what\":", stdout);
        log_print_string(log_text(what));
        puts("}");
    } else {
        printf("DAMAGED %s\n", what);
    }
    fprintf(stderr, "tailrace log dump: %s: %s\n", path, what);
}

// ---- records
// ---------------------------------------------------------------------------------------------------------------------------
static void print_key_and_value(const struct log_dump *dump, const struct tailrace_record *r) {
    const char *key = dump->json ? ",\"key\":" : "  key ", *value = dump->json ? ",\"value\":" : "  value ";
    fputs(key, stdout);
    if (!dump->is_offsets || !log_print_offsets_key(r->key)) log_print_value(r->key, dump->key_format);
    fputs(value, stdout);
    if (!dump->is_offsets || !log_print_offsets_value(r->key, r->value)) log_print_value(r->value, dump->value_format);
}

static void print_headers(const struct log_dump *dump, struct tailrace_record *r) {
    struct tailrace_bytes key, value;
    if (r->header_count == 0 && !dump->json) return;
    fputs(dump->json ? ",\"headers\":[" : "  headers ", stdout);
    for (int i = 0; tailrace_next_header(r, &key, &value); i++) {
        fputs(i == 0 ? "" : dump->json ? "," : " ", stdout);
        if (dump->json) fputs("{\"key\":", stdout);
        log_print_string(key);
        fputs(dump->json ? ",\"value\":" : "=", stdout);
        log_print_value(value, dump->value_format == LOG_VALUE_JSON ? LOG_VALUE_TEXT : dump->value_format);
        if (dump->json) putchar('}');
    }
    if (dump->json) putchar(']');
}

static void print_record(const struct log_dump *dump, struct tailrace_record *r) {
    char time[LOG_TIME_TEXT_BYTES];
    if (dump->json)
        printf("{\"type\":\"record\",\"offset\":%" PRId64 ",\"timestamp\":%" PRId64, r->offset, r->timestamp);
    else
        printf("  %" PRId64 "  %s", r->offset, log_time_text(r->timestamp, time));
    if (r->sequence >= 0) printf(dump->json ? ",\"sequence\":%" PRId32 : "  sequence %" PRId32, r->sequence);
    print_key_and_value(dump, r);
    print_headers(dump, r);
    puts(dump->json ? "}" : "");
}

static void print_marker(const struct log_dump *dump, const struct batch *batch) {
    struct marker marker;
    if (!marker_read(batch, &marker)) return;
    const char *type = marker.type == MARKER_ABORT ? "abort" : marker.type == MARKER_COMMIT ? "commit" : "other";
    printf(dump->json ? "{\"type\":\"marker\",\"offset\":%" PRId64 ",\"marker\":\"%s\",\"coordinatorEpoch\":%" PRId32
                        "}\n"
                      : "  %" PRId64 "  %s  coordinator epoch %" PRId32 "\n",
           batch->base_offset, type, marker.coordinator_epoch);
}

static bool is_record_wanted(const struct log_range *range, const struct tailrace_record *r) {
    return r->offset >= range->from_offset && r->offset <= range->to_offset && r->timestamp >= range->from_time_ms &&
           r->timestamp <= range->to_time_ms;
}

// Static text, or NULL if all records could be read.
static const char *dump_records(struct log_dump *dump, const struct walk *w) {
    struct tailrace_reader *reader = tailrace_reader_open(w->batch.bytes.data, w->batch.bytes.size);
    struct tailrace_batch batch;
    struct tailrace_record record;
    enum tailrace_status status = tailrace_next_batch(reader, &batch);
    while (status == TAILRACE_OK && dump->printed < dump->range.limit &&
           (status = tailrace_next_record(reader, &record)) == TAILRACE_OK) {
        if (!is_record_wanted(&dump->range, &record)) continue;
        print_record(dump, &record);
        dump->printed++;
    }
    const char *reason = status == TAILRACE_CORRUPT      ? tailrace_reader_reason(reader)
                         : status == TAILRACE_INCOMPLETE ? "the records are cut short"
                                                         : NULL;
    tailrace_reader_close(reader);
    return reason;
}

// ---- the file
// --------------------------------------------------------------------------------------------------------------------------
// A batch with a record in the range of times. The header has the latest time; if that is too late, there may be
// earlier ones, in any order.
static bool has_record_in_time(const struct log_range *range, struct walk *w) {
    if (w->batch.max_timestamp < range->from_time_ms) return false;
    if (w->batch.max_timestamp <= range->to_time_ms) return true;
    if (walk_load_batch(w, BATCH_BYTES_MAX) != WALK_BATCH) return true; // not known
    struct tailrace_reader *reader = tailrace_reader_open(w->batch.bytes.data, w->batch.bytes.size);
    struct tailrace_batch batch;
    struct tailrace_record record;
    bool found = false;
    enum tailrace_status status = tailrace_next_batch(reader, &batch);
    while (!found && status == TAILRACE_OK && (status = tailrace_next_record(reader, &record)) == TAILRACE_OK)
        found = record.timestamp >= range->from_time_ms && record.timestamp <= range->to_time_ms;
    tailrace_reader_close(reader);
    return found || status == TAILRACE_CORRUPT || status == TAILRACE_INCOMPLETE;
}

static bool is_batch_wanted(const struct log_range *range, struct walk *w) {
    if (walk_last_offset(w) < range->from_offset || w->batch.base_offset > range->to_offset) return false;
    bool has_time = range->from_time_ms != INT64_MIN || range->to_time_ms != INT64_MAX;
    return !has_time || has_record_in_time(range, w);
}

static int dump_batch(struct log_dump *dump, const char *path, struct walk *w) {
    if (dump->json)
        print_batch_json(w);
    else
        print_batch_text(w);
    if (!dump->records) {
        dump->printed++;
        return CLI_OK;
    }
    enum walk_status status = walk_load_batch(w, BATCH_BYTES_MAX);
    if (status == WALK_FAILED) return log_path_error("dump", path, w->error);
    const char *reason = NULL;
    if (status != WALK_BATCH)
        reason = w->reason;
    else if (batch_is_control(&w->batch))
        print_marker(dump, &w->batch);
    else
        reason = dump_records(dump, w);
    if (!reason) return CLI_OK;
    char what[300];
    snprintf(what, sizeof what, "byte %" PRIu64 ": %s", w->batch_position, reason);
    print_damage(dump, path, what);
    return CLI_FAILED;
}

static int dump_walk(struct log_dump *dump, const char *path, struct walk *w) {
    int status = CLI_OK;
    while (dump->printed < dump->range.limit) {
        enum walk_status step = walk_next(w);
        if (step == WALK_END) return status;
        if (step == WALK_FAILED) return log_path_error("dump", path, w->error);
        if (step == WALK_DAMAGED) {
            print_damage(dump, path, w->reason);
            status = CLI_FAILED;
            if (!w->is_whole) return status;
            walk_skip(w);
        } else if (w->batch.base_offset > dump->range.to_offset) {
            return status;
        } else if (is_batch_wanted(&dump->range, w) && dump_batch(dump, path, w) != CLI_OK) {
            status = CLI_FAILED;
        }
    }
    return status;
}

int log_dump_batches(struct log_dump *dump, const char *path, int64_t base_offset) {
    struct os_stat stat;
    int file = os_open(dump->host, path, OS_READ);
    if (file < 0) return log_path_error("dump", path, file);
    int error = os_stat_file(dump->host, file, &stat);
    if (error < 0) {
        os_close(dump->host, file);
        return log_path_error("dump", path, error);
    }
    if (dump->json) {
        fputs("{\"type\":\"file\",\"path\":", stdout);
        log_print_string(log_text(path));
        printf(",\"bytes\":%" PRIu64 "}\n", stat.size_bytes);
    } else {
        printf("%s: %" PRIu64 " bytes\n", path, stat.size_bytes);
    }
    struct walk walk = {.host = dump->host,
                        .file = file,
                        .end_position = stat.size_bytes,
                        .next_offset = base_offset,
                        .check_crc = true};
    int status = dump_walk(dump, path, &walk);
    walk_close(&walk);
    os_close(dump->host, file);
    return status;
}
