// SPDX-License-Identifier: Apache-2.0
// tailrace error: what a code or name means that a client has shown.
#include "tailrace/error.h"
#include "base/bits.h"
#include "base/text.h"
#include "cli/cli.h"
#include <stdio.h>
#include <strings.h>

static const struct {
    int code;
    const char *name;
    bool is_retriable;
    const char *meaning;
} errors[] = {
#define ROW(code, name, retriable, meaning) {code, #name, retriable, meaning},
    KAFKA_ERRORS(ROW)
#undef ROW
};

static int help(void) {
    printf(
        "usage: tailrace error [CODE or NAME]...\n\n"
        "Explains error codes of the Kafka protocol; without an argument, all of them. A name may be given in part.\n\n"
        "example: tailrace error 87 NOT_LEADER\n");
    return cli_finish_output("tailrace error") ? CLI_OK : CLI_FAILED;
}

static void print_error(size_t i) {
    printf("%4d  %-38s %-9s  %s\n", errors[i].code, errors[i].name, errors[i].is_retriable ? "retriable" : "final",
           errors[i].meaning);
}

// How many rows a code or a part of a name has found and printed.
static size_t print_matches(const char *word) {
    int64_t code;
    bool is_code = parse_i64(str_of(word), INT16_MIN, INT16_MAX, &code);
    size_t found = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(errors); i++) {
        if (is_code ? errors[i].code != code : !strcasestr(errors[i].name, word)) continue;
        print_error(i);
        found++;
    }
    return found;
}

int command_error(int argc, char **argv) {
    static const char *const options[] = {"--help", NULL};
    struct cli_arguments a;
    cli_arguments_init(&a, argc, argv);
    int status = CLI_OK;
    bool any = false;
    while (cli_next(&a)) {
        int64_t code;
        bool is_negative_code = a.name && !a.value && parse_i64(str_of(a.name), INT16_MIN, 0, &code);
        if (cli_is(&a, "--help") || cli_is(&a, "-h")) return help();
        if (a.name && !is_negative_code) return cli_unknown(&a, options);
        const char *word = a.name ? a.name : a.value;
        any = true;
        if (print_matches(word) > 0) continue;
        fprintf(stderr, "tailrace error: Kafka 3.9 has no error '%s'\n", word);
        status = CLI_FAILED;
    }
    for (size_t i = 0; !any && i < ARRAY_LENGTH(errors); i++) {
        print_error(i);
    }
    return cli_finish_output("tailrace error") ? status : CLI_FAILED;
}
