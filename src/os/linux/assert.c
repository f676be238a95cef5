// SPDX-License-Identifier: Apache-2.0
// The end of the process on a programmer error: one line on standard error, then SIGABRT (so that a core file can be
// had).
#include "base/assert.h"
#include <stdio.h>
#include <stdlib.h>

_Noreturn void assert_failed(const char *file, int line, const char *expression) {
    fprintf(stderr, "FATAL %s:%d: assertion failed: %s\n", file, line, expression);
    abort();
}
