// SPDX-License-Identifier: Apache-2.0
// Paths and values of Kafka's tree. JSON by jansson: objects keep the order in which their fields were put, so what we
// write is the same text each time.
#include "metastore/paths.h"
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *const znode_persistent_roots[] = {
    "/admin",
    ZNODE_DELETE_TOPICS,
    "/brokers",
    ZNODE_BROKER_IDS,
    ZNODE_TOPICS,
    "/brokers/seqid",
    ZNODE_CLUSTER,
    "/config",
    "/config/changes",
    "/config/clients",
    "/config/brokers",
    "/config/ips",
    "/config/topics",
    "/config/users",
    "/consumers",
    "/isr_change_notification",
    "/latest_producer_id_block",
    "/log_dir_event_notification",
};
const size_t znode_persistent_root_count = ARRAY_LENGTH(znode_persistent_roots);

// ---- paths

__attribute__((format(printf, 2, 3))) static void path_print(char path[static ZNODE_PATH_SIZE], const char *format,
                                                             ...);
static void path_print(char path[static ZNODE_PATH_SIZE], const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(path, ZNODE_PATH_SIZE, format, arguments);
    va_end(arguments);
    if (n < 0 || n >= ZNODE_PATH_SIZE) path[0] = '\0';
}

void znode_path(char path[static ZNODE_PATH_SIZE], const char *parent, struct str name) {
    path_print(path, "%s/%.*s", parent, (int)min_size(name.size, ZNODE_PATH_SIZE), name.data);
}
void znode_topic_path(char path[static ZNODE_PATH_SIZE], struct str topic) {
    znode_path(path, ZNODE_TOPICS, topic);
}
void znode_partitions_path(char path[static ZNODE_PATH_SIZE], struct str topic) {
    path_print(path, ZNODE_TOPICS "/%.*s/partitions", (int)min_size(topic.size, ZNODE_PATH_SIZE), topic.data);
}
void znode_partition_path(char path[static ZNODE_PATH_SIZE], struct str topic, int32_t partition) {
    path_print(path, ZNODE_TOPICS "/%.*s/partitions/%" PRId32, (int)min_size(topic.size, ZNODE_PATH_SIZE), topic.data,
               partition);
}
void znode_state_path(char path[static ZNODE_PATH_SIZE], struct str topic, int32_t partition) {
    path_print(path, ZNODE_TOPICS "/%.*s/partitions/%" PRId32 "/state", (int)min_size(topic.size, ZNODE_PATH_SIZE),
               topic.data, partition);
}
void znode_broker_path(char path[static ZNODE_PATH_SIZE], int32_t broker) {
    path_print(path, ZNODE_BROKER_IDS "/%" PRId32, broker);
}
void znode_offset_path(char path[static ZNODE_PATH_SIZE], struct str group, struct str topic, int32_t partition) {
    path_print(path, "/consumers/%.*s/offsets/%.*s/%" PRId32, (int)min_size(group.size, ZNODE_PATH_SIZE), group.data,
               (int)min_size(topic.size, ZNODE_PATH_SIZE), topic.data, partition);
}

// ---- JSON helpers

static struct bytes encode_end(struct arena *a, json_t *root) {
    ASSERT(root != NULL);
    char *text = json_dumps(root, JSON_COMPACT);
    json_decref(root);
    struct bytes result = {0};
    if (!text) return result;
    struct str copy = arena_copy_str(a, str_of(text));
    free(text);
    return (struct bytes){(const uint8_t *)copy.data, copy.size};
}

static bool bad(struct text *reason, const char *what) {
    text_addf(reason, "%s", what);
    return false;
}
static bool bad_field(struct text *reason, const char *field, const char *wanted) {
    text_addf(reason, "field \"%s\" is not %s", field, wanted);
    return false;
}

