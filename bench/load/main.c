// SPDX-License-Identifier: Apache-2.0
// bench_load COMMAND: see usage() and bench/README.md. Results are one line of JSON.
#include "base/text.h"
#include "load.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "bench_load: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    exit(1);
}

int64_t number(const char *text, int64_t min, int64_t max) {
    int64_t value;
    if (!parse_i64(str_of(text), min, max, &value))
        fail("'%s' is not a number from %lld to %lld", text, (long long)min, (long long)max);
    return value;
}

uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int usage(void) {
    fprintf(stderr,
            "usage: bench_load produce HOST:PORT TOPIC PARTITIONS CONNECTIONS IN_FLIGHT RECORD_BYTES BATCH_BYTES "
            "TOTAL_BYTES ACKS\n"
            "       bench_load fetch HOST:PORT TOPIC PARTITIONS CONNECTIONS PARTITION_BYTES TOTAL_BYTES\n"
            "       bench_load first-ack HOST:PORT TOPIC TIMEOUT_MS\n"
            "       bench_load floor PORT DIRECTORY    receive, checksum, append, answer; until it is killed\n"
            "       bench_load touch MIB               takes memory from the machine and gives it back\n");
    return 2;
}

// The memory of a guest that was not used for a while is with the host: the first to touch it pays, whoever that is.
static int run_touch(int argc, char **argv) {
    if (argc != 2) return usage();
    size_t size = (size_t)number(argv[1], 1, 1 << 20) << 20;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail("no memory");
    for (size_t i = 0; i < size; i += 4096) {
        *(volatile char *)&memory[i] = 1;
    }
    return 0;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } commands[] = {{"produce", run_produce},
                    {"fetch", run_fetch},
                    {"first-ack", run_first_ack},
                    {"floor", run_floor},
                    {"touch", run_touch}};
    for (size_t i = 0; argc >= 2 && i < ARRAY_LENGTH(commands); i++) {
        if (strcmp(argv[1], commands[i].name) != 0) continue;
        int status = commands[i].run(argc - 1, argv + 1);
        return status == 2 ? usage() : status;
    }
    return usage();
}
