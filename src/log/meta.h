// SPDX-License-Identifier: Apache-2.0
// meta.properties: whose log directory this is. Pure: text to values and back.
#pragma once

#include "base/text.h"

struct meta_properties {
    int32_t broker_id;     // -1: not in the file
    char cluster_id[64];   // "": not in the file
    char directory_id[64]; // "": not in the file; kept
    bool is_foreign;       // of a format that is not this broker's (meta_parse gave false): not damaged, but not ours
};
// False: *reason says what is wrong and what would be right.
bool meta_parse(struct str text, struct meta_properties *meta, struct text *reason);
// The file's text as Java writes a properties file, with a date on top.
void meta_format(const struct meta_properties *meta, int64_t now_ms, struct text *out);