// The object, or NULL with a reason. The caller decrefs it.
static json_t *decode_begin(struct bytes data, struct text *reason) {
    if (!data.data) {
        bad(reason, "the node has no data");
        return NULL;
    }
    json_error_t error;
    json_t *root = json_loadb((const char *)data.data, data.size, 0, &error);
    if (!root) {
        text_addf(reason, "not JSON: byte %d: %s", error.position, error.text);
    } else if (!json_is_object(root)) {
        bad(reason, "not a JSON object");
        json_decref(root);
        root = NULL;
    }
    return root;
}

static bool get_i64(json_t *object, const char *field, int64_t min, int64_t max, int64_t *value, struct text *reason) {
    json_t *found = json_object_get(object, field);
    if (!json_is_integer(found) || json_integer_value(found) < min || json_integer_value(found) > max)
        return bad_field(reason, field, "a whole number in its range");
    *value = json_integer_value(found);
    return true;
}
static bool get_i32(json_t *object, const char *field, int32_t min, int32_t *value, struct text *reason) {
    int64_t wide;
    if (!get_i64(object, field, min, INT32_MAX, &wide, reason)) return false;
    *value = (int32_t)wide;
    return true;
}
// A number written as a string, as Kafka does for 64-bit values.
static bool get_text_i64(json_t *object, const char *field, int64_t min, int64_t *value, struct text *reason) {
    json_t *found = json_object_get(object, field);
    if (!json_is_string(found) ||
        !parse_i64((struct str){json_string_value(found), json_string_length(found)}, min, INT64_MAX, value))
        return bad_field(reason, field, "a number in quotes");
    return true;
}
static bool copy_string(struct arena *a, json_t *value, struct str *out, struct text *reason) {
    *out = arena_copy_str(a, (struct str){json_string_value(value), json_string_length(value)});
    return out->data != NULL || bad(reason, "too large");
}

// A list of broker ids without repetition.
static bool get_ids(struct arena *a, json_t *array, const char *field, const int32_t **ids, int32_t *count,
                    struct text *reason) {
    size_t n = json_is_array(array) ? json_array_size(array) : 0;
    if (!json_is_array(array) || n > INT16_MAX) return bad_field(reason, field, "a list of broker ids");
    int32_t *out = arena_alloc_array(a, n, sizeof *out);
    if (!out) return bad(reason, "too large");
    for (size_t i = 0; i < n; i++) {
        json_t *id = json_array_get(array, i);
        if (!json_is_integer(id) || json_integer_value(id) < 0 || json_integer_value(id) > INT32_MAX)
            return bad_field(reason, field, "a list of broker ids");
        out[i] = (int32_t)json_integer_value(id);
        for (size_t j = 0; j < i; j++)
            if (out[j] == out[i]) return bad_field(reason, field, "a list without repetitions");
    }
    *ids = out;
    *count = (int32_t)n;
    return true;
}

static json_t *put_ids(const int32_t *ids, int32_t count) {
    json_t *array = json_array();
    for (int32_t i = 0; i < count; i++)
        json_array_append_new(array, json_integer(ids[i]));
    return array;
}

// Of base64url's characters only.
static bool is_id(const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_'))
            return false;
    }
    return true;
}

// ---- /brokers/topics/<topic>

static json_t *put_replica_map(const struct znode_replicas *rows, size_t count) {
    json_t *map = json_object();
    for (size_t i = 0; i < count; i++) {
        char number[16];
        snprintf(number, sizeof number, "%" PRId32, rows[i].partition);
        json_object_set_new(map, number, put_ids(rows[i].brokers, rows[i].count));
    }
    return map;
}

struct bytes znode_topic_encode(struct arena *a, const struct znode_topic *topic) {
    json_t *root = json_object();
    json_object_set_new(root, "version", json_integer(3));
    if (topic->id[0]) json_object_set_new(root, "topic_id", json_string(topic->id));
    json_object_set_new(root, "partitions", put_replica_map(topic->partitions, topic->partition_count));
    json_object_set_new(root, "adding_replicas", put_replica_map(topic->adding, topic->adding_count));
    json_object_set_new(root, "removing_replicas", put_replica_map(topic->removing, topic->removing_count));
    return encode_end(a, root);
}

