// SPDX-License-Identifier: Apache-2.0
// See check.h. The rules are those that Kafka 3.9 applies to a broker with ZooKeeper; each failure is reported at the
// line of the key that a person would change first.
#include "config/check.h"
#include "base/assert.h"
#include "base/bits.h"
#include "config/listener.h"

static void add_setting(struct text *t, const struct config *c, enum config_key key) {
    const struct config_key_info *info = config_key_info(key);
    struct str value = config_str(c, key);
    text_addf(t, "%s=", info->name);
    if (info->type == CONFIG_TYPE_PASSWORD) {
        text_addf(t, "[hidden]");
    } else {
        text_add_escaped(t, (struct str){value.data, min_size(value.size, 200)});
    }
}

// "file:line: key=value: message"
static void fail(struct config_report *report, const struct config *c, enum config_key key, const char *message) {
    char memory[900];
    struct text t = TEXT_IN(memory);
    add_setting(&t, c, key);
    text_addf(&t, ": %s", message);
    config_report_add(report, true, c->settings[key].line, &t);
}

static bool is_default(const struct config *c, enum config_key key) {
    char memory[24];
    struct str text = config_str(c, key);
    return text.size == 0 || str_equal(text, config_default_text(c, key, memory));
}

// Whether a file names Kafka's own default in another form ("class x", "PEM" for a store that we would read).
static bool is_harmless(const struct config *c, enum config_key key) {
    if (is_default(c, key)) return true;
    if (key == CONFIG_SSL_KEYSTORE_TYPE || key == CONFIG_SSL_TRUSTSTORE_TYPE) return str_is(config_str(c, key), "PEM");
    return false;
}

static bool is_zookeeper_key(enum config_key key) {
    return strncmp(config_key_info(key)->name, "zookeeper.", 10) == 0;
}

// The key works; one of its values does not yet.
static bool asks_for_compaction(const struct config *c) {
    struct str rest = config_list_begin(config_str(c, CONFIG_LOG_CLEANUP_POLICY)), entry;
    while (config_list_next(&rest, &entry)) {
        if (str_is(entry, "compact")) return true;
    }
    return false;
}

void config_check_effects(const struct config *c, struct config_report *report) {
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        enum config_key key = (enum config_key)i;
        const struct config_key_info *info = config_key_info(key);
        bool says_something = info->effect == CONFIG_NOT_YET || info->effect == CONFIG_REFUSED;
        if (!says_something || !config_is_set(c, key) || is_harmless(c, key)) continue;
        if (c->is_standalone && (is_zookeeper_key(key) || config_key_is_about_clusters(key))) continue;
        char memory[900];
        struct text t = TEXT_IN(memory);
        add_setting(&t, c, key);
        if (info->effect == CONFIG_REFUSED) {
            text_addf(&t, ": refused: %s", info->effect_reason);
        } else {
            text_addf(&t, ": no effect yet: %s: not built", info->effect_reason);
        }
        config_report_add(report, info->effect == CONFIG_REFUSED, c->settings[key].line, &t);
    }
    if (asks_for_compaction(c)) {
        char memory[300];
        struct text t = TEXT_IN(memory);
        add_setting(&t, c, CONFIG_LOG_CLEANUP_POLICY);
        text_addf(&t, ": compact has no effect yet: compaction: not built");
        config_report_add(report, false, c->settings[CONFIG_LOG_CLEANUP_POLICY].line, &t);
    }
}

