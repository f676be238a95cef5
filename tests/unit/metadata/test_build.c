// SPDX-License-Identifier: Apache-2.0
// Building images: what is shared, what is replaced, what can be found.
#include "metadata/build.h"
#include <criterion/criterion.h>
#include <stdio.h>

static struct uuid id_of(int n) {
    struct uuid id = {{0}};
    memcpy(id.bytes, &n, sizeof n);
    return id;
}
static struct image_topic *topic_of(const char *name, int id, int partitions) {
    struct image_topic *topic = image_topic_create(str_of(name), id_of(id), partitions);
    for (int p = 0; p < partitions; p++) {
        struct image_partition *partition = image_partition_edit(topic, p);
        const int32_t ids[] = {3, 1, 2};
        image_partition_set_replicas(partition, ids, 3);
        image_partition_set_isr(partition, ids, 2);
        partition->leader = 3;
    }
    return topic;
}

Test(build, topics_are_shared_until_they_change) {
    struct image *first = image_create_empty(42), *second, *third;
    struct image_draft draft;
    image_draft_begin(&draft, first);
    draft.cluster_id = str_of("cluster");
    draft.broker_id = 1;
    const struct image_endpoint endpoint = {str_of("PLAIN"), str_of("PLAINTEXT"), str_of("host"), 9};
    const struct image_broker brokers[] = {{2, 20, {0}, &endpoint, 1}, {1, 10, str_of("rack"), &endpoint, 1}};
    draft.brokers = brokers;
    draft.broker_count = 2;
    image_draft_put(&draft, topic_of("b", 2, 1));
    image_draft_put(&draft, topic_of("a", 1, 2));
    image_draft_put(&draft, topic_of("a", 3, 3)); // the last one counts
    image_draft_remove(&draft, str_of("nothing"));
    second = image_draft_finish(&draft);
    cr_assert_eq(second->version, 1);
    cr_assert_eq(second->topic_count, 2);
    cr_assert(str_is(second->topics[0]->name, "a") && str_is(second->topics[1]->name, "b"));
    cr_assert_eq(image_topic_by_name(second, str_of("a"))->partition_count, 3);
    cr_assert_eq(image_topic_by_id(second, id_of(2)), second->topics[1]);
    cr_assert_null(image_topic_by_id(second, id_of(1)));
    cr_assert_null(image_topic_by_name(second, str_of("c")));
    cr_assert_null(image_topic_by_name(second, (struct str){0}));
    cr_assert_null(image_topic_by_name(first, str_of("a")));
    cr_assert_eq(second->brokers[0].id, 1, "by id");
    cr_assert(str_is(image_broker_by_id(second, 1)->rack, "rack"));
    cr_assert(str_is_null(image_broker_by_id(second, 2)->rack));
    cr_assert_null(image_broker_by_id(second, 3));
    cr_assert_eq(image_endpoint(&second->brokers[1], str_of("PLAIN"))->port, 9);
    cr_assert_null(image_endpoint(&second->brokers[1], str_of("OTHER")));

    image_draft_begin(&draft, second);
    struct image_topic *changed = image_topic_clone(second->topics[0], 5);
    cr_assert_eq(changed->partitions[2].replicas[1], 1);
    cr_assert_neq(changed->partitions[2].replicas, second->topics[0]->partitions[2].replicas);
    cr_assert_eq(changed->partitions[4].leader, -1);
    image_draft_put(&draft, changed);
    third = image_draft_finish(&draft);
    cr_assert_eq(third->version, 2);
    cr_assert_eq(third->topics[1], second->topics[1], "shared");
    cr_assert_neq(third->topics[0], second->topics[0]);
    cr_assert(str_is(third->cluster_id, "cluster") && third->broker_count == 2);
    image_free(first);
    image_free(second);
    cr_assert_eq(image_topic_by_id(third, id_of(3))->partition_count, 5);
    image_draft_begin(&draft, third);
    image_draft_remove(&draft, str_of("a"));
    image_draft_put(&draft, topic_of("never", 9, 1));
    image_draft_drop(&draft);
    image_free(third);
}

Test(build, many_topics) {
    enum { TOPICS = 2000 };
    struct image *image = image_create_empty(7);
    for (int round = 0; round < 2; round++) {
        struct image_draft draft;
        image_draft_begin(&draft, image);
        for (int i = round; i < TOPICS; i += round + 1) {
            char name[32];
            snprintf(name, sizeof name, "topic-%d", i);
            if (round == 0) {
                image_draft_put(&draft, topic_of(name, i + 1, 1));
            } else {
                image_draft_remove(&draft, str_of(name));
            }
        }
        struct image *next = image_draft_finish(&draft);
        image_free(image);
        image = next;
    }
    for (int i = 0; i < TOPICS; i++) {
        char name[32];
        snprintf(name, sizeof name, "topic-%d", i);
        const struct image_topic *topic = image_topic_by_name(image, str_of(name));
        cr_assert_eq(topic != NULL, i % 2 == 0, "%s", name);
        cr_assert_eq(image_topic_by_id(image, id_of(i + 1)), topic);
    }
    for (size_t i = 1; i < image->topic_count; i++)
        cr_assert_lt(str_compare(image->topics[i - 1]->name, image->topics[i]->name), 0);
    image_free(image);
}