static int compare_replicas(const void *a, const void *b) {
    const struct znode_replicas *x = a, *y = b;
    return (x->partition > y->partition) - (x->partition < y->partition);
}

static bool get_replica_map(struct arena *a, json_t *map, const char *field, const struct znode_replicas **out,
                            size_t *count, struct text *reason) {
    if (!json_is_object(map)) return bad_field(reason, field, "an object");
    struct znode_replicas *rows = arena_alloc_array(a, json_object_size(map), sizeof *rows);
    if (!rows) return bad(reason, "too large");
    size_t n = 0;
    const char *key;
    json_t *value;
    json_object_foreach(map, key, value) {
        int64_t partition;
        if (!parse_i64(str_of(key), 0, INT32_MAX - 1, &partition))
            return bad_field(reason, field, "keyed by partition numbers");
        rows[n].partition = (int32_t)partition;
        if (!get_ids(a, value, field, &rows[n].brokers, &rows[n].count, reason)) return false;
        n++;
    }
    qsort(rows, n, sizeof *rows, compare_replicas);
    for (size_t i = 1; i < n; i++) // "1" and "01"
        if (rows[i].partition == rows[i - 1].partition) return bad_field(reason, field, "without repetitions");
    *out = rows;
    *count = n;
    return true;
}

static bool topic_fields(struct arena *a, json_t *root, struct znode_topic *topic, struct text *reason) {
    int32_t version;
    if (!get_i32(root, "version", 1, &version, reason)) return false;
    json_t *id = json_object_get(root, "topic_id");
    if (id) {
        if (!json_is_string(id) || json_string_length(id) != ZNODE_ID_SIZE ||
            !is_id(json_string_value(id), ZNODE_ID_SIZE))
            return bad_field(reason, "topic_id", "22 characters of base64url");
        memcpy(topic->id, json_string_value(id), ZNODE_ID_SIZE);
    }
    if (!get_replica_map(a, json_object_get(root, "partitions"), "partitions", &topic->partitions,
                         &topic->partition_count, reason))
        return false;
    json_t *adding = json_object_get(root, "adding_replicas"), *removing = json_object_get(root, "removing_replicas");
    if (adding && !get_replica_map(a, adding, "adding_replicas", &topic->adding, &topic->adding_count, reason))
        return false;
    return !removing ||
           get_replica_map(a, removing, "removing_replicas", &topic->removing, &topic->removing_count, reason);
}

bool znode_topic_decode(struct arena *a, struct bytes data, struct znode_topic *topic, struct text *reason) {
    *topic = (struct znode_topic){0};
    json_t *root = decode_begin(data, reason);
    bool ok = root && topic_fields(a, root, topic, reason);
    json_decref(root);
    return ok;
}

// ---- .../state

struct bytes znode_state_encode(struct arena *a, const struct znode_state *state) {
    json_t *root = json_object();
    json_object_set_new(root, "controller_epoch", json_integer(state->controller_epoch));
    json_object_set_new(root, "leader", json_integer(state->leader));
    json_object_set_new(root, "version", json_integer(1));
    json_object_set_new(root, "leader_epoch", json_integer(state->leader_epoch));
    json_object_set_new(root, "isr", put_ids(state->isr, state->isr_count));
    if (state->recovering) json_object_set_new(root, "leader_recovery_state", json_integer(1));
    return encode_end(a, root);
}