// Pairs of which the first may not be greater than the second.
static const struct {
    enum config_key small, large;
} orders[] = {
    {CONFIG_REPLICA_FETCH_WAIT_MAX_MS, CONFIG_REPLICA_SOCKET_TIMEOUT_MS},
    {CONFIG_REPLICA_FETCH_WAIT_MAX_MS, CONFIG_REPLICA_LAG_TIME_MAX_MS},
    {CONFIG_LOG_CLEANER_MIN_COMPACTION_LAG_MS, CONFIG_LOG_CLEANER_MAX_COMPACTION_LAG_MS},
    {CONFIG_OFFSETS_COMMIT_REQUIRED_ACKS, CONFIG_OFFSETS_TOPIC_REPLICATION_FACTOR},
    {CONFIG_GROUP_CONSUMER_MIN_HEARTBEAT_INTERVAL_MS, CONFIG_GROUP_CONSUMER_HEARTBEAT_INTERVAL_MS},
    {CONFIG_GROUP_CONSUMER_HEARTBEAT_INTERVAL_MS, CONFIG_GROUP_CONSUMER_MAX_HEARTBEAT_INTERVAL_MS},
    {CONFIG_GROUP_CONSUMER_MIN_SESSION_TIMEOUT_MS, CONFIG_GROUP_CONSUMER_SESSION_TIMEOUT_MS},
    {CONFIG_GROUP_CONSUMER_SESSION_TIMEOUT_MS, CONFIG_GROUP_CONSUMER_MAX_SESSION_TIMEOUT_MS},
    {CONFIG_GROUP_SHARE_MIN_HEARTBEAT_INTERVAL_MS, CONFIG_GROUP_SHARE_HEARTBEAT_INTERVAL_MS},
    {CONFIG_GROUP_SHARE_HEARTBEAT_INTERVAL_MS, CONFIG_GROUP_SHARE_MAX_HEARTBEAT_INTERVAL_MS},
    {CONFIG_GROUP_SHARE_MIN_SESSION_TIMEOUT_MS, CONFIG_GROUP_SHARE_SESSION_TIMEOUT_MS},
    {CONFIG_GROUP_SHARE_SESSION_TIMEOUT_MS, CONFIG_GROUP_SHARE_MAX_SESSION_TIMEOUT_MS},
};

static void check_orders(const struct config *c, struct config_report *report) {
    for (size_t i = 0; i < ARRAY_LENGTH(orders); i++) {
        enum config_key small = orders[i].small, large = orders[i].large;
        if (config_i64(c, small) <= config_i64(c, large)) continue;
        // The one that somebody wrote is the one to change.
        bool small_is_written = config_is_set(c, small) || !config_is_set(c, large);
        char memory[400];
        struct text t = TEXT_IN(memory);
        text_addf(&t, "must not be %s than ", small_is_written ? "greater" : "less");
        add_setting(&t, c, small_is_written ? large : small);
        fail(report, c, small_is_written ? small : large, t.data);
    }
}

static void check_broker_id(const struct config *c, struct config_report *report) {
    int64_t id = config_i64(c, CONFIG_BROKER_ID);
    enum config_key written = c->settings[CONFIG_BROKER_ID].is_copied ? CONFIG_NODE_ID : CONFIG_BROKER_ID;
    if (id != config_i64(c, CONFIG_NODE_ID))
        fail(report, c, CONFIG_NODE_ID, "must be the same as broker.id, or not be set");
    if (!config_bool(c, CONFIG_BROKER_ID_GENERATION_ENABLE)) {
        if (id < 0) fail(report, c, written, "must be at least 0 while broker.id.generation.enable=false");
    } else if (id < -1 || id > config_i64(c, CONFIG_RESERVED_BROKER_MAX_ID)) {
        fail(report, c, written,
             "must be at least -1 and not greater than reserved.broker.max.id (ids above it are generated)");
    }
}

// The next name of a path; empty: there is none. a//./b/ and a/b have the same names.
static struct str path_next(struct str *path) {
    for (;;) {
        while (path->size > 0 && path->data[0] == '/')
            *path = (struct str){path->data + 1, path->size - 1};
        const char *slash = path->size > 0 ? memchr(path->data, '/', path->size) : NULL;
        struct str name = {path->data, slash ? (size_t)(slash - path->data) : path->size};
        *path = (struct str){path->data + name.size, path->size - name.size};
        if (!str_is(name, ".")) return name;
    }
}

