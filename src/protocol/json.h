// SPDX-License-Identifier: Apache-2.0
// The little JSON that this folder writes.
#pragma once

#include "base/text.h"

// A quoted string, or null; control characters are escaped, bytes from 0x80 up go out as they are.
void json_add_string(struct text *out, struct str s);
// fetch_offset as fetchOffset, or FetchOffset if `capital`.
void json_add_camel(struct text *out, const char *snake, bool capital);