static bool state_fields(struct arena *a, json_t *root, struct znode_state *state, struct text *reason) {
    json_t *recovery = json_object_get(root, "leader_recovery_state");
    if (recovery && !(json_is_integer(recovery) && (json_integer_value(recovery) & ~(json_int_t)1) == 0))
        return bad_field(reason, "leader_recovery_state", "0 or 1");
    state->recovering = recovery && json_integer_value(recovery) == 1;
    return get_i32(root, "leader", -1, &state->leader, reason) &&
           get_i32(root, "leader_epoch", 0, &state->leader_epoch, reason) &&
           get_i32(root, "controller_epoch", 0, &state->controller_epoch, reason) &&
           get_ids(a, json_object_get(root, "isr"), "isr", &state->isr, &state->isr_count, reason);
}

bool znode_state_decode(struct arena *a, struct bytes data, struct znode_state *state, struct text *reason) {
    *state = (struct znode_state){0};
    json_t *root = decode_begin(data, reason);
    bool ok = root && state_fields(a, root, state, reason);
    json_decref(root);
    return ok;
}

// ---- /config

struct bytes znode_settings_encode(struct arena *a, const struct znode_settings *settings) {
    json_t *root = json_object(), *map = json_object();
    json_object_set_new(root, "version", json_integer(1));
    for (size_t i = 0; i < settings->count; i++) {
        const struct znode_setting *s = &settings->settings[i];
        // Java replaces what is not UTF-8; we refuse to write it.
        json_t *value = json_stringn(s->value.data, s->value.size);
        if (!value || json_object_setn_new(map, s->key.data, s->key.size, value) != 0) {
            json_decref(map);
            json_decref(root);
            return (struct bytes){0};
        }
    }
    json_object_set_new(root, "config", map);
    return encode_end(a, root);
}

static bool settings_fields(struct arena *a, json_t *root, struct znode_settings *out, struct text *reason) {
    int32_t version;
    if (!get_i32(root, "version", 1, &version, reason)) return false;
    json_t *map = json_object_get(root, "config");
    if (!json_is_object(map)) return bad_field(reason, "config", "an object");
    struct znode_setting *settings = arena_alloc_array(a, json_object_size(map), sizeof *settings);
    if (!settings) return bad(reason, "too large");
    const char *key;
    json_t *value;
    size_t n = 0;
    json_object_foreach(map, key, value) {
        if (!json_is_string(value)) return bad_field(reason, "config", "an object of strings");
        settings[n].key = arena_copy_str(a, str_of(key));
        if (!settings[n].key.data) return bad(reason, "too large");
        if (!copy_string(a, value, &settings[n].value, reason)) return false;
        n++;
    }
    *out = (struct znode_settings){settings, n};
    return true;
}

bool znode_settings_decode(struct arena *a, struct bytes data, struct znode_settings *settings, struct text *reason) {
    *settings = (struct znode_settings){0};
    if (!data.data) return true;
    json_t *root = decode_begin(data, reason);
    bool ok = root && settings_fields(a, root, settings, reason);
    json_decref(root);
    return ok;
}

struct bytes znode_config_change_encode(struct arena *a, struct str entity) {
    json_t *path = json_stringn(entity.data, entity.size);
    if (!path) return (struct bytes){0};
    json_t *root = json_object();
    json_object_set_new(root, "version", json_integer(2));
    json_object_set_new(root, "entity_path", path);
    return encode_end(a, root);
}

// ---- /brokers/ids/<id>

