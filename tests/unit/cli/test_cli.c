// SPDX-License-Identifier: Apache-2.0
// The program without its main(): exit statuses, what goes to standard output and what to standard error.
#include "base/bits.h"
#include "cli/cli.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <unistd.h>

static const struct {
    const char *arguments[6];
    int status;
    const char *out, *err; // each must be contained; NULL: that stream is empty
} cases[] = {
    {{NULL}, CLI_USAGE, NULL, "no command given"},
    {{"--help"}, CLI_OK, "usage: tailrace COMMAND", NULL},
    {{"--version"}, CLI_OK, "tailrace " TAILRACE_VERSION, NULL},
    {{"conifg"}, CLI_USAGE, NULL, "unknown command 'conifg'; did you mean 'config'?"},
    {{"xyzzyxyzzy"}, CLI_USAGE, NULL, "unknown command 'xyzzyxyzzy'\n"},
    {{"config", "--help"}, CLI_OK, "example: ", NULL},
    {{"protocol", "--help"}, CLI_OK, "example: ", NULL},
    {{"error", "--help"}, CLI_OK, "example: ", NULL},
    {{"config", "--jsn"}, CLI_USAGE, NULL, "unknown option '--jsn'; did you mean '--json'?"},
    {{"log", "ls", "--bogus"}, CLI_USAGE, NULL, "'tailrace log ls --help' shows"},
    {{"log", "dump", "--bogus"}, CLI_USAGE, NULL, "'tailrace log dump --help' shows"},
    {{"log", "verify", "--bogus"}, CLI_USAGE, NULL, "'tailrace log verify --help' shows"},
    {{"config", "--key"}, CLI_USAGE, NULL, "--key needs a value"},
    {{"config", "--all"}, CLI_USAGE, NULL, "need a file"},
    {{"config", "a", "b"}, CLI_USAGE, NULL, "one argument too many: 'b'"},
    {{"config", "a", "--key=x"}, CLI_USAGE, NULL, "not about a file"},
    {{"config", "a", "--override", "x"}, CLI_USAGE, NULL, "--override needs KEY=VALUE, not 'x'"},
    {{"config", "--key=log.segment.delete"}, CLI_OK, "1 of 333 keys: 1 works", NULL},
    {{"config", "--topic", "--key", "retention.ms"}, CLI_OK, "local.retention.ms\n", NULL},
    {{"config", "--json", "--key", "log.segment.bytes"}, CLI_OK, "\"default\": \"1073741824\"", NULL},
    {{"config", "/nonexistent/file"}, CLI_FAILED, NULL, "cannot read /nonexistent/file: No such file or directory"},
    {{"config", "/dev/null", "--override", "num.partitions=7"}, CLI_OK, "num.partitions=7", NULL},
    {{"config", "/dev/null", "--override=num.partitions=0"},
     CLI_FAILED,
     NULL,
     "error: command line: num.partitions=0: Value must be at least 1"},
    {{"broker", "/dev/null", "--override=zookeeper.connect=a:1"},
     CLI_FAILED,
     NULL,
     "command line: zookeeper.connect is"},
    {{"config", "/dev/null", "--override=num.partitions=0", "--json"}, CLI_FAILED, "\"severity\": \"error\"", NULL},
    {{"config", "/dev/null", "--override=ssl.key.password=hunter2"},
     CLI_OK,
     "ssl.key.password=[hidden]",
     "no effect yet"},
    {{"config", "/dev/null", "--all"}, CLI_OK, "log.segment.bytes=1073741824", NULL},
    {{"config", "/dev/zero"}, CLI_FAILED, NULL, "cannot read /dev/zero: File too large"},
    {{"config", "/tmp"}, CLI_FAILED, NULL, "cannot read /tmp: Is a directory"},
    {{"protocol", "--json"}, CLI_OK, "\"messages\"", NULL},
    {{"protocol", "x"}, CLI_USAGE, NULL, "one argument too many: 'x'"},
    {{"error", "87"}, CLI_OK, "INVALID_RECORD", NULL},
    {{"error", "-1"}, CLI_OK, "UNKNOWN_SERVER_ERROR", NULL},
    {{"error", "not_leader"}, CLI_OK, "NOT_LEADER_OR_FOLLOWER", NULL},
    {{"perf"}, CLI_USAGE, NULL, "producer, consumer or e2e?"},
    {{"perf", "--help"}, CLI_OK, "example: ", NULL},
    {{"perf", "producer", "--help"}, CLI_OK, "example: ", NULL},
    {{"perf", "consumer", "--help"}, CLI_OK, "example: ", NULL},
    {{"perf", "e2e", "--help"}, CLI_OK, "example: ", NULL},
    {{"perf", "consume"}, CLI_USAGE, NULL, "unknown tool 'consume'"},
    {{"perf", "producer", "--topic", "t"}, CLI_USAGE, NULL, "perf producer: --num-records is needed"},
    {{"perf", "producer", "--rate", "0"}, CLI_USAGE, NULL, "--rate: '0' is not a number from 0.001 to 100000000"},
    {{"perf", "producer", "--producer-props", "lingr.ms=5"},
     CLI_USAGE,
     NULL,
     "unknown property 'lingr.ms'; did you mean 'linger.ms'?"},
    {{"perf", "consumer", "--topic=t", "--mesages=5"}, CLI_USAGE, NULL, "did you mean '--messages'?"},
    {{"perf", "e2e", "a:1", "t", "5"}, CLI_USAGE, NULL, "NUM_MESSAGES ACKS SIZE_BYTES are needed"},
    {{"error", "9999"}, CLI_FAILED, NULL, "no error '9999'"},
};

// Runs the program with its output in temporary files.
static int run(size_t i, char *out, char *err, size_t capacity) {
    char *argv[8] = {(char *)"tailrace"};
    int argc = 1;
    for (int j = 0; j < 6 && cases[i].arguments[j]; j++) {
        argv[argc++] = (char *)cases[i].arguments[j];
    }
    FILE *files[2] = {tmpfile(), tmpfile()};
    int saved[2] = {dup(1), dup(2)};
    cr_assert(files[0] && files[1]);
    fflush(stdout);
    fflush(stderr);
    dup2(fileno(files[0]), 1);
    dup2(fileno(files[1]), 2);
    int status = cli_main(argc, argv);
    fflush(stdout);
    fflush(stderr);
    char *texts[2] = {out, err};
    for (int s = 0; s < 2; s++) {
        dup2(saved[s], s + 1);
        close(saved[s]);
        rewind(files[s]);
        texts[s][fread(texts[s], 1, capacity - 1, files[s])] = '\0';
        fclose(files[s]);
    }
    return status;
}

static void check(size_t i, const char *text, const char *expected) {
    if (!expected) {
        cr_assert_str_empty(text, "case %zu: %s", i, text);
    } else {
        cr_assert_not_null(strstr(text, expected), "case %zu: %s", i, text);
    }
}

Test(cli, commands) {
    static char out[1 << 20], err[1 << 16];
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        int status = run(i, out, err, sizeof err);
        cr_assert_eq(status, cases[i].status, "case %zu: %d\n%s", i, status, err);
        check(i, out, cases[i].out);
        check(i, err, cases[i].err);
        cr_assert_null(strstr(out, "hunter2"));
        cr_assert_null(strstr(err, "hunter2"));
    }
}
