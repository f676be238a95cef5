// SPDX-License-Identifier: Apache-2.0
// Incremental fetch sessions: what each request means, and what is left out of an answer (KIP-227).
#include "api/fetch_session.h"
#include "os/linux/host.h"
#include <criterion/criterion.h>

struct world {
    struct os_host *host;
    struct core_set *set;
    struct fetch_sessions sessions;
};

static void world_begin(struct world *w) {
    w->host = os_host_create();
    int error = 0;
    w->set = core_set_create(w->host, 1, &error);
    cr_assert_not_null(w->set);
    fetch_sessions_init(&w->sessions, w->set->cores[0]);
}

static void world_end(struct world *w) {
    core_set_destroy(w->set);
    os_host_destroy(w->host);
}

static struct fetch_session_use begin(struct world *w, int32_t id, int32_t epoch, struct fetch_request_topic *topics,
                                      int32_t count) {
    struct fetch_request request = {.session_id = id, .session_epoch = epoch, .topics = topics, .topics_count = count};
    return fetch_session_begin(&w->sessions, &request, 12, 2);
}

Test(fetch_session, is_made_by_a_full_fetch_and_continued_by_epoch) {
    struct world w;
    world_begin(&w);
    struct fetch_request_partition partitions[] = {{.partition = 0, .fetch_offset = 5},
                                                   {.partition = 1, .fetch_offset = 6}};
    struct fetch_request_topic topic = {.topic = str_of("t"), .partitions = partitions, .partitions_count = 2};
    struct fetch_session_use use = begin(&w, 0, 0, &topic, 1);
    cr_assert_eq(use.error, KAFKA_ERROR_NONE);
    cr_assert_not(use.incremental);
    int32_t id = fetch_session_answer_id(&use);
    cr_assert_neq(id, 0);
    cr_assert_eq(use.session->partition_count, 2);
    fetch_session_end(&w.sessions, &use);

    partitions[0].fetch_offset = 9;
    topic.partitions_count = 1;
    use = begin(&w, id, 1, &topic, 1);
    cr_assert_eq(use.error, KAFKA_ERROR_NONE);
    cr_assert(use.incremental);
    cr_assert_eq(use.session->partition_count, 2);
    struct fetch_session_partition *first =
        container_of(list_front(&use.session->order), struct fetch_session_partition, link);
    cr_assert_eq(first->asked.fetch_offset, 9);
    fetch_session_end(&w.sessions, &use);

    cr_assert_eq(begin(&w, id, 1, NULL, 0).error, KAFKA_ERROR_INVALID_FETCH_SESSION_EPOCH);
    cr_assert_eq(begin(&w, id + 1, 2, NULL, 0).error, KAFKA_ERROR_FETCH_SESSION_ID_NOT_FOUND);
    struct fetch_request newer = {.session_id = id, .session_epoch = 2};
    cr_assert_eq(fetch_session_begin(&w.sessions, &newer, 13, 2).error, KAFKA_ERROR_FETCH_SESSION_TOPIC_ID_ERROR);
    world_end(&w);
}

Test(fetch_session, closes_when_its_last_partition_is_forgotten) {
    struct world w;
    world_begin(&w);
    struct fetch_request_partition partition = {.partition = 3};
    struct fetch_request_topic topic = {.topic = str_of("t"), .partitions = &partition, .partitions_count = 1};
    struct fetch_session_use use = begin(&w, 0, 0, &topic, 1);
    int32_t id = fetch_session_answer_id(&use);
    fetch_session_end(&w.sessions, &use);
    int32_t index = 3;
    struct fetch_request_forgotten_topic forgotten = {
        .topic = str_of("t"), .partitions = &index, .partitions_count = 1};
    struct fetch_request request = {
        .session_id = id, .session_epoch = 1, .forgotten_topics_data = &forgotten, .forgotten_topics_data_count = 1};
    use = fetch_session_begin(&w.sessions, &request, 12, 2);
    cr_assert_eq(use.error, KAFKA_ERROR_NONE);
    cr_assert_eq(fetch_session_answer_id(&use), 0);
    fetch_session_end(&w.sessions, &use);
    cr_assert_eq(w.sessions.count, 0);
    world_end(&w);
}

Test(fetch_session, is_refused_quietly_when_the_cache_is_full) {
    struct world w;
    world_begin(&w);
    for (int i = 0; i < 3; i++) {
        struct fetch_session_use use = begin(&w, 0, 0, NULL, 0);
        cr_assert_eq(use.error, KAFKA_ERROR_NONE);
        cr_assert_eq(fetch_session_answer_id(&use) != 0, i < 2);
        fetch_session_end(&w.sessions, &use);
    }
    world_end(&w);
}

Test(fetch_session, answers_only_what_changed) {
    struct fetch_session_partition p = {.high_watermark = -1, .log_start_offset = -1};
    struct fetch_response_partition answer = {
        .high_watermark = 10, .log_start_offset = 0, .diverging_epoch = {-1, -1}, .preferred_read_replica = -1};
    cr_assert(fetch_session_must_answer(&p, &answer));
    cr_assert_not(fetch_session_must_answer(&p, &answer));
    answer.high_watermark = 11;
    cr_assert(fetch_session_must_answer(&p, &answer));
    answer.records.size = 100;
    cr_assert(fetch_session_must_answer(&p, &answer));
    answer.records.size = 0;
    struct fetch_response_partition error = {.error_code = KAFKA_ERROR_KAFKA_STORAGE_ERROR,
                                             .high_watermark = -1,
                                             .log_start_offset = -1,
                                             .diverging_epoch = {-1, -1},
                                             .preferred_read_replica = -1};
    cr_assert(fetch_session_must_answer(&p, &error));
    cr_assert(fetch_session_must_answer(&p, &error));
    cr_assert(fetch_session_must_answer(&p, &answer)); // the first good answer comes again
}

Test(fetch_session, remembers_the_name_of_an_id) {
    struct world w;
    world_begin(&w);
    struct fetch_request_partition partition = {.partition = 3};
    struct fetch_request_topic topic = {.topic_id = {.bytes = {7}}, .partitions = &partition, .partitions_count = 1};
    struct fetch_request request = {.topics = &topic, .topics_count = 1};
    struct fetch_session_use use = fetch_session_begin(&w.sessions, &request, 13, 2);
    struct fetch_session_partition *p =
        container_of(list_front(&use.session->order), struct fetch_session_partition, link);
    cr_assert(str_is_null(p->known_name));
    fetch_session_know_name(p, str_of("orders"));
    fetch_session_know_name(p, str_of("another"));
    cr_assert(str_is(p->known_name, "orders"));
    fetch_session_end(&w.sessions, &use);
    world_end(&w);
}