struct bytes znode_broker_encode(struct arena *a, const struct znode_broker *broker) {
    json_t *root = json_object(), *endpoints = json_array(), *protocols = json_object();
    const struct znode_endpoint *plain = NULL;
    for (size_t i = 0; i < broker->endpoint_count; i++) {
        const struct znode_endpoint *e = &broker->endpoints[i];
        bool is_ipv6 = e->host.size > 0 && memchr(e->host.data, ':', e->host.size) != NULL;
        json_array_append_new(endpoints, json_sprintf("%.*s://%s%.*s%s:%" PRId32, (int)e->listener.size,
                                                      e->listener.data, is_ipv6 ? "[" : "", (int)e->host.size,
                                                      e->host.data, is_ipv6 ? "]" : "", e->port));
        json_object_setn_new(protocols, e->listener.data, e->listener.size,
                             json_stringn(e->protocol.data, e->protocol.size));
        if (!plain && str_is(e->protocol, "PLAINTEXT")) plain = e;
    }
    json_object_set_new(root, "features", json_object());
    json_object_set_new(root, "listener_security_protocol_map", protocols);
    json_object_set_new(root, "endpoints", endpoints);
    if (!str_is_null(broker->rack))
        json_object_set_new(root, "rack", json_stringn(broker->rack.data, broker->rack.size));
    json_object_set_new(root, "jmx_port", json_integer(-1));
    json_object_set_new(root, "port", json_integer(plain ? plain->port : -1));
    json_object_set_new(root, "host", plain ? json_stringn(plain->host.data, plain->host.size) : json_null());
    json_object_set_new(root, "version", json_integer(5));
    json_object_set_new(root, "timestamp", json_sprintf("%" PRId64, broker->timestamp_ms));
    return encode_end(a, root);
}

// NAME://host:port; the protocol is the listener's in the map, or the name itself (old brokers).
static bool decode_endpoint(struct arena *a, json_t *value, json_t *protocols, struct znode_endpoint *endpoint,
                            struct text *reason) {
    static const char wanted[] = "a list of NAME://host:port";
    struct str whole;
    if (!json_is_string(value)) return bad_field(reason, "endpoints", wanted);
    if (!copy_string(a, value, &whole, reason)) return false;
    const char *separator = strstr(whole.data, "://"), *colon = strrchr(whole.data, ':');
    if (!separator || separator == whole.data || colon <= separator) return bad_field(reason, "endpoints", wanted);
    struct str host = {separator + 3, (size_t)(colon - separator - 3)};
    if (host.size >= 2 && host.data[0] == '[' && host.data[host.size - 1] == ']')
        host = (struct str){host.data + 1, host.size - 2};
    int64_t port;
    if (!parse_i64(str_of(colon + 1), 0, 65535, &port)) return bad_field(reason, "endpoints", wanted);
    *endpoint = (struct znode_endpoint){
        .listener = {whole.data, (size_t)(separator - whole.data)}, .host = host, .port = (int32_t)port};
    json_t *protocol = json_is_object(protocols)
                           ? json_object_getn(protocols, endpoint->listener.data, endpoint->listener.size)
                           : NULL;
    endpoint->protocol = endpoint->listener;
    return !json_is_string(protocol) || copy_string(a, protocol, &endpoint->protocol, reason);
}

static bool broker_fields(struct arena *a, json_t *root, struct znode_broker *broker, struct text *reason) {
    int32_t version;
    if (!get_i32(root, "version", 1, &version, reason)) return false;
    json_t *list = json_object_get(root, "endpoints"), *rack = json_object_get(root, "rack");
    if (version == 1) {
        struct znode_endpoint *endpoint = arena_alloc(a, sizeof *endpoint);
        json_t *host = json_object_get(root, "host");
        if (!endpoint || !json_is_string(host)) return bad_field(reason, "host", "a string");
        *endpoint = (struct znode_endpoint){.listener = str_of("PLAINTEXT"), .protocol = str_of("PLAINTEXT")};
        broker->endpoints = endpoint;
        broker->endpoint_count = 1;
        return copy_string(a, host, &endpoint->host, reason) && get_i32(root, "port", 0, &endpoint->port, reason);
    }
    if (!json_is_array(list)) return bad_field(reason, "endpoints", "a list of NAME://host:port");
    struct znode_endpoint *endpoints = arena_alloc_array(a, json_array_size(list), sizeof *endpoints);
    if (!endpoints) return bad(reason, "too large");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!decode_endpoint(a, json_array_get(list, i), json_object_get(root, "listener_security_protocol_map"),
                             &endpoints[i], reason))
            return false;
    broker->endpoints = endpoints;
    broker->endpoint_count = json_array_size(list);
    return !json_is_string(rack) || copy_string(a, rack, &broker->rack, reason);
}

