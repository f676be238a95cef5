// SPDX-License-Identifier: Apache-2.0
// tailrace log verify: 0 everything is sound, 1 something is damaged (each finding names file and byte), 2 it could not
// be found out.
#include "cli/log_commands.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { VERIFY_SOUND = 0, VERIFY_DAMAGED = 1, VERIFY_FAILED = 2, PATHS_MAX = 64, PROGRESS_BYTES = 32 << 20 };

static int help(void) {
    printf("usage: tailrace log verify PATH... [--records] [--json] [--progress | --quiet]\n\n"
           "Checks log directories, or single partitions: the checksum and offsets of every batch, indexes against the "
           "log,\n"
           "producer snapshots, leader epochs, checkpoints and metadata, tailrace.metadata too. A line for each "
           "finding names\n"
           "file and byte. What a crash leaves at the end of a log, or a running broker is just writing, is a note "
           "and no damage.\n\n"
           "  --records    every record too (decompresses)\n"
           "  --json       one JSON object a line, a summary at the end\n"
           "  --progress   shows progress on standard error also if that is no terminal\n"
           "  --quiet      no notes, no progress, no summary\n\n"
           "exit status: 0 sound, 1 damaged, 2 could not be checked\n\n"
           "example: tailrace log verify data || echo damaged\n");
    return CLI_OK;
}

struct verify {
    const char *paths[PATHS_MAX];
    size_t path_count;
    bool json, quiet, progress, records, wants_help;
    uint64_t total_bytes, done_bytes, shown_bytes;
    struct inspect_totals totals; // of directories too: damages outside of partitions
    const char *now;              // being checked
    bool is_partial;              // some files could not be read
};

// ---- progress
// --------------------------------------------------------------------------------------------------------------------------
static void show_progress(struct verify *v) {
    double percent = v->total_bytes ? 100.0 * (double)v->done_bytes / (double)v->total_bytes : 100;
    fprintf(stderr, "\r%5.1f %%  %" PRIu64 " of %" PRIu64 " MiB  %-40.40s", percent > 100 ? 100 : percent,
            v->done_bytes >> 20, v->total_bytes >> 20, v->now);
    v->shown_bytes = v->done_bytes;
}

static void end_progress(struct verify *v) {
    if (v->progress) fprintf(stderr, "\r%-79s\r", "");
}

static void on_progress(void *context, uint64_t bytes) {
    struct verify *v = context;
    v->done_bytes += bytes;
    if (v->progress && v->done_bytes - v->shown_bytes >= PROGRESS_BYTES) show_progress(v);
}

static void on_finding(void *context, const struct inspect_finding *finding) {
    struct verify *v = context;
    if (v->quiet && !finding->is_damage) return;
    end_progress(v);
    log_print_finding(finding, v->json);
}

static void on_unreadable(void *context, const char *directory, const char *file, int error) {
    struct verify *v = context;
    end_progress(v);
    log_file_error("verify", directory, file, error);
    v->is_partial = true;
}

// Those about the log directory itself are counted here; those of partitions in the totals of the verification.
static void on_directory_finding(void *context, const struct inspect_finding *finding) {
    struct verify *v = context;
    if (finding->is_damage)
        v->totals.damages++;
    else
        v->totals.notes++;
    on_finding(v, finding);
}

static uint64_t count_bytes(struct os_host *host, const struct inspect_dir *dir) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < dir->count; i++) {
        struct inspect_segments segments;
        if (inspect_segments_read(host, dir->partitions[i].path, &segments) < 0) continue;
        for (size_t s = 0; s < segments.count; s++)
            bytes += segments.items[s].size_bytes;
        inspect_segments_free(&segments);
    }
    return bytes;
}

// ---- the work
// --------------------------------------------------------------------------------------------------------------------------
static void add_totals(struct inspect_totals *to, const struct inspect_totals *t) {
    to->partitions += t->partitions;
    to->segments += t->segments;
    to->batches += t->batches;
    to->records += t->records;
    to->bytes += t->bytes;
    to->damages += t->damages;
    to->notes += t->notes;
}

