// SPDX-License-Identifier: Apache-2.0
//
// The librdkafka (Debian's 2.0) client of the compatibility test. Its command line, its input files and its output
// lines are those of every other family: tests/compat/README.md describes them once.
//
// Happy path: `produce` sends every record of every list of the jobs file, waits for all delivery reports and prints
// one summary line; `consume` reads all topics up to their end offsets and prints one line for each record; `member`
// runs until SIGTERM as one member of a group. Failure modes: any error of a record, of the end offsets or of a commit
// is printed to standard error and the exit status is 1; no progress for 60 s is exit status 3. One command more than
// the others have: `feed` writes numbered records for the members of a group until SIGTERM.
#include "client.h"
#include <errno.h>
#include <signal.h>
#include <time.h>

static volatile sig_atomic_t stop_asked;
static int failures;

static void on_sigterm(int signal_number) {
    (void)signal_number;
    stop_asked = 1;
}

_Noreturn void die(const char *what, const char *why) {
    fprintf(stderr, "client.c: %s: %s\n", what, why);
    exit(1);
}

int64_t wall_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void note_failure(void) {
    failures++;
}

void stop_at_sigterm(void) {
    signal(SIGTERM, on_sigterm);
}

bool stop_is_asked(void) {
    return stop_asked;
}

static struct options parse_options(int argc, char **argv) {
    struct options options = {
        .mode = "assign", .assignor = "range", .idempotent = "1", .rate_per_s = "100", .session_timeout_ms = "10000"};
    struct {
        const char *name, **value;
    } known[] = {{"--broker", &options.broker},
                 {"--pack", &options.pack},
                 {"--jobs", &options.jobs},
                 {"--topics", &options.topics},
                 {"--mode", &options.mode},
                 {"--group", &options.group},
                 {"--assignor", &options.assignor},
                 {"--instance-id", &options.instance_id},
                 {"--idempotent", &options.idempotent},
                 {"--family", &options.family},
                 {"--rate-per-s", &options.rate_per_s},
                 {"--session-timeout-ms", &options.session_timeout_ms}};
    for (int at = 2; at + 1 < argc; at += 2) {
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
            if (strcmp(argv[at], known[i].name) == 0) {
                *known[i].value = argv[at + 1];
                found = true;
            }
        }
        if (!found) die("unknown option", argv[at]);
    }
    if (options.broker == NULL) die("missing option", "--broker");
    return options;
}

void set(rd_kafka_conf_t *conf, const char *key, const char *value) {
    char why[256];
    if (rd_kafka_conf_set(conf, key, value, why, sizeof why) != RD_KAFKA_CONF_OK) die(key, why);
}

rd_kafka_t *client_new(rd_kafka_type_t type, rd_kafka_conf_t *conf) {
    char why[256];
    rd_kafka_t *client = rd_kafka_new(type, conf, why, sizeof why);
    if (client == NULL) die("rd_kafka_new", why);
    return client;
}

char *read_file(const char *path, size_t *size_bytes) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) die(path, strerror(errno));
    fseek(file, 0, SEEK_END);
    *size_bytes = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size_bytes + 1);
    if (fread(bytes, 1, *size_bytes, file) != *size_bytes) die(path, "short read");
    bytes[*size_bytes] = 0;
    fclose(file);
    return bytes;
}

void print_string(const char *bytes, size_t size_bytes) {
    putchar('"');
    for (size_t i = 0; i < size_bytes; i++) {
        if (bytes[i] == '"' || bytes[i] == '\\') putchar('\\');
        putchar(bytes[i]);
    }
    putchar('"');
}

int main(int argc, char **argv) {
    if (argc < 2) die("usage", "produce | consume | member | feed OPTIONS");
    struct options options = parse_options(argc, argv);
    if (strcmp(argv[1], "produce") == 0) {
        produce(&options);
    } else if (strcmp(argv[1], "consume") == 0) {
        consume(&options);
    } else if (strcmp(argv[1], "member") == 0) {
        member(&options);
    } else if (strcmp(argv[1], "feed") == 0) {
        feed(&options);
    } else {
        die("unknown command", argv[1]);
    }
    return failures == 0 ? 0 : 1;
}
