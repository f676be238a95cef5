// SPDX-License-Identifier: Apache-2.0
// Sessions by id, their partitions by topic and index. A session is made by a full fetch with epoch 0 if there is room
// (a session that has not been used for two minutes makes room), and closed by a fetch with epoch -1, by a new full
// fetch that names it, or when its last partition is forgotten (trap 26).
#include "api/fetch_session.h"
#include <stdlib.h>

enum { VERSION_OF_SESSIONS = 7, VERSION_OF_TOPIC_IDS = 13, EVICTION_MS = 120000 };
enum { EPOCH_INITIAL = 0, EPOCH_FINAL = -1 };

void fetch_sessions_init(struct fetch_sessions *sessions, struct core *core) {
    *sessions = (struct fetch_sessions){.core = core};
    hashmap_init(&sessions->by_id);
    list_init(&sessions->by_use);
}

static bool id_equal(const struct hash_node *node, const void *key) {
    return container_of(node, struct fetch_session, node)->id == *(const int32_t *)key;
}

static struct fetch_session *session_find(struct fetch_sessions *sessions, int32_t id) {
    struct hash_node *node =
        hashmap_find(&sessions->by_id, hash_bytes(sessions->core->hash_seed, &id, sizeof id), id_equal, &id);
    return node ? container_of(node, struct fetch_session, node) : NULL;
}

// ---- partitions
// ------------------------------------------------------------------------------------------------------------------------

struct partition_key {
    struct str topic;
    struct uuid topic_id;
    int32_t index;
};

static bool partition_equal(const struct hash_node *node, const void *key) {
    const struct fetch_session_partition *p = container_of(node, struct fetch_session_partition, node);
    const struct partition_key *k = key;
    return p->asked.partition == k->index && uuid_equal(p->topic_id, k->topic_id) && str_equal(p->topic, k->topic);
}

static uint64_t partition_hash(const struct fetch_sessions *sessions, const struct partition_key *key) {
    uint64_t seed =
        hash_bytes(sessions->core->hash_seed + (uint64_t)key->index, key->topic_id.bytes, sizeof key->topic_id.bytes);
    return str_is_null(key->topic) ? seed : hash_str(seed, key->topic);
}

static struct fetch_session_partition *partition_find(const struct fetch_sessions *sessions,
                                                      const struct fetch_session *session,
                                                      const struct partition_key *key) {
    struct hash_node *node = hashmap_find(&session->partitions, partition_hash(sessions, key), partition_equal, key);
    return node ? container_of(node, struct fetch_session_partition, node) : NULL;
}

static void partition_set(struct fetch_sessions *sessions, struct fetch_session *session,
                          const struct partition_key *key, const struct fetch_request_partition *asked) {
    struct fetch_session_partition *p = partition_find(sessions, session, key);
    if (!p) {
        p = calloc(1, sizeof *p + key->topic.size + 1);
        ASSERT(p != NULL);
        char *name = (char *)(p + 1);
        if (!str_is_null(key->topic)) {
            memcpy(name, key->topic.data, key->topic.size);
            p->topic = (struct str){name, key->topic.size};
        }
        p->topic_id = key->topic_id;
        p->high_watermark = p->log_start_offset = -1;
        p->asked.partition = key->index;
        list_init(&p->link);
        list_push_back(&session->order, &p->link);
        hashmap_insert(&session->partitions, &p->node, partition_hash(sessions, key));
        session->partition_count++;
    }
    p->asked = *asked;
}

static void partition_forget(struct fetch_session *session, struct fetch_session_partition *p) {
    hashmap_remove(&session->partitions, &p->node);
    list_remove(&p->link);
    session->partition_count--;
    free((char *)p->known_name.data);
    free(p);
}

static struct partition_key key_of(bool by_id, struct str topic, struct uuid id, int32_t index) {
    return by_id ? (struct partition_key){.topic_id = id, .index = index}
                 : (struct partition_key){.topic = topic, .index = index};
}

static void session_apply(struct fetch_sessions *sessions, struct fetch_session *session,
                          const struct fetch_request *request) {
    bool by_id = session->uses_topic_ids;
    for (int32_t t = 0; t < request->topics_count; t++) {
        const struct fetch_request_topic *topic = &request->topics[t];
        for (int32_t i = 0; i < topic->partitions_count; i++) {
            struct partition_key key = key_of(by_id, topic->topic, topic->topic_id, topic->partitions[i].partition);
            partition_set(sessions, session, &key, &topic->partitions[i]);
        }
    }
    for (int32_t t = 0; t < request->forgotten_topics_data_count; t++) {
        const struct fetch_request_forgotten_topic *topic = &request->forgotten_topics_data[t];
        for (int32_t i = 0; i < topic->partitions_count; i++) {
            struct partition_key key = key_of(by_id, topic->topic, topic->topic_id, topic->partitions[i]);
            struct fetch_session_partition *p = partition_find(sessions, session, &key);
            if (p) partition_forget(session, p);
        }
    }
}

// ---- life
// ------------------------------------------------------------------------------------------------------------------------------

static void session_free(struct fetch_session *session) {
    LIST_FOREACH_SAFE (link, &session->order) {
        partition_forget(session, container_of(link, struct fetch_session_partition, link));
    }
    hashmap_free(&session->partitions);
    free(session);
}

