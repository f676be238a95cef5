// SPDX-License-Identifier: Apache-2.0
// DescribeConfigs: every setting of a topic or a broker, with where it comes from (trap 15), and the levels of a
// broker's loggers. What each setting says is config/describe.h's business; here are the resources, the filters and the
// versions.
//
// A resource type that nobody knows is refused with the whole request; one that is known but cannot be described,
// alone.
#include "protocol/messages/describe_configs.h"
#include "api/facts.h"
#include "api/handlers.h"
#include "base/text.h"
#include "config/describe.h"
#include "config/topic_name.h"
#include "core/loggers.h"
#include "metadata/publish.h"
#include "protocol/message.h"

enum { RESOURCE_TOPIC = 2, RESOURCE_BROKER = 4, RESOURCE_LOGGERS = 8, RESOURCE_CLIENT_METRICS = 16 };
enum { SOURCE_LOGGERS = 6, TYPE_UNKNOWN = 0 };

struct describe {
    struct api_call *call;
    const struct describe_configs_request *request;
    const struct image *image;
    struct logger_query loggers; // asked only if a resource is of that type
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

static bool answer_error(struct describe_configs_response_result *result, int16_t error, struct str message) {
    result->error_code = error;
    result->error_message = message;
    return true;
}
#define REFUSE(d, result, ...)                                                                                         \
    answer_error(result, KAFKA_ERROR_INVALID_REQUEST, arena_format(&(d)->call->request->arena, __VA_ARGS__))

static bool answer_topic(struct describe *d, const struct describe_configs_request_resource *asked,
                         struct describe_configs_response_result *result) {
    if (!topic_name_is_legal(asked->resource_name)) {
        char memory[1024];
        struct text reason = TEXT_IN(memory);
        topic_name_problem(asked->resource_name, &reason);
        return answer_error(result, KAFKA_ERROR_INVALID_TOPIC_EXCEPTION,
                            arena_copy_str(&d->call->request->arena, str_of(memory)));
    }
    const struct image_topic *topic = image_topic_by_name(d->image, asked->resource_name);
    if (!topic || !image_topic_is_visible(topic))
        return answer_error(result, KAFKA_ERROR_UNKNOWN_TOPIC_OR_PARTITION, str_of(""));
    return answer_settings(d, asked, (struct cursor){CURSOR_TOPIC, topic->overrides, 0}, result);
}

// True: it is this broker's id. False: *answered says whether there is still memory.
static bool is_this_broker(struct describe *d, const struct describe_configs_request_resource *asked,
                           const char *expected, struct describe_configs_response_result *result, bool *answered) {
    struct str name = asked->resource_name;
    int name_size = (int)min_size(name.size, 64);
    int64_t id;
    if (!parse_java_i64(name, INT32_MIN, INT32_MAX, &id)) {
        *answered = REFUSE(d, result, "Broker id must be an integer, but it is: %.*s", name_size, name.data);
        return false;
    }
    if (id == d->image->broker_id) return true;
    *answered = REFUSE(d, result, "Unexpected broker id, expected %d%s but received %.*s", d->image->broker_id,
                       expected, name_size, name.data);
    return false;
}

static bool answer_broker(struct describe *d, const struct describe_configs_request_resource *asked,
                          struct describe_configs_response_result *result) {
    bool answered;
    if (asked->resource_name.size == 0)
        return answer_settings(d, asked, (struct cursor){.kind = CURSOR_CLUSTER}, result);
    if (!is_this_broker(d, asked, " or empty string,", result, &answered)) return answered;
    return answer_settings(d, asked, (struct cursor){.kind = CURSOR_BROKER}, result);
}

static bool answer_loggers(struct describe *d, const struct describe_configs_request_resource *asked,
                           struct describe_configs_response_result *result) {
    bool answered;
    if (asked->resource_name.size == 0) return REFUSE(d, result, "Broker id must not be empty");
    if (!is_this_broker(d, asked, "", result, &answered)) return answered;
    result->configs = call_alloc_array(d->call, LOGGER_COUNT, sizeof *result->configs);
    if (!result->configs) return false;
    for (size_t i = 0; i < LOGGER_COUNT; i++) {
        if (!is_wanted(asked, str_of(logger_name(i)))) continue;
        result->configs[result->configs_count++] = (struct describe_configs_response_config){
            .name = str_of(logger_name(i)),
            .value = str_of(logger_level_name(d->loggers.levels[i])),
            .config_source = SOURCE_LOGGERS,
            .config_type = TYPE_UNKNOWN,
            .documentation = str_of(""),
        };
    }
    return true;
}

static bool answer_client_metrics(struct describe *d, const struct describe_configs_request_resource *asked,
                                  struct describe_configs_response_result *result) {
    if (asked->resource_name.size == 0) return REFUSE(d, result, "Client metrics subscription name must not be empty");
    return REFUSE(d, result, "Config type client-metrics is only supported on KRaft clusters");
}

static bool answer_resource(struct describe *d, const struct describe_configs_request_resource *asked,
                            struct describe_configs_response_result *result) {
    *result = (struct describe_configs_response_result){
        .error_message = str_of(""), .resource_type = asked->resource_type, .resource_name = asked->resource_name};
    switch (asked->resource_type) {
    case RESOURCE_TOPIC: return answer_topic(d, asked, result);
    case RESOURCE_BROKER: return answer_broker(d, asked, result);
    case RESOURCE_LOGGERS: return answer_loggers(d, asked, result);
    case RESOURCE_CLIENT_METRICS: return answer_client_metrics(d, asked, result);
    default: UNREACHABLE(); // the whole request was refused
    }
}

static bool is_known(int8_t type) {
    return type == RESOURCE_TOPIC || type == RESOURCE_BROKER || type == RESOURCE_LOGGERS ||
           type == RESOURCE_CLIENT_METRICS;
}

// Room for an answer to each resource. False: no memory, the connection is being closed.
static bool response_begin(struct describe *d, struct describe_configs_response *response) {
    message_default(d->call->api->response, response);
    response->results = call_alloc_array(d->call, d->request->resources_count, sizeof *response->results);
    return response->results != NULL;
}

static void answer(struct describe *d) {
    const struct describe_configs_request *request = d->request;
    struct describe_configs_response response;
    if (!response_begin(d, &response)) return;
    for (int32_t i = 0; i < request->resources_count; i++) {
        if (!answer_resource(d, &request->resources[i], &response.results[response.results_count++])) return;
    }
    respond(d->call, &response);
}

static void refuse_all(struct describe *d) {
    const struct describe_configs_request *request = d->request;
    struct describe_configs_response response;
    if (!response_begin(d, &response)) return;
    for (int32_t i = 0; i < request->resources_count; i++) {
        const struct describe_configs_request_resource *asked = &request->resources[i];
        response.results[response.results_count++] = (struct describe_configs_response_result){
            .error_code = KAFKA_ERROR_INVALID_REQUEST,
            .error_message = str_of(kafka_error_text(KAFKA_ERROR_INVALID_REQUEST)),
            .resource_type = asked->resource_type,
            .resource_name = asked->resource_name,
        };
    }
    respond(d->call, &response);
}

static void loggers_known(struct core *core, struct logger_query *query) {
    struct describe *d = container_of(query, struct describe, loggers);
    d->image = image_of(core);
    answer(d);
}

void handle_describe_configs(struct api_call *call) {
    struct describe *d = call_alloc(call, sizeof *d);
    if (!d) return;
    *d = (struct describe){
        .call = call, .request = call->body, .image = image_of(call->core), .loggers.answered = loggers_known};
    bool asks_loggers = false;
    for (int32_t i = 0; i < d->request->resources_count; i++) {
        if (!is_known(d->request->resources[i].resource_type)) return refuse_all(d);
        asks_loggers |= d->request->resources[i].resource_type == RESOURCE_LOGGERS;
    }
    if (!asks_loggers) return answer(d);
    logger_query_send(call->core, &d->loggers);
}
