// SPDX-License-Identifier: Apache-2.0
// The tailrace program. Everything is in cli_main, which tests call too.
#include "cli/cli.h"

int main(int argc, char **argv) {
    return cli_main(argc, argv);
}
