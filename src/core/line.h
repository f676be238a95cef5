// SPDX-License-Identifier: Apache-2.0
// Log lines: one event a line, with time, level, area, core, subject, event and key=value details.
//
//     2026-01-31 12:00:00.123 WARN  log core=1 orders-7 cut reason="bad crc" position=4096
//
// For changes of state and for what an operator must know; nothing per request. A data core only formats the line; the
// control core writes it, so that a slow terminal never stops a data core. When lines come faster than they can be
// written, the rest are counted and dropped.
#pragma once

struct core;

// What is below the level of the area's logger (loggers.h) is not printed.
enum line_level { LINE_INFO, LINE_WARN, LINE_ERROR };

// area: one of the loggers' names (another one has the level of root). subject: what it is about ("orders-7", an
// address), or "". What came from outside must be escaped by the caller (text_add_escaped).
__attribute__((format(printf, 6, 7))) void line(struct core *core, enum line_level level, const char *area,
                                                const char *subject, const char *event, const char *details, ...);
