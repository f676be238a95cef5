// SPDX-License-Identifier: Apache-2.0
// tailrace protocol: the message tables that this program encodes and decodes with, in the form of Kafka's message
// definitions.
#include "cli/cli.h"
#include "protocol/schema_print.h"
#include <stdio.h>

static int help(void) {
    printf("usage: tailrace protocol [--json]\n\n"
           "Prints the tables of all messages, field by field with version ranges, as JSON with the keys of Kafka's "
           "message definitions.\n\n"
           "example: tailrace protocol | jq -r '.messages[] | [.name, .validVersions] | @tsv'\n");
    return cli_finish_output("tailrace protocol") ? CLI_OK : CLI_FAILED;
}

static void write_piece(void *context, const char *data, size_t size_bytes) {
    fwrite(data, 1, size_bytes, context);
}

int command_protocol(int argc, char **argv) {
    static const char *const options[] = {"--json", "--help", NULL};
    struct cli_arguments a;
    cli_arguments_init(&a, argc, argv);
    while (cli_next(&a)) {
        if (cli_is(&a, "--help") || cli_is(&a, "-h")) return help();
        if (!cli_is(&a, "--json")) return cli_unknown(&a, options);
    }
    protocol_print_json(write_piece, stdout);
    putchar('\n');
    return cli_finish_output("tailrace protocol") ? CLI_OK : CLI_FAILED;
}
