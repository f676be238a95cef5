// SPDX-License-Identifier: Apache-2.0
// Metadata: brokers, topics, partitions and their leaders, from this core's image. A topic that is named but unknown is
// created first, if the broker and the request allow it: the answer then says LEADER_NOT_AVAILABLE and the client asks
// again (trap 12).
//
//   collect what is missing -> create it (waits for the controller) -> answer from the image of that moment
#include "protocol/messages/metadata.h"
#include "api/endpoints.h"
#include "api/facts.h"
#include "api/handlers.h"
#include "config/topic_name.h"
#include "protocol/message.h"

enum { VERSION_OF_ANSWERS_WITH_ID = 10, VERSION_OF_REQUESTS_BY_ID = 12 };

struct metadata_call {
    struct api_call *call;
    const struct metadata_request *request;
    struct metadata_response response;
    bool by_id;                       // only ids count
    struct controller_request create; // with a row for each topic that was missing and may be created
};

static bool partition_has_leader(const struct image_partition *p) {
    return p->leader >= 0 && !p->offline;
}

// The brokers of a list that are there, or that are not.
static int32_t *select_brokers(struct metadata_call *m, const int32_t *ids, int32_t count, bool alive,
                               int32_t *selected) {
    const struct image *image = image_of(m->call->core);
    int32_t *brokers = arena_alloc_array(&m->call->request->arena, (size_t)count, sizeof *brokers);
    *selected = 0;
    for (int32_t i = 0; brokers && i < count; i++)
        if ((image_broker_by_id(image, ids[i]) != NULL) == alive) brokers[(*selected)++] = ids[i];
    return brokers;
}

// Version 0 leaves out the replicas that are not there, and says so (trap 13).
static bool keep_alive(struct metadata_call *m, const struct image_partition *p,
                       struct metadata_response_partition *row) {
    row->replica_nodes = select_brokers(m, p->replicas, p->replica_count, true, &row->replica_nodes_count);
    row->isr_nodes = select_brokers(m, p->isr, p->isr_count, true, &row->isr_nodes_count);
    bool all = row->replica_nodes_count == p->replica_count && row->isr_nodes_count == p->isr_count;
    if (!all && row->error_code == KAFKA_ERROR_NONE) row->error_code = KAFKA_ERROR_REPLICA_NOT_AVAILABLE;
    return row->replica_nodes && row->isr_nodes;
}

// False: out of memory.
static bool answer_partition(struct metadata_call *m, const struct image_partition *p, int32_t index,
                             struct metadata_response_partition *row) {
    *row = (struct metadata_response_partition){
        .error_code = partition_has_leader(p) ? KAFKA_ERROR_NONE : KAFKA_ERROR_LEADER_NOT_AVAILABLE,
        .partition_index = index,
        .leader_id = partition_has_leader(p) ? p->leader : -1,
        .leader_epoch = p->leader_epoch,
        .replica_nodes = (int32_t *)p->replicas, // encoded before this step ends; the image is not written
        .replica_nodes_count = p->replica_count,
        .isr_nodes = (int32_t *)p->isr,
        .isr_nodes_count = p->isr_count,
    };
    if (m->call->version == 0) return keep_alive(m, p, row);
    row->offline_replicas = select_brokers(m, p->replicas, p->replica_count, false, &row->offline_replicas_count);
    if (!row->offline_replicas) return false;
    if (p->offline) row->offline_replicas[row->offline_replicas_count++] = image_of(m->call->core)->broker_id;
    return true;
}

static bool answer_topic(struct metadata_call *m, const struct image_topic *topic,
                         struct metadata_response_topic *row) {
    row->error_code = KAFKA_ERROR_NONE;
    row->name = topic->name;
    row->topic_id = topic->id;
    row->is_internal = topic->is_internal;
    row->topic_authorized_operations = m->request->include_topic_authorized_operations ? TOPIC_OPERATIONS : INT32_MIN;
    row->partitions = call_alloc_array(m->call, topic->partition_count, sizeof *row->partitions);
    if (!row->partitions) return false;
    for (int32_t i = 0; i < topic->partition_count; i++) {
        const struct image_partition *partition = image_partition(topic, i);
        if (!image_partition_had_leader(partition)) continue; // Kafka's brokers do not hear of it
        if (!answer_partition(m, partition, i, &row->partitions[row->partitions_count++])) {
            respond_close(m->call, "request needs too much memory");
            return false;
        }
    }
    return true;
}

