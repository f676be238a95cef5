// SPDX-License-Identifier: Apache-2.0
// Making the host of a real process; the simulator makes its own.
#pragma once

struct os_host;

// Starts no thread yet. Blocks SIGTERM and SIGINT (they arrive through
// os_signal_start) and ignores SIGPIPE: call it before any thread exists.
struct os_host *os_host_create(void);
// After os_host_create, for a program that has nothing to put in order: those signals end it, as usual.
void os_host_leave_signals(void);
// Ends the helper threads. Every core's os is destroyed.
void os_host_destroy(struct os_host *host);
