// SPDX-License-Identifier: Apache-2.0
// When committed offsets go by themselves (trap 74).
#include "group/group.h"
#include "tailrace/error.h"
#include <criterion/criterion.h>

enum { RETENTION_MS = 1000 };
static const int64_t START = 1700000000000;

struct fixture {
    struct group_memory memory;
    struct offset_topics topics;
    struct group_limits limits;
    struct group_output output;
    struct group *group;
};
static void no_join(struct group_output *output, struct group *group, void *request,
                    const struct group_join_answer *answer) {
    (void)output, (void)group, (void)request, (void)answer;
}
static void no_sync(struct group_output *output, struct group *group, void *request,
                    const struct group_sync_answer *answer) {
    (void)output, (void)group, (void)request, (void)answer;
}
static void no_store(struct group_output *output, struct group *group, uint64_t id) {
    (void)output, (void)group, (void)id;
}
static void no_change(struct group_output *output, struct group *group, enum group_state before, const char *why,
                      struct str member_id) {
    (void)output, (void)group, (void)before, (void)why, (void)member_id;
}

static void begin(struct fixture *f) {
    *f = (struct fixture){.memory = {0, 1 << 20},
                          .limits = {6000, 1800000, INT32_MAX, 0},
                          .output = {no_join, no_sync, no_store, no_change}};
    offset_topics_init(&f->topics, 1, &f->memory);
    f->group = group_create(str_of("g"), START, &f->limits, &f->memory, &f->topics, 1);
}
static void end(struct fixture *f) {
    group_kill(f->group, KAFKA_ERROR_NOT_COORDINATOR, (struct group_time){1, START}, &f->output);
    group_free(f->group);
    offset_topics_free(&f->topics);
    cr_assert_eq(f->memory.used_bytes, 0);
}
static void commit(struct fixture *f, const char *topic, int64_t time_ms, int64_t expire_ms) {
    const struct offset_value value = {.offset = 1,
                                       .leader_epoch = -1,
                                       .commit_time_ms = time_ms,
                                       .expire_time_ms = expire_ms,
                                       .metadata = str_of("")};
    offsets_load(&f->group->offsets, str_of(topic), 0, 1, &value);
}
static void count_row(void *context, const struct offset *offset) {
    (void)offset;
    ++*(size_t *)context;
}
static size_t expire(struct fixture *f, int64_t now_ms) {
    size_t rows = 0;
    size_t count = group_expire_offsets(f->group, now_ms, RETENTION_MS, count_row, &rows);
    cr_assert_eq(rows, count);
    return count;
}
// As a record of the log would make it.
static void make_consumer_group(struct fixture *f, bool with_member, int64_t state_time_ms) {
    const struct group_load load = {.generation = 1,
                                    .protocol_type = str_of("consumer"),
                                    .protocol_name = str_of("range"),
                                    .leader_id = with_member ? str_of("m") : (struct str){0},
                                    .state_time_ms = state_time_ms};
    group_load(f->group, &load);
    if (!with_member) return;
    static const uint8_t subscription[] = {0, 1, 0, 0, 0, 1, 0, 4, 'u', 's', 'e', 'd', 0xff, 0xff, 0xff, 0xff};
    struct group_member *m = member_create(&f->memory, str_of("m"), (struct str){0}, str_of("c"), str_of("/h"));
    const struct group_protocol protocol = {str_of("range"), {subscription, sizeof subscription}};
    member_set_protocols(m, &protocol, 1);
    cr_assert(group_load_member(f->group, m));
}

Test(expiry, of_a_plain_group_counts_from_the_commit) {
    struct fixture f;
    begin(&f);
    commit(&f, "old", START, -1);
    commit(&f, "new", START + 500, -1);
    cr_assert_eq(expire(&f, START + 999), 0);
    cr_assert_eq(expire(&f, START + 1000), 1);
    cr_assert_eq(expire(&f, START + 1500), 1);
    cr_assert_not(group_has_offsets(f.group));
    end(&f);
}

Test(expiry, of_a_group_that_had_members_counts_from_when_it_became_empty) {
    struct fixture f;
    begin(&f);
    make_consumer_group(&f, false, START + 5000);
    commit(&f, "old", START, -1);
    cr_assert_eq(expire(&f, START + 5999), 0);
    cr_assert_eq(expire(&f, START + 6000), 1);
    end(&f);
}

Test(expiry, when_it_became_empty_is_not_known_counts_from_the_commit) {
    struct fixture f;
    begin(&f);
    make_consumer_group(&f, false, -1);
    commit(&f, "old", START, -1);
    cr_assert_eq(expire(&f, START + 1000), 1);
    end(&f);
}

Test(expiry, in_a_stable_consumer_group_only_of_topics_that_nobody_subscribes_to) {
    struct fixture f;
    begin(&f);
    make_consumer_group(&f, true, START);
    commit(&f, "used", START, -1);
    commit(&f, "unused", START, -1);
    cr_assert(group_is_subscribed(f.group, str_of("used")));
    cr_assert_not(group_is_subscribed(f.group, str_of("unused")));
    cr_assert_eq(expire(&f, START + 999), 0);
    cr_assert_eq(expire(&f, START + 1000), 1);
    cr_assert_not_null(offsets_find(&f.group->offsets, str_of("used"), 0));
    end(&f);
}

Test(expiry, at_the_date_of_the_commit_if_it_has_one) {
    struct fixture f;
    begin(&f);
    commit(&f, "dated", START, START + 10);
    cr_assert_eq(expire(&f, START + 9), 0);
    cr_assert_eq(expire(&f, START + 10), 1);
    end(&f);
}

Test(expiry, never_of_what_is_being_committed) {
    struct fixture f;
    begin(&f);
    commit(&f, "busy", START, -1);
    cr_assert(offsets_prepare(&f.group->offsets, str_of("busy"), 0, 1));
    cr_assert_eq(expire(&f, START + 100000), 0);
    end(&f);
}