static bool verify_path(struct verify *v, struct os_host *host, const char *path) {
    const struct inspect_listener at_directory = {
        .context = v, .finding = on_directory_finding, .unreadable = on_unreadable};
    const struct inspect_listener listener = {
        .context = v, .finding = on_finding, .progress = on_progress, .unreadable = on_unreadable};
    struct inspect_dir dir;
    if (!log_open_directory(host, "verify", path, &dir, &at_directory)) return false;
    struct inspect_verify verification = {.host = host, .dir = &dir, .records = v->records, .listener = &listener};
    v->total_bytes += count_bytes(host, &dir);
    bool good = true;
    for (size_t i = 0; i < dir.count; i++) {
        v->now = dir.partitions[i].name;
        if (v->progress) show_progress(v);
        int error = inspect_verify_partition(&verification, &dir.partitions[i]);
        if (error < 0) {
            end_progress(v);
            log_path_error("verify", dir.partitions[i].path, error);
            good = false;
        }
    }
    v->now = "";
    log_verify_metadata(host, path, dir.is_clean, &at_directory);
    add_totals(&v->totals, &verification.totals);
    inspect_dir_free(&dir);
    return good;
}

static void print_summary(const struct verify *v, bool checked) {
    const struct inspect_totals *t = &v->totals;
    if (v->quiet) return;
    if (v->json)
        printf("{\"type\":\"summary\",\"partitions\":%" PRIu64 ",\"segments\":%" PRIu64 ",\"batches\":%" PRIu64
               ",\"records\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"damages\":%" PRIu64 ",\"notes\":%" PRIu64
               ",\"isComplete\":%s}\n",
               t->partitions, t->segments, t->batches, t->records, t->bytes, t->damages, t->notes,
               checked ? "true" : "false");
    else
        printf("%s: %" PRIu64 " partitions, %" PRIu64 " segments, %" PRIu64 " batches, %" PRIu64 " records, %" PRIu64
               " bytes; %" PRIu64 " damaged places, %" PRIu64 " notes\n",
               t->damages ? "DAMAGED"
               : checked  ? "sound"
                          : "NOT ALL CHECKED",
               t->partitions, t->segments, t->batches, t->records, t->bytes, t->damages, t->notes);
}

static int read_arguments(struct verify *v, int argc, char **argv) {
    static const char *const options[] = {"--records", "--json", "--progress", "--quiet", "--help", NULL};
    struct cli_arguments a;
    v->progress = isatty(STDERR_FILENO);
    cli_arguments_init(&a, argc, argv);
    while (cli_next(&a)) {
        v->wants_help = cli_is(&a, "--help") || cli_is(&a, "-h");
        if (v->wants_help) return CLI_OK;
        if (cli_is(&a, "--records"))
            v->records = true;
        else if (cli_is(&a, "--json"))
            v->json = true;
        else if (cli_is(&a, "--progress"))
            v->progress = true;
        else if (cli_is(&a, "--quiet"))
            v->quiet = true;
        else if (a.name)
            return cli_unknown(&a, options);
        else if (v->path_count < PATHS_MAX)
            v->paths[v->path_count++] = a.value;
        else
            return cli_usage_error("log verify", "at most %d paths", PATHS_MAX);
    }
    if (v->quiet) v->progress = false;
    return v->path_count > 0 ? CLI_OK : cli_usage_error("log verify", "which directory?");
}

int log_command_verify(struct os_host *host, int argc, char **argv) {
    struct verify v = {.now = ""};
    int status = read_arguments(&v, argc, argv);
    if (status != CLI_OK || v.wants_help) return v.wants_help ? help() : status;
    bool checked = true;
    for (size_t i = 0; i < v.path_count; i++)
        checked = verify_path(&v, host, v.paths[i]) && !v.is_partial && checked;
    end_progress(&v);
    print_summary(&v, checked);
    return v.totals.damages > 0 ? VERIFY_DAMAGED : checked ? VERIFY_SOUND : VERIFY_FAILED;
}
