// SPDX-License-Identifier: Apache-2.0
// tailrace log ls: partitions with their segments, sizes, offsets and times. Reads indexes and headers only.
#include "cli/log_commands.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static int help(void) {
    printf(
        "usage: tailrace log ls DIR [TOPIC[-PARTITION]]... [--segments] [--json]\n\n"
        "Lists the partitions of a log directory (or one partition's directory): segments, size, offsets, and the\n"
        "times of the first and of the newest record. START and END are the log's offsets, HW the checkpointed high\n"
        "watermark.\n\n"
        "  --segments   each segment too\n"
        "  --json       one JSON object a line, sizes in bytes\n\n"
        "example: tailrace log ls data orders --segments\n");
    return CLI_OK;
}

enum { FILTERS_MAX = 64 };
struct ls {
    struct os_host *host;
    const char *path;
    const char *filters[FILTERS_MAX];
    size_t filter_count;
    bool segments, json, wants_help;
    struct inspect_dir dir;
    int status;
};
struct ls_totals {
    uint64_t bytes;
    int64_t start_offset, end_offset, first_ms, newest_ms;
};

static bool is_wanted(const struct ls *ls, const struct inspect_partition *p) {
    for (size_t i = 0; i < ls->filter_count; i++)
        if (strcmp(ls->filters[i], p->name) == 0 || str_is(p->topic, ls->filters[i])) return true;
    return ls->filter_count == 0;
}

// A name that is not there is a mistake, not an empty list.
static void complain_of_missing(struct ls *ls) {
    for (size_t i = 0; i < ls->filter_count; i++) {
        const struct ls one = {.filters = {ls->filters[i]}, .filter_count = 1};
        bool found = false;
        for (size_t k = 0; k < ls->dir.count && !found; k++)
            found = is_wanted(&one, &ls->dir.partitions[k]);
        if (found) continue;
        fprintf(stderr, "tailrace log ls: %s: there is no topic or partition %s\n", ls->path, ls->filters[i]);
        ls->status = CLI_FAILED;
    }
}

static struct ls_totals add_up(const struct ls *ls, const struct inspect_partition *p,
                               const struct inspect_segments *segments) {
    struct ls_totals t = {.first_ms = -1, .newest_ms = -1};
    for (size_t i = 0; i < segments->count; i++) {
        const struct inspect_segment *s = &segments->items[i];
        t.bytes += s->size_bytes;
        t.end_offset = s->end_offset;
        if (t.first_ms < 0) t.first_ms = s->first_timestamp_ms;
        if (s->max_timestamp_ms > t.newest_ms) t.newest_ms = s->max_timestamp_ms;
    }
    int64_t checkpointed = inspect_checkpoint(&ls->dir, CHECKPOINT_LOG_START, p);
    t.start_offset = segments->count > 0 ? segments->items[0].base_offset : 0;
    if (checkpointed > t.start_offset) t.start_offset = checkpointed;
    return t;
}

static const char *kind_text(enum dir_kind kind) {
    switch (kind) {
    case DIR_DELETE: return "being deleted";
    case DIR_FUTURE: return "being moved here";
    case DIR_STRAY: return "stray";
    default: return "";
    }
}

// ---- for people
// ----------------------------------------------------------------------------------------------------------------------
static void print_row(const char *name, size_t segments, const struct ls_totals *t, int64_t high_watermark,
                      const char *remark) {
    char first[LOG_TIME_TEXT_BYTES], newest[LOG_TIME_TEXT_BYTES], size[LOG_SIZE_TEXT_BYTES], hw[24];
    if (high_watermark < 0)
        snprintf(hw, sizeof hw, "-");
    else
        snprintf(hw, sizeof hw, "%" PRId64, high_watermark);
    printf("%-32s %8zu %14s %12" PRId64 " %12" PRId64 " %12s  %-24s  %-24s%s%s\n", name, segments,
           log_size_text(t->bytes, size), t->start_offset, t->end_offset, hw, log_time_text(t->first_ms, first),
           log_time_text(t->newest_ms, newest), remark[0] ? "  " : "", remark);
}

static void print_segment(const struct inspect_segment *s) {
    char first[LOG_TIME_TEXT_BYTES], newest[LOG_TIME_TEXT_BYTES], size[LOG_SIZE_TEXT_BYTES];
    printf("  %020" PRId64 ".log %29s %12" PRId64 " %12" PRId64 " %12s  %-24s  %-24s", s->base_offset,
           log_size_text(s->size_bytes, size), s->base_offset, s->end_offset, "",
           log_time_text(s->first_timestamp_ms, first), log_time_text(s->max_timestamp_ms, newest));
    if (s->tail_bytes) printf("  %" PRIu64 " bytes behind the last whole batch", s->tail_bytes);
    putchar('\n');
}

// ---- as JSON
// -------------------------------------------------------------------------------------------------------------------------
static void print_segments_json(const struct inspect_segments *segments) {
    fputs(",\"segments\":[", stdout);
    for (size_t i = 0; i < segments->count; i++) {
        const struct inspect_segment *s = &segments->items[i];
        printf("%s{\"baseOffset\":%" PRId64 ",\"endOffset\":%" PRId64 ",\"bytes\":%" PRIu64 ",\"tailBytes\":%" PRIu64
               ",\"firstTimestamp\":%" PRId64 ",\"maxTimestamp\":%" PRId64 "}",
               i ? "," : "", s->base_offset, s->end_offset, s->size_bytes, s->tail_bytes, s->first_timestamp_ms,
               s->max_timestamp_ms);
    }
    putchar(']');
}

