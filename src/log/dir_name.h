// SPDX-License-Identifier: Apache-2.0
// What the names of the directories in a log directory mean. Pure.
#pragma once

#include "base/slice.h"

enum dir_kind {
    DIR_PARTITION, // <topic>-<partition>
    DIR_DELETE,    // <topic>-<partition>.<32 hex>-delete: on its way out
    DIR_FUTURE,    // ...-future: target of a move between log directories
    DIR_STRAY,     // ...-stray: a replica that should not be here
    DIR_FOREIGN,   // known not to be a replica: tiered storage's cache, the KRaft log
    DIR_UNKNOWN    // Kafka does not start with one
};
// *topic (a part of `name`) and *partition are set for all but DIR_FOREIGN and DIR_UNKNOWN.
enum dir_kind dir_name_parse(struct str name, struct str *topic, int32_t *partition);
// "<topic>-<partition>" or, with suffix ("delete"), "<topic>-<partition>.<32 hex>-<suffix>", the topic cut so that the
// name has at most 255 bytes. Terminated by NUL.
enum { DIR_NAME_BYTES_MAX = 255 };
void dir_name_print(char name[static DIR_NAME_BYTES_MAX + 1], const char *topic, int32_t partition);
void dir_name_print_suffixed(char name[static DIR_NAME_BYTES_MAX + 1], const char *topic, int32_t partition,
                             uint64_t random_high, uint64_t random_low, const char *suffix);
// The base offset in the name of a partition's file ("00000000000000000042.log" and suffixes after it): its 20 digits.
// False: another file. *suffix is what follows the digits (".log").
bool file_name_parse(struct str name, int64_t *offset, struct str *suffix);