// What is wrong with two log directories, by their names alone; NULL: nothing.
static const char *paths_clash(struct str a, struct str b) {
    if ((a.data[0] == '/') != (b.data[0] == '/')) return NULL;
    for (;;) {
        struct str x = path_next(&a), y = path_next(&b);
        if (x.size == 0 && y.size == 0) return "names a directory twice";
        if (x.size == 0 || y.size == 0) return "one directory lies in the other: each must be by itself";
        if (!str_equal(x, y)) return NULL;
    }
}

static void check_log_dirs(const struct config *c, struct config_report *report) {
    enum config_key key = config_has(c, CONFIG_LOG_DIRS) ? CONFIG_LOG_DIRS : CONFIG_LOG_DIR;
    struct str rest = config_list_begin(config_log_dirs(c)), directory, other;
    size_t directories = 0;
    while (config_list_next(&rest, &directory)) {
        struct str behind = rest;
        directories += directory.size > 0;
        while (directory.size > 0 && config_list_next(&behind, &other)) {
            const char *clash = other.size > 0 ? paths_clash(directory, other) : NULL;
            if (!clash) continue;
            fail(report, c, key, clash);
            return;
        }
    }
    if (directories == 0) fail(report, c, key, "must name at least one directory");
}

static void check_log(const struct config *c, struct config_report *report) {
    static const struct {
        enum config_key key;
        int64_t min;
        const char *message;
    } times[] = {
        {CONFIG_LOG_ROLL_MS, 1, "must be at least 1"},
        {CONFIG_LOG_ROLL_JITTER_MS, 0, "must be at least 0"},
        {CONFIG_LOG_FLUSH_INTERVAL_MS, 0, "must be at least 0"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(times); i++) {
        if (config_has(c, times[i].key) && config_i64(c, times[i].key) < times[i].min)
            fail(report, c, times[i].key, times[i].message);
    }
    static const enum config_key retention[] = {CONFIG_LOG_RETENTION_MS, CONFIG_LOG_RETENTION_MINUTES,
                                                CONFIG_LOG_RETENTION_HOURS};
    for (size_t i = 0; i < ARRAY_LENGTH(retention); i++) {
        if (!config_has(c, retention[i])) continue;
        if (config_i64(c, retention[i]) == 0) fail(report, c, retention[i], "must be -1 (no limit) or at least 1");
        break; // the others do not count
    }
    int64_t cleaners = config_i64(c, CONFIG_LOG_CLEANER_THREADS);
    if (cleaners == 0) {
        fail(report, c, CONFIG_LOG_CLEANER_THREADS,
             "must be at least 1; log.cleaner.enable=false switches compaction off");
    } else if (config_i64(c, CONFIG_LOG_CLEANER_DEDUPE_BUFFER_SIZE) / cleaners <= 1 << 20) {
        fail(report, c, CONFIG_LOG_CLEANER_DEDUPE_BUFFER_SIZE,
             "must be more than 1 MiB for each of log.cleaner.threads");
    }
    if (config_i64(c, CONFIG_OFFSETS_COMMIT_REQUIRED_ACKS) < -1)
        fail(report, c, CONFIG_OFFSETS_COMMIT_REQUIRED_ACKS, "must be at least -1");
    int64_t codec = config_i64(c, CONFIG_OFFSETS_TOPIC_COMPRESSION_CODEC);
    if (codec < 0 || codec > 4) {
        fail(report, c, CONFIG_OFFSETS_TOPIC_COMPRESSION_CODEC,
             "must be 0 (none), 1 (gzip), 2 (snappy), 3 (lz4) or 4 (zstd)");
    }
}

// host:count, comma separated.
static bool is_overrides(struct str text) {
    struct str rest = config_list_begin(text), entry;
    while (config_list_next(&rest, &entry)) {
        struct str host;
        uint32_t count;
        if (!config_host_count(entry, &host, &count)) return false;
        for (size_t i = 0; i < host.size; i++) {
            char h = host.data[i];
            bool is_letter = (h | 0x20) >= 'a' && (h | 0x20) <= 'z';
            if (!is_letter && !(h >= '0' && h <= '9') && !memchr("-.:_%", h, 5)) return false;
        }
    }
    return true;
}

static void check_connections(const struct config *c, struct config_report *report) {
    struct str overrides = config_str(c, CONFIG_MAX_CONNECTIONS_PER_IP_OVERRIDES);
    if (!is_overrides(overrides)) {
        fail(report, c, CONFIG_MAX_CONNECTIONS_PER_IP_OVERRIDES, "must be host:count entries, comma separated");
    }
    if (config_i64(c, CONFIG_MAX_CONNECTIONS_PER_IP) == 0 && overrides.size == 0) {
        fail(report, c, CONFIG_MAX_CONNECTIONS_PER_IP,
             "may be 0 only if max.connections.per.ip.overrides names exceptions");
    }
    int64_t idle = config_i64(c, CONFIG_CONNECTIONS_MAX_IDLE_MS);
    if (idle >= 0 && config_i64(c, CONFIG_CONNECTION_FAILED_AUTHENTICATION_DELAY_MS) >= idle) {
        fail(report, c, CONFIG_CONNECTIONS_MAX_IDLE_MS,
             "must be greater than connection.failed.authentication.delay.ms, or below 0 for no limit");
    }
    int64_t queued = config_i64(c, CONFIG_QUEUED_MAX_REQUEST_BYTES);
    if (queued > 0 && queued < config_i64(c, CONFIG_SOCKET_REQUEST_MAX_BYTES)) {
        fail(report, c, CONFIG_QUEUED_MAX_REQUEST_BYTES,
             "must be at least socket.request.max.bytes, or not above 0 for no limit");
    }
}

static void check_groups(const struct config *c, struct config_report *report) {
    struct str protocols = config_str(c, CONFIG_GROUP_COORDINATOR_REBALANCE_PROTOCOLS);
    struct str rest = config_list_begin(protocols), protocol;
    bool classic = false, others = false;
    while (config_list_next(&rest, &protocol)) {
        if (str_is(protocol, "classic")) {
            classic = true;
        } else {
            others = true;
        }
    }
    if (!classic || others) {
        fail(report, c, CONFIG_GROUP_COORDINATOR_REBALANCE_PROTOCOLS,
             "must be classic: Kafka serves the other protocols in KRaft mode only");
    }
}

static void check_mode(const struct config *c, struct config_report *report) {
    if (c->is_standalone || config_str(c, CONFIG_ZOOKEEPER_CONNECT).size > 0) return;
    fail(report, c, CONFIG_TAILRACE_MODE,
         "needs zookeeper.connect; a broker by itself: tailrace.mode=standalone, or --standalone");
}

// A file may be checked on another machine than the one that it is for: no error.
static void check_memory(const struct config *c, struct config_report *report) {
    int64_t memory = config_i64(c, CONFIG_TAILRACE_MEMORY);
    if (c->memory_total_bytes <= 0 || memory <= c->memory_total_bytes) return;
    char space[200];
    struct text t = TEXT_IN(space);
    add_setting(&t, c, CONFIG_TAILRACE_MEMORY);
    text_addf(&t, ": this machine has %lld bytes", (long long)c->memory_total_bytes);
    config_report_add(report, false, c->settings[CONFIG_TAILRACE_MEMORY].line, &t);
}

void config_check_fields(const struct config *c, struct arena *a, struct config_report *report) {
    check_mode(c, report);
    check_broker_id(c, report);
    check_orders(c, report);
    check_log_dirs(c, report);
    check_log(c, report);
    check_connections(c, report);
    check_groups(c, report);
    check_memory(c, report);
    config_check_listeners(c, a, report);
}
