// SPDX-License-Identifier: Apache-2.0
// The broker's configuration as an immutable image: what server.properties says, what was changed at run time for all
// brokers and for this one, and the defaults, the first that is there winning in the order: this broker, all brokers,
// file, default. Made by config_parse at start and by config_with_dynamic at each change; replaced as a whole, so that
// any core may read its image without a lock. An image owns nothing: all its memory is in the arena that it was made
// in.
#pragma once

#include "config/report.h"
#include "config/value.h"

enum { CONFIG_ARENA_BYTES = 16 << 20 }; // enough for any file that properties_parse takes

// Settings by name: dynamic broker settings, or a topic's. Names do not repeat; a value is not null.
struct config_entry {
    struct str key, value;
};
struct config_map {
    const struct config_entry *entries;
    size_t count;
};
// The value of a name, or null.
struct str config_map_get(struct config_map map, struct str key);

// In the order in which they win.
enum config_layer { CONFIG_LAYER_BROKER, CONFIG_LAYER_CLUSTER, CONFIG_LAYER_STATIC, CONFIG_LAYER_COUNT };

struct config_setting {
    struct str raw[CONFIG_LAYER_COUNT]; // as given; null where the layer does not have the key
    int32_t line;                       // in the file; 0: not there; CONFIG_LINE_OVERRIDE
    bool is_copied; // raw of the file is that of its other name (node.id and broker.id): what is wrong is said there
    enum config_source source; // of the value
    struct config_value value;
};
// Names without a key of their own: overrides for one listener, plug-ins' keys, mistyped and unknown ones.
// DescribeConfigs shows them.
struct config_extra {
    struct str name;
    struct str raw[CONFIG_LAYER_COUNT];
    int32_t line;
};
struct config {
    struct config_setting settings[CONFIG_KEY_COUNT];
    struct config_extra *extras;
    size_t extra_count;
    bool is_standalone;
    int64_t memory_default_bytes;
    int64_t memory_total_bytes; // of the machine that reads the file; 0: not known
};

struct config_options {
    struct str file_name;        // for messages
    bool standalone;             // --standalone: whatever the file says
    struct config_map overrides; // --override key=value
    int64_t memory_total_bytes;  // of the machine; 0: not known
};

// Reads the text of a server.properties file. Everything that is wrong goes into the report; NULL if an error is among
// it.
const struct config *config_parse(struct arena *a, struct str file, const struct config_options *options,
                                  struct config_report *report);

// The same configuration with other dynamic settings (those of the base image are forgotten): `cluster` is what was set
// for all brokers, `broker` for this one. A value that cannot be used is reported as a warning and left out, as a store
// may hold anything.
const struct config *config_with_dynamic(struct arena *a, const struct config *base, struct config_map cluster,
                                         struct config_map broker, struct config_report *report);

// Typed values. The key must be of the type and have a value (config_has), else it is a programmer's error.
bool config_has(const struct config *c, enum config_key key);
int64_t config_i64(const struct config *c, enum config_key key); // INT, SHORT, LONG
bool config_bool(const struct config *c, enum config_key key);
double config_double(const struct config *c, enum config_key key);
struct str config_str(const struct config *c, enum config_key key); // any type, canonical; null if there is no value
// Whether somebody has set it: file, command line or at run time.
bool config_is_set(const struct config *c, enum config_key key);
// What counts when nothing is set: the key's default, but for the few that depend on mode and machine.
struct str config_default_text(const struct config *c, enum config_key key, char memory[24]);

// tailrace.durability: whether acknowledged means flushed (FSYNC), or what Kafka means by it (REPLICATED).
enum config_durability { CONFIG_DURABILITY_FSYNC, CONFIG_DURABILITY_REPLICATED };
enum config_durability config_durability(const struct config *c);

// The log directories, comma separated: log.dirs, else log.dir. For config_list_next.
struct str config_log_dirs(const struct config *c);