static void session_close(struct fetch_sessions *sessions, struct fetch_session *session) {
    ASSERT(!session->closed && sessions->count > 0);
    session->closed = true;
    hashmap_remove(&sessions->by_id, &session->node);
    list_remove(&session->use_link);
    sessions->count--;
    if (!session->in_use) session_free(session);
}

static bool make_room(struct fetch_sessions *sessions) {
    if (sessions->count < sessions->count_max) return true;
    struct list *oldest = list_front(&sessions->by_use);
    if (!oldest) return false;
    struct fetch_session *session = container_of(oldest, struct fetch_session, use_link);
    if (session->in_use || core_now_ms(sessions->core) - session->used_ms < EVICTION_MS) return false;
    session_close(sessions, session);
    return true;
}

static struct fetch_session *session_create(struct fetch_sessions *sessions, bool uses_topic_ids) {
    struct fetch_session *session = calloc(1, sizeof *session);
    ASSERT(session != NULL);
    do {
        session->id = (int32_t)(os_random(sessions->core->os) & INT32_MAX);
    } while (session->id == 0 || session_find(sessions, session->id));
    session->epoch = 1;
    session->uses_topic_ids = uses_topic_ids;
    hashmap_init(&session->partitions);
    list_init(&session->order);
    list_init(&session->use_link);
    list_push_back(&sessions->by_use, &session->use_link);
    hashmap_insert(&sessions->by_id, &session->node,
                   hash_bytes(sessions->core->hash_seed, &session->id, sizeof session->id));
    sessions->count++;
    return session;
}

static void session_take(struct fetch_sessions *sessions, struct fetch_session *session) {
    session->in_use = true;
    session->used_ms = core_now_ms(sessions->core);
    list_remove(&session->use_link);
    list_push_back(&sessions->by_use, &session->use_link);
}

static struct fetch_session_use begin_full(struct fetch_sessions *sessions, const struct fetch_request *request,
                                           int16_t version) {
    struct fetch_session *named = request->session_id != 0 ? session_find(sessions, request->session_id) : NULL;
    if (named) session_close(sessions, named);
    if (request->session_epoch == EPOCH_FINAL || !make_room(sessions)) return (struct fetch_session_use){0};
    struct fetch_session *session = session_create(sessions, version >= VERSION_OF_TOPIC_IDS);
    session_apply(sessions, session, request);
    session_take(sessions, session);
    return (struct fetch_session_use){.session = session};
}

static struct fetch_session_use begin_incremental(struct fetch_sessions *sessions, const struct fetch_request *request,
                                                  int16_t version) {
    struct fetch_session *session = session_find(sessions, request->session_id);
    if (!session) return (struct fetch_session_use){.error = KAFKA_ERROR_FETCH_SESSION_ID_NOT_FOUND};
    if (session->in_use || session->epoch != request->session_epoch) {
        return (struct fetch_session_use){.error = KAFKA_ERROR_INVALID_FETCH_SESSION_EPOCH};
    }
    if (session->uses_topic_ids != (version >= VERSION_OF_TOPIC_IDS)) {
        return (struct fetch_session_use){.error = KAFKA_ERROR_FETCH_SESSION_TOPIC_ID_ERROR};
    }
    session->epoch = session->epoch == INT32_MAX ? 1 : session->epoch + 1;
    session_apply(sessions, session, request);
    session_take(sessions, session);
    struct fetch_session_use use = {.incremental = true, .session = session};
    if (session->partition_count == 0) session_close(sessions, session);
    return use;
}

struct fetch_session_use fetch_session_begin(struct fetch_sessions *sessions, const struct fetch_request *request,
                                             int16_t version, uint32_t count_max) {
    sessions->count_max = count_max;
    if (version < VERSION_OF_SESSIONS) return (struct fetch_session_use){0};
    bool full = request->session_epoch == EPOCH_INITIAL || request->session_epoch == EPOCH_FINAL;
    return full ? begin_full(sessions, request, version) : begin_incremental(sessions, request, version);
}

int32_t fetch_session_answer_id(const struct fetch_session_use *use) {
    return use->session && !use->session->closed ? use->session->id : 0;
}

bool fetch_session_must_answer(struct fetch_session_partition *partition,
                               const struct fetch_response_partition *answer) {
    bool changed =
        answer->high_watermark != partition->high_watermark || answer->log_start_offset != partition->log_start_offset;
    partition->high_watermark = answer->high_watermark;
    partition->log_start_offset = answer->log_start_offset;
    if (answer->error_code != KAFKA_ERROR_NONE) {
        partition->high_watermark = -1; // the first good answer comes again
        return true;
    }
    return changed || answer->records.size > 0 || answer->diverging_epoch.epoch >= 0 ||
           answer->preferred_read_replica >= 0;
}

void fetch_session_know_name(struct fetch_session_partition *partition, struct str name) {
    if (uuid_is_zero(partition->topic_id) || !str_is_null(partition->known_name)) return; // an id keeps its name
    char *copy = malloc(name.size + 1);
    ASSERT(copy != NULL);
    memcpy(copy, name.data, name.size);
    partition->known_name = (struct str){copy, name.size};
}

void fetch_session_rotate(struct fetch_session *session, struct fetch_session_partition *partition) {
    list_remove(&partition->link);
    list_push_back(&session->order, &partition->link);
}

void fetch_session_end(struct fetch_sessions *sessions, struct fetch_session_use *use) {
    (void)sessions;
    struct fetch_session *session = use->session;
    use->session = NULL;
    if (!session) return;
    session->in_use = false;
    if (session->closed) session_free(session);
}