static void print_json(const struct ls *ls, const struct inspect_partition *p, const struct inspect_segments *segments,
                       const struct ls_totals *t) {
    fputs("{\"topic\":", stdout);
    log_print_string((struct tailrace_bytes){(const uint8_t *)p->topic.data, p->topic.size});
    printf(",\"partition\":%" PRId32 ",\"directory\":", p->partition);
    log_print_string(log_text(p->name));
    printf(",\"bytes\":%" PRIu64 ",\"startOffset\":%" PRId64 ",\"endOffset\":%" PRId64 ",\"highWatermark\":%" PRId64
           ",\"recoveryPoint\":%" PRId64 ",\"firstTimestamp\":%" PRId64 ",\"maxTimestamp\":%" PRId64
           ",\"segmentCount\":%zu",
           t->bytes, t->start_offset, t->end_offset, inspect_checkpoint(&ls->dir, CHECKPOINT_HIGH_WATERMARK, p),
           inspect_checkpoint(&ls->dir, CHECKPOINT_RECOVERY_POINT, p), t->first_ms, t->newest_ms, segments->count);
    if (ls->segments) print_segments_json(segments);
    puts("}");
}

// ---- the command
// -------------------------------------------------------------------------------------------------------------------
static void list_partition(struct ls *ls, const struct inspect_partition *p) {
    struct inspect_segments segments;
    int error = inspect_segments_read(ls->host, p->path, &segments);
    for (size_t i = 0; i < segments.count && error == 0; i++) {
        error = inspect_segment_fill(ls->host, p->path, &segments.items[i]);
        if (error == -ENOENT) error = 0; // deleted meanwhile
    }
    if (error < 0) {
        inspect_segments_free(&segments);
        if (error != -ENOENT) ls->status = log_path_error("ls", p->path, error);
        return;
    }
    struct ls_totals totals = add_up(ls, p, &segments);
    if (ls->json) {
        print_json(ls, p, &segments, &totals);
    } else {
        print_row(p->name, segments.count, &totals, inspect_checkpoint(&ls->dir, CHECKPOINT_HIGH_WATERMARK, p),
                  kind_text(p->kind));
        for (size_t i = 0; i < segments.count && ls->segments; i++)
            print_segment(&segments.items[i]);
    }
    inspect_segments_free(&segments);
}

static void on_finding(void *context, const struct inspect_finding *f) {
    char line[4096 + 1024];
    struct text t = TEXT_IN(line);
    (void)context;
    text_add_escaped(&t, str_of(f->directory)); // names that anybody may have made
    text_addf(&t, "/");
    text_add_escaped(&t, str_of(f->file));
    fprintf(stderr, "tailrace log ls: %s: %s\n", line, f->text);
}

static void on_unreadable(void *context, const char *directory, const char *file, int error) {
    struct ls *ls = context;
    ls->status = log_file_error("ls", directory, file, error);
}

static int read_arguments(struct ls *ls, int argc, char **argv) {
    static const char *const options[] = {"--segments", "--json", "--help", NULL};
    struct cli_arguments a;
    cli_arguments_init(&a, argc, argv);
    while (cli_next(&a)) {
        ls->wants_help = cli_is(&a, "--help") || cli_is(&a, "-h");
        if (ls->wants_help) return CLI_OK;
        if (cli_is(&a, "--segments"))
            ls->segments = true;
        else if (cli_is(&a, "--json"))
            ls->json = true;
        else if (a.name)
            return cli_unknown(&a, options);
        else if (!ls->path)
            ls->path = a.value;
        else if (ls->filter_count < FILTERS_MAX)
            ls->filters[ls->filter_count++] = a.value;
        else
            return cli_usage_error("log ls", "at most %d topics", FILTERS_MAX);
    }
    return ls->path ? CLI_OK : cli_usage_error("log ls", "which directory?");
}

int log_command_ls(struct os_host *host, int argc, char **argv) {
    struct ls ls = {.host = host, .status = CLI_OK};
    int status = read_arguments(&ls, argc, argv);
    if (status != CLI_OK || ls.wants_help) return ls.wants_help ? help() : status;
    const struct inspect_listener listener = {.context = &ls, .finding = on_finding, .unreadable = on_unreadable};
    if (!log_open_directory(host, "ls", ls.path, &ls.dir, &listener)) return CLI_FAILED;
    if (!ls.json)
        printf("%-32s %8s %14s %12s %12s %12s  %-24s  %-24s\n", "PARTITION", "SEGMENTS", "SIZE", "START", "END", "HW",
               "FIRST TIME", "NEWEST TIME");
    for (size_t i = 0; i < ls.dir.count; i++)
        if (is_wanted(&ls, &ls.dir.partitions[i])) list_partition(&ls, &ls.dir.partitions[i]);
    complain_of_missing(&ls);
    inspect_dir_free(&ls.dir);
    return ls.status;
}
