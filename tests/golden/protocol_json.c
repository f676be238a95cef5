// SPDX-License-Identifier: Apache-2.0
// Prints the message tables as JSON, as `tailrace protocol --json` does.
#include "protocol/schema_print.h"
#include <stdio.h>

static void write_stdout(void *context, const char *data, size_t size_bytes) {
    (void)context;
    fwrite(data, 1, size_bytes, stdout);
}

int main(void) {
    protocol_print_json(write_stdout, NULL);
    return 0;
}
