// SPDX-License-Identifier: Apache-2.0
#include "group/offsets.h"
#include <criterion/criterion.h>

struct fixture {
    struct group_memory memory;
    struct offset_topics topics;
    struct offsets offsets;
};
static struct fixture *begin(void) {
    struct fixture *f = calloc(1, sizeof *f);
    f->memory.limit_bytes = 1 << 20;
    offset_topics_init(&f->topics, 7, &f->memory);
    offsets_init(&f->offsets, &f->topics);
    return f;
}
static void end(struct fixture *f) {
    offsets_free(&f->offsets);
    offset_topics_free(&f->topics);
    cr_assert_eq(f->memory.used_bytes, 0);
    free(f);
}
static struct offset_value value(int64_t offset) {
    return (struct offset_value){.offset = offset, .leader_epoch = -1, .expire_time_ms = -1, .metadata = str_of("m")};
}

Test(offsets, a_commit_is_seen_when_its_record_is_written) {
    struct fixture *f = begin();
    struct str t = str_of("t");
    cr_assert(offsets_prepare(&f->offsets, t, 0, 1));
    cr_assert_not(offsets_find(&f->offsets, t, 0)->is_committed);
    struct offset_value v = value(10);
    offsets_committed(&f->offsets, t, 0, 1, 100, &v);
    struct offset *o = offsets_find(&f->offsets, t, 0);
    cr_assert(o->is_committed && !o->pending && o->value.offset == 10);
    end(f);
}

Test(offsets, the_record_with_the_highest_offset_wins) {
    struct fixture *f = begin();
    struct str t = str_of("t");
    cr_assert(offsets_prepare(&f->offsets, t, 0, 1));
    cr_assert(offsets_prepare(&f->offsets, t, 0, 2));
    struct offset_value first = value(10), second = value(20);
    offsets_committed(&f->offsets, t, 0, 2, 101, &second);
    offsets_committed(&f->offsets, t, 0, 1, 100, &first);
    cr_assert_eq(offsets_find(&f->offsets, t, 0)->value.offset, 20);
    cr_assert_eq(f->offsets.pending_count, 0);
    end(f);
}

Test(offsets, a_failed_first_commit_leaves_nothing) {
    struct fixture *f = begin();
    cr_assert(offsets_prepare(&f->offsets, str_of("t"), 3, 1));
    offsets_failed(&f->offsets, str_of("t"), 3, 1);
    cr_assert_null(offsets_find(&f->offsets, str_of("t"), 3));
    cr_assert_null(offset_topic_find(&f->topics, str_of("t")));
    end(f);
}

Test(offsets, a_commit_from_before_a_deletion_does_not_come_back) {
    struct fixture *f = begin();
    struct str t = str_of("t");
    struct offset_value old = value(10), new = value(0);
    cr_assert(offsets_prepare(&f->offsets, t, 0, 1));
    offset_remove(offsets_find(&f->offsets, t, 0));
    cr_assert(offsets_prepare(&f->offsets, t, 0, 2));
    offsets_committed(&f->offsets, t, 0, 1, 100, &old);
    cr_assert_not(offsets_find(&f->offsets, t, 0)->is_committed);
    offsets_committed(&f->offsets, t, 0, 2, 102, &new);
    cr_assert_eq(offsets_find(&f->offsets, t, 0)->value.offset, 0);
    end(f);
}

Test(offsets, memory_is_bounded) {
    struct fixture *f = begin();
    int32_t n = 0;
    while (n < 100000 && offsets_prepare(&f->offsets, str_of("topic"), n, 1))
        n++;
    cr_assert(n > 1000 && n < 100000);
    cr_assert_leq(f->memory.used_bytes, f->memory.limit_bytes);
    end(f);
}