bool znode_broker_decode(struct arena *a, struct bytes data, struct znode_broker *broker, struct text *reason) {
    *broker = (struct znode_broker){0};
    json_t *root = decode_begin(data, reason);
    bool ok = root && broker_fields(a, root, broker, reason);
    json_decref(root);
    return ok;
}

// ---- small ones

struct bytes znode_controller_encode(struct arena *a, int32_t broker, int64_t timestamp_ms) {
    json_t *root = json_object();
    json_object_set_new(root, "version", json_integer(2));
    json_object_set_new(root, "brokerid", json_integer(broker));
    json_object_set_new(root, "timestamp", json_sprintf("%" PRId64, timestamp_ms));
    json_object_set_new(root, "kraftControllerEpoch", json_integer(-1));
    return encode_end(a, root);
}

bool znode_controller_decode(struct arena *a, struct bytes data, int32_t *broker, struct text *reason) {
    (void)a;
    json_t *root = decode_begin(data, reason);
    bool ok = root && get_i32(root, "brokerid", 0, broker, reason);
    json_decref(root);
    return ok;
}

struct bytes znode_number_encode(struct arena *a, int64_t number) {
    char memory[24];
    snprintf(memory, sizeof memory, "%" PRId64, number);
    struct str copy = arena_copy_str(a, str_of(memory));
    return (struct bytes){(const uint8_t *)copy.data, copy.size};
}

bool znode_number_decode(struct bytes data, int64_t min, int64_t max, int64_t *number, struct text *reason) {
    if (data.data && parse_i64((struct str){(const char *)data.data, data.size}, min, max, number)) return true;
    return bad(reason, "not a number in its range");
}

struct bytes znode_cluster_id_encode(struct arena *a, struct str id) {
    json_t *text = json_stringn(id.data, id.size);
    if (!text) return (struct bytes){0};
    json_t *root = json_object();
    json_object_set_new(root, "version", json_string("1"));
    json_object_set_new(root, "id", text);
    return encode_end(a, root);
}

bool znode_cluster_id_decode(struct arena *a, struct bytes data, struct str *id, struct text *reason) {
    json_t *root = decode_begin(data, reason);
    json_t *text = root ? json_object_get(root, "id") : NULL;
    size_t size = json_string_length(text); // 0 if it is none
    bool ok = root && (size > 0 && size <= ZNODE_CLUSTER_ID_MAX && is_id(json_string_value(text), size)
                           ? copy_string(a, text, id, reason)
                           : bad_field(reason, "id", "an id of base64url characters"));
    json_decref(root);
    return ok;
}

struct bytes znode_producer_block_encode(struct arena *a, const struct znode_producer_block *block) {
    json_t *root = json_object();
    json_object_set_new(root, "version", json_integer(1));
    json_object_set_new(root, "broker", json_integer(block->broker));
    json_object_set_new(root, "block_start", json_sprintf("%" PRId64, block->first));
    json_object_set_new(root, "block_end", json_sprintf("%" PRId64, block->last));
    return encode_end(a, root);
}

bool znode_producer_block_decode(struct arena *a, struct bytes data, struct znode_producer_block *block,
                                 struct text *reason) {
    (void)a;
    json_t *root = decode_begin(data, reason);
    bool ok = root && get_i32(root, "broker", 0, &block->broker, reason) &&
              get_text_i64(root, "block_start", 0, &block->first, reason) &&
              get_text_i64(root, "block_end", 0, &block->last, reason) &&
              (block->last >= block->first || bad_field(reason, "block_end", "at or above the start"));
    json_decref(root);
    return ok;
}
