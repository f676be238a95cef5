// SPDX-License-Identifier: Apache-2.0
// tailrace log dump: the batches and records of a partition or a segment, and the content of every other file.
#include "cli/log_commands.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum { PATHS_MAX = 256 };

static int help(void) {
    printf("usage: tailrace log dump PATH... [options]\n\n"
           "PATH is a partition's directory, or a file of a log directory: .log (also .deleted, .swap, .cleaned), "
           ".index,\n"
           ".timeindex, .txnindex, .snapshot, leader-epoch-checkpoint, partition.metadata, meta.properties, "
           "*-checkpoint,\n"
           "tailrace.metadata.\n\n"
           "  --records                 every record, not only the batches\n"
           "  --json                    one JSON object a line\n"
           "  --from-offset N, --to-offset N\n"
           "  --from-time T, --to-time T   milliseconds since 1970, or 2026-11-29T19:36 (UTC)\n"
           "  --limit N                 so many batches (with --records: records)\n"
           "  --key FORMAT, --value FORMAT   text (the default), hex or json\n"
           "  --offsets                 decode keys and values as those of __consumer_offsets (its own are anyway)\n"
           "  --raw                     do not\n\n"
           "example: tailrace log dump data/orders-0 --records --from-time 2026-11-29 --value json\n"
           "         tailrace log dump data/__consumer_offsets-12 --records\n"
           "         tailrace log dump data/orders-0/00000000000000000000.index\n");
    return CLI_OK;
}

struct request {
    struct log_dump dump;
    const char *paths[PATHS_MAX];
    size_t path_count;
    bool offsets, raw;
};

// ---- arguments
// ---------------------------------------------------------------------------------------------------------------------------
static int read_offset(struct cli_arguments *a, int64_t *offset) {
    const char *word = cli_value(a);
    if (!word) return CLI_USAGE;
    if (parse_i64(str_of(word), 0, INT64_MAX, offset)) return CLI_OK;
    return cli_usage_error("log dump", "'%s' must be a number of 0 or more", word);
}

static int read_time(struct cli_arguments *a, int64_t *time_ms) {
    const char *word = cli_value(a);
    if (!word) return CLI_USAGE;
    if (log_time_parse(word, time_ms)) return CLI_OK;
    return cli_usage_error("log dump", "'%s' must be milliseconds since 1970, or a time like 2026-11-29T19:36 (UTC)",
                           word);
}

static int read_format(struct cli_arguments *a, enum log_value_format *format) {
    const char *word = cli_value(a);
    if (!word) return CLI_USAGE;
    if (log_value_format_parse(word, format)) return CLI_OK;
    return cli_usage_error("log dump", "'%s' must be text, hex or json", word);
}

static bool read_flag(struct request *r, const struct cli_arguments *a) {
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {
        {"--records", &r->dump.records}, {"--json", &r->dump.json}, {"--offsets", &r->offsets}, {"--raw", &r->raw}};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (!cli_is(a, flags[i].name)) continue;
        *flags[i].flag = true;
        return true;
    }
    return false;
}

static int read_argument(struct request *r, struct cli_arguments *a) {
    static const char *const options[] = {"--records",   "--json",      "--offsets", "--raw",   "--from-offset",
                                          "--to-offset", "--from-time", "--to-time", "--limit", "--key",
                                          "--value",     "--help",      NULL};
    struct log_range *range = &r->dump.range;
    if (read_flag(r, a)) return CLI_OK;
    if (cli_is(a, "--from-offset")) return read_offset(a, &range->from_offset);
    if (cli_is(a, "--to-offset")) return read_offset(a, &range->to_offset);
    if (cli_is(a, "--from-time")) return read_time(a, &range->from_time_ms);
    if (cli_is(a, "--to-time")) return read_time(a, &range->to_time_ms);
    if (cli_is(a, "--limit")) return read_offset(a, &range->limit);
    if (cli_is(a, "--key")) return read_format(a, &r->dump.key_format);
    if (cli_is(a, "--value")) return read_format(a, &r->dump.value_format);
    if (a->name) return cli_unknown(a, options);
    if (r->path_count == PATHS_MAX) return cli_usage_error("log dump", "at most %d paths", PATHS_MAX);
    r->paths[r->path_count++] = a->value;
    return CLI_OK;
}

// ---- paths
// -----------------------------------------------------------------------------------------------------------------------------
// Whether the path, or the directory that it is in, is a partition of __consumer_offsets.
static bool is_of_offsets(const char *path) {
    const char *found = strstr(path, "__consumer_offsets-");
    return found && (found == path || found[-1] == '/');
}

static int dump_partition(struct request *r, const char *path) {
    struct inspect_segments segments;
    int error = inspect_segments_read(r->dump.host, path, &segments);
    if (error < 0) return log_path_error("dump", path, error);
    int status = CLI_OK;
    if (segments.count == 0)
        status = cli_usage_error("log dump", "%s has no segments: name a partition's directory, or a file", path);
    for (size_t i = 0; i < segments.count && r->dump.printed < r->dump.range.limit; i++) {
        int64_t base = segments.items[i].base_offset;
        bool is_below = i + 1 < segments.count && segments.items[i + 1].base_offset <= r->dump.range.from_offset;
        if (is_below || base > r->dump.range.to_offset) continue;
        char file[4096];
        struct text t = TEXT_IN(file);
        text_addf(&t, "%s/%020" PRId64 ".log", path, base);
        if (t.truncated) return log_path_error("dump", path, -ENAMETOOLONG);
        int one = log_dump_batches(&r->dump, file, base);
        if (one != CLI_OK) status = one;
    }
    inspect_segments_free(&segments);
    return status;
}

static int dump_path(struct request *r, const char *path) {
    struct os_stat stat;
    int64_t base;
    struct str suffix;
    int error = os_stat(r->dump.host, path, &stat);
    if (error < 0) return log_path_error("dump", path, error);
    r->dump.is_offsets = !r->raw && (r->offsets || is_of_offsets(path));
    if (stat.is_directory) return dump_partition(r, path);
    bool has_base = file_name_parse(str_of(log_base_name(path)), &base, &suffix);
    if (has_base && suffix.size >= 4 && memcmp(suffix.data, ".log", 4) == 0)
        return log_dump_batches(&r->dump, path, base);
    return log_dump_small_file(&r->dump, path);
}

int log_command_dump(struct os_host *host, int argc, char **argv) {
    struct request r = {.dump = {.host = host, .range = {0, INT64_MAX, INT64_MIN, INT64_MAX, INT64_MAX}}};
    struct cli_arguments a;
    cli_arguments_init(&a, argc, argv);
    while (cli_next(&a)) {
        if (cli_is(&a, "--help") || cli_is(&a, "-h")) return help();
        int status = read_argument(&r, &a);
        if (status != CLI_OK) return status;
    }
    if (r.path_count == 0) return cli_usage_error("log dump", "which partition or file?");
    int status = CLI_OK;
    for (size_t i = 0; i < r.path_count; i++) {
        int one = dump_path(&r, r.paths[i]);
        if (one != CLI_OK) status = one;
    }
    return status;
}