static bool list_all(struct metadata_call *m, const struct image *image) {
    m->response.topics = call_alloc_array(m->call, (int32_t)image->topic_count, sizeof *m->response.topics);
    if (!m->response.topics) return false;
    for (size_t i = 0; i < image->topic_count; i++) {
        if (!image_topic_is_visible(image->topics[i])) continue;
        struct metadata_response_topic *row = &m->response.topics[m->response.topics_count++];
        if (!answer_topic(m, image->topics[i], row)) return false;
    }
    return true;
}

static const struct image_topic *asked_topic(const struct image *image, const struct metadata_request_topic *asked) {
    const struct image_topic *topic = !uuid_is_zero(asked->topic_id) ? image_topic_by_id(image, asked->topic_id)
                                      : str_is_null(asked->name)     ? NULL
                                                                     : image_topic_by_name(image, asked->name);
    return topic && image_topic_is_visible(topic) ? topic : NULL;
}

// The row of a topic that the controller was asked to create, or NULL.
static const struct controller_auto_create_topic *asked_of_controller(const struct metadata_call *m, struct str name) {
    for (size_t i = 0; i < m->create.row_count; i++) {
        if (str_equal(m->create.auto_create_topics[i].name, name)) return &m->create.auto_create_topics[i];
    }
    return NULL;
}

static int16_t created_error(const struct metadata_call *m, const struct controller_auto_create_topic *created) {
    int16_t error = m->create.error != KAFKA_ERROR_NONE ? m->create.error : created->error;
    bool made = error == KAFKA_ERROR_NONE || error == KAFKA_ERROR_TOPIC_ALREADY_EXISTS;
    return made ? (int16_t)KAFKA_ERROR_LEADER_NOT_AVAILABLE : error;
}

static void answer_no_topic(struct metadata_call *m, const struct metadata_request_topic *asked,
                            struct metadata_response_topic *row) {
    row->topic_authorized_operations = INT32_MIN;
    if (!uuid_is_zero(asked->topic_id)) {
        row->topic_id = asked->topic_id;
        row->name = (struct str){NULL, 0};
        row->error_code = KAFKA_ERROR_UNKNOWN_TOPIC_ID;
        return;
    }
    row->name = asked->name;
    if (m->request->include_topic_authorized_operations) row->topic_authorized_operations = TOPIC_OPERATIONS;
    if (!topic_name_is_legal(asked->name)) {
        row->error_code = KAFKA_ERROR_INVALID_TOPIC_EXCEPTION;
        return;
    }
    row->is_internal = topic_name_is_internal(asked->name);
    const struct controller_auto_create_topic *created = asked_of_controller(m, asked->name);
    row->error_code = created ? created_error(m, created) : (int16_t)KAFKA_ERROR_UNKNOWN_TOPIC_OR_PARTITION;
}

static bool already_listed(const struct metadata_call *m, const struct metadata_request_topic *asked) {
    enum { COMPARED_MAX = 2000 };
    int32_t from = m->response.topics_count > COMPARED_MAX ? m->response.topics_count - COMPARED_MAX : 0;
    for (int32_t i = from; i < m->response.topics_count; i++) {
        const struct metadata_response_topic *row = &m->response.topics[i];
        bool same_id = !uuid_is_zero(asked->topic_id) && uuid_equal(row->topic_id, asked->topic_id);
        if (same_id || (uuid_is_zero(asked->topic_id) && !str_is_null(row->name) && str_equal(row->name, asked->name)))
            return true;
    }
    return false;
}

// What is wrong with the names and ids of the request as a whole. v10 and 11 know ids only in answers. From v12 on a
// request is by id if it has one (and its names do not count), else by name; Kafka trips over a name that is null then.
static int16_t check_topics(struct metadata_call *m) {
    bool any_id = false, any_null = false;
    for (int32_t i = 0; i < m->request->topics_count; i++) {
        any_id |= !uuid_is_zero(m->request->topics[i].topic_id);
        any_null |= str_is_null(m->request->topics[i].name);
    }
    m->by_id = any_id && m->call->version >= VERSION_OF_REQUESTS_BY_ID;
    if (m->call->version < VERSION_OF_ANSWERS_WITH_ID) return KAFKA_ERROR_NONE;
    if (m->call->version < VERSION_OF_REQUESTS_BY_ID)
        return any_id || any_null ? KAFKA_ERROR_INVALID_REQUEST : KAFKA_ERROR_NONE;
    return any_null && !any_id ? KAFKA_ERROR_UNKNOWN_SERVER_ERROR : KAFKA_ERROR_NONE;
}

// Names in a request by id.
static bool does_not_count(const struct metadata_call *m, const struct metadata_request_topic *asked) {
    return m->by_id && uuid_is_zero(asked->topic_id);
}

