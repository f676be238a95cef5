// SPDX-License-Identifier: Apache-2.0
// Assertions for programmer errors: always on, in release builds too. Never used on bytes from outside (network, disk,
// metadata store).
#pragma once

// Implemented by the os layer that the program is linked with: reports the place and ends the process (in the
// simulator: the run).
_Noreturn void assert_failed(const char *file, int line, const char *expression);

#define ASSERT(condition) ((condition) ? (void)0 : assert_failed(__FILE__, __LINE__, #condition))

// For the default branch of a switch over our own enums and the end of a loop that must have returned.
#define UNREACHABLE() assert_failed(__FILE__, __LINE__, "unreachable")
