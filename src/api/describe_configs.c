// SPDX-License-Identifier: Apache-2.0
// DescribeConfigs: every setting of a topic or a broker, with where it comes from (trap 15). What each setting says is
// config/describe.h's business; here are the resources, the filters and the versions.
#include "protocol/messages/describe_configs.h"
#include "api/facts.h"
#include "api/handlers.h"
#include "base/text.h"
#include "config/describe.h"
#include "config/topic_name.h"
#include "metadata/publish.h"
#include "protocol/message.h"

enum { RESOURCE_TOPIC = 2, RESOURCE_BROKER = 4, RESOURCE_BROKER_LOGGER = 8 };

struct describe {
    struct api_call *call;
    const struct describe_configs_request *request;
    const struct image *image;
};
// One resource's settings, one after the other.
struct cursor {
    enum { CURSOR_TOPIC, CURSOR_BROKER, CURSOR_CLUSTER } kind;
    struct config_map overrides;
    size_t position;
};

static bool cursor_next(struct describe *d, struct cursor *cursor, struct config_description *description) {
    struct arena *arena = &d->call->request->arena;
    const struct config *config = d->image->config;
    switch (cursor->kind) {
    case CURSOR_TOPIC: return config_describe_topic(arena, config, cursor->overrides, &cursor->position, description);
    case CURSOR_BROKER: return config_describe_broker(arena, config, &cursor->position, description);
    case CURSOR_CLUSTER: return config_describe_cluster(arena, config, &cursor->position, description);
    }
    UNREACHABLE();
}

// A null or empty list asks for all.
static bool is_wanted(const struct describe_configs_request_resource *asked, struct str name) {
    if (asked->configuration_keys_count <= 0) return true;
    for (int32_t i = 0; i < asked->configuration_keys_count; i++) {
        if (str_equal(asked->configuration_keys[i], name)) return true;
    }
    return false;
}

static bool answer_setting(struct describe *d, const struct config_description *from,
                           struct describe_configs_response_config *to) {
    *to = (struct describe_configs_response_config){
        .name = from->name,
        .value = from->value,
        .read_only = from->is_read_only,
        .config_source = (int8_t)from->source,
        .is_sensitive = from->is_sensitive,
        .config_type = (int8_t)from->type,
    };
    if (d->request->include_documentation && from->documentation) to->documentation = str_of(from->documentation);
    if (!d->request->include_synonyms) return true;
    to->synonyms = call_alloc_array(d->call, (int32_t)from->synonym_count, sizeof *to->synonyms);
    if (!to->synonyms) return false;
    for (size_t i = 0; i < from->synonym_count; i++) {
        to->synonyms[to->synonyms_count++] = (struct describe_configs_response_synonym){
            from->synonyms[i].name, from->synonyms[i].value, (int8_t)from->synonyms[i].source};
    }
    return true;
}

static bool answer_settings(struct describe *d, const struct describe_configs_request_resource *asked,
                            struct cursor start, struct describe_configs_response_result *result) {
    struct config_description description;
    int32_t count = 0;
    for (struct cursor cursor = start; cursor_next(d, &cursor, &description);)
        count++;
    result->configs = call_alloc_array(d->call, count, sizeof *result->configs);
    if (!result->configs) return false;
    for (struct cursor cursor = start; cursor_next(d, &cursor, &description);) {
        if (!is_wanted(asked, description.name)) continue;
        ASSERT(result->configs_count < count);
        if (!answer_setting(d, &description, &result->configs[result->configs_count++])) return false;
    }
    return true;
}

static bool answer_error(struct describe *d, struct describe_configs_response_result *result, int16_t error,
                         const char *message) {
    (void)d;
    result->error_code = error;
    result->error_message = str_of(message);
    return true;
}

static bool answer_topic(struct describe *d, const struct describe_configs_request_resource *asked,
                         struct describe_configs_response_result *result) {
    if (!topic_name_is_legal(asked->resource_name))
        return answer_error(d, result, KAFKA_ERROR_INVALID_TOPIC_EXCEPTION, "illegal topic name");
    const struct image_topic *topic = image_topic_by_name(d->image, asked->resource_name);
    if (!topic || topic->deleting) return answer_error(d, result, KAFKA_ERROR_UNKNOWN_TOPIC_OR_PARTITION, "");
    return answer_settings(d, asked, (struct cursor){CURSOR_TOPIC, topic->overrides, 0}, result);
}

static bool answer_broker(struct describe *d, const struct describe_configs_request_resource *asked,
                          struct describe_configs_response_result *result) {
    if (asked->resource_name.size == 0)
        return answer_settings(d, asked, (struct cursor){.kind = CURSOR_CLUSTER}, result);
    int64_t id;
    if (!parse_i64(asked->resource_name, INT32_MIN, INT32_MAX, &id)) {
        return answer_error(d, result, KAFKA_ERROR_INVALID_REQUEST, "broker id must be an integer");
    }
    if (id != d->image->broker_id)
        return answer_error(d, result, KAFKA_ERROR_INVALID_REQUEST, "ask the broker with that id");
    return answer_settings(d, asked, (struct cursor){.kind = CURSOR_BROKER}, result);
}

static bool answer_resource(struct describe *d, const struct describe_configs_request_resource *asked,
                            struct describe_configs_response_result *result) {
    *result = (struct describe_configs_response_result){
        .error_message = str_of(""), .resource_type = asked->resource_type, .resource_name = asked->resource_name};
    switch (asked->resource_type) {
    case RESOURCE_TOPIC: return answer_topic(d, asked, result);
    case RESOURCE_BROKER: return answer_broker(d, asked, result);
    default:
        return answer_error(d, result, KAFKA_ERROR_INVALID_REQUEST,
                            "resource type is not supported: 2 (topic) and 4 (broker) are");
    }
}

void handle_describe_configs(struct api_call *call) {
    struct describe d = {call, call->body, image_of(call->core)};
    struct describe_configs_response response;
    message_default(call->api->response, &response);
    response.results = call_alloc_array(call, d.request->resources_count, sizeof *response.results);
    if (!response.results) return;
    for (int32_t i = 0; i < d.request->resources_count; i++) {
        if (!answer_resource(&d, &d.request->resources[i], &response.results[response.results_count++])) return;
    }
    respond(call, &response);
}
