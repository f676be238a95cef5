// SPDX-License-Identifier: Apache-2.0
// Times as java.text.SimpleDateFormat writes them.
#pragma once

#include "base/text.h"

// The letters y M d H h m s S a, text in single quotes, and everything that is not a letter. False: a letter that is
// not among them, or a quote without an end.
bool perf_date_add(struct text *out, const char *pattern, int64_t wall_ms);