static bool list_named(struct metadata_call *m, const struct image *image) {
    int32_t count = m->request->topics_count;
    m->response.topics = call_alloc_array(m->call, count, sizeof *m->response.topics);
    if (!m->response.topics) return false;
    for (int32_t i = 0; i < count; i++) {
        const struct metadata_request_topic *asked = &m->request->topics[i];
        if (does_not_count(m, asked) || already_listed(m, asked)) continue;
        struct metadata_response_topic *row = &m->response.topics[m->response.topics_count++];
        const struct image_topic *topic = asked_topic(image, asked);
        bool just_created = uuid_is_zero(asked->topic_id) && asked_of_controller(m, asked->name);
        if (!topic || just_created) {
            answer_no_topic(m, asked, row);
        } else if (!answer_topic(m, topic, row)) {
            return false;
        }
    }
    return true;
}

static bool list_brokers(struct metadata_call *m, const struct image *image) {
    struct metadata_response *r = &m->response;
    r->brokers = call_alloc_array(m->call, (int32_t)image->broker_count, sizeof *r->brokers);
    if (!r->brokers) return false;
    for (size_t i = 0; i < image->broker_count; i++) {
        const struct image_broker *broker = &image->brokers[i];
        const struct image_endpoint *endpoint = call_endpoint(m->call, broker);
        if (!endpoint) continue;
        r->brokers[r->brokers_count++] =
            (struct metadata_response_broker){broker->id, endpoint->host, endpoint->port, broker->rack};
    }
    r->cluster_id = image->cluster_id;
    r->controller_id = image->controller_id;
    if (m->request->include_cluster_authorized_operations) r->cluster_authorized_operations = CLUSTER_OPERATIONS;
    return true;
}

static void answer_refused(struct metadata_call *m, int16_t error) {
    struct metadata_response *r = &m->response;
    r->topics = call_alloc_array(m->call, m->request->topics_count, sizeof *r->topics);
    if (!r->topics) return;
    for (int32_t i = 0; i < m->request->topics_count; i++) {
        const struct metadata_request_topic *asked = &m->request->topics[i];
        r->topics[r->topics_count++] = (struct metadata_response_topic){
            .error_code = error,
            .name = str_is_null(asked->name) ? str_of("") : asked->name,
            .topic_id = asked->topic_id,
            .topic_authorized_operations = INT32_MIN,
        };
    }
    respond(m->call, r);
}

static void answer(struct metadata_call *m) {
    const struct image *image = image_of(m->call->core);
    // A null list is all topics; in v0 an empty one is (it has no null).
    bool all = m->request->topics_count < 0 || (m->call->version == 0 && m->request->topics_count == 0);
    if (!list_brokers(m, image)) return;
    if (all ? list_all(m, image) : list_named(m, image)) respond(m->call, &m->response);
}

static void topics_created(struct core *core, struct controller_request *request) {
    (void)core;
    answer(container_of(request, struct metadata_call, create));
}

// Notes the topics that are missing and may be created. False: out of memory, the connection is closing.
static bool collect_missing(struct metadata_call *m) {
    const struct image *image = image_of(m->call->core);
    bool asked = m->call->version < 4 || m->request->allow_auto_topic_creation;
    if (!asked || m->request->topics_count <= 0 || !config_bool(image->config, CONFIG_AUTO_CREATE_TOPICS_ENABLE))
        return true;
    m->create.auto_create_topics =
        call_alloc_array(m->call, m->request->topics_count, sizeof *m->create.auto_create_topics);
    if (!m->create.auto_create_topics) return false;
    for (int32_t i = 0; i < m->request->topics_count; i++) {
        const struct metadata_request_topic *topic = &m->request->topics[i];
        bool creatable = !m->by_id && topic_name_is_legal(topic->name);
        if (!creatable || asked_topic(image, topic) || asked_of_controller(m, topic->name)) continue;
        m->create.auto_create_topics[m->create.row_count++] =
            (struct controller_auto_create_topic){.name = topic->name};
    }
    return true;
}

void handle_metadata(struct api_call *call) {
    struct metadata_call *m = call_alloc(call, sizeof *m);
    if (!m) return;
    m->call = call;
    m->request = call->body;
    message_default(call->api->response, &m->response);
    int16_t error = check_topics(m);
    if (error != KAFKA_ERROR_NONE) return answer_refused(m, error);
    if (!collect_missing(m)) return;
    if (m->create.row_count == 0) return answer(m);
    m->create.kind = CONTROLLER_AUTO_CREATE_TOPICS;
    m->create.arena = &call->request->arena;
    m->create.answered = topics_created;
    controller_send(call->core, facts_of(call->core)->controller, &m->create);
}
