// SPDX-License-Identifier: Apache-2.0
// base/: lists, arenas, hash maps, checksums, text.
#include "base/arena.h"
#include "base/bits.h"
#include "base/crc32c.h"
#include "base/hashmap.h"
#include "base/list.h"
#include "base/text.h"
#include <criterion/criterion.h>

Test(list, keeps_order_and_removes_safely) {
    struct list l, a, b;
    list_init(&l);
    list_init(&a);
    list_init(&b);
    list_push_back(&l, &a);
    list_push_back(&l, &b);
    list_remove(&a);
    list_remove(&a);
    cr_assert_eq(list_pop_front(&l), &b);
    cr_assert(list_is_empty(&l));
    cr_assert_null(list_pop_front(&l));
}

static void count_release(void *object) {
    ++*(int *)object;
}

Test(arena, stops_at_its_limit_and_releases_what_it_holds) {
    struct arena a;
    arena_init(&a, 4096);
    int released = 0;
    cr_assert(arena_hold(&a, count_release, &released));
    char *p = arena_alloc(&a, 100);
    for (int i = 0; i < 100; i++)
        cr_assert_eq(p[i], 0);
    cr_assert_not_null(arena_alloc(&a, 2000));
    cr_assert_null(arena_alloc(&a, 4000));
    cr_assert_null(arena_alloc_array(&a, SIZE_MAX / 2, 16));
    cr_assert_leq(a.total_bytes, 4096);
    arena_drop(&a);
    cr_assert_eq(released, 1);
}

struct item {
    struct hash_node node;
    int key;
};
static bool item_equal(const struct hash_node *n, const void *key) {
    return container_of(n, struct item, node)->key == *(const int *)key;
}

Test(hashmap, finds_what_was_inserted_and_iterates_over_all) {
    enum { N = 1000 };
    static struct item items[N];
    struct hashmap m;
    hashmap_init(&m);
    for (int i = 0; i < N; i++) {
        items[i].key = i;
        hashmap_insert(&m, &items[i].node, hash_bytes(7, &i, sizeof i));
    }
    for (int i = 0; i < N; i += 2)
        hashmap_remove(&m, &items[i].node);
    for (int i = 0; i < N; i++) {
        struct hash_node *n = hashmap_find(&m, hash_bytes(7, &i, sizeof i), item_equal, &i);
        cr_assert_eq(n != NULL, i % 2 == 1);
    }
    int seen = 0;
    for (struct hash_node *n = hashmap_next(&m, NULL); n; n = hashmap_next(&m, n))
        seen++;
    cr_assert_eq(seen, N / 2);
    hashmap_free(&m);
}

Test(crc32c, known_value_and_combination) {
    cr_assert_eq(crc32c(0, "123456789", 9), 0xe3069283u);
    const char *text = "the quick brown fox jumps over the lazy dog";
    size_t n = strlen(text);
    for (size_t cut = 0; cut <= n; cut++) {
        uint32_t a = crc32c(0, text, cut), b = crc32c(0, text + cut, n - cut);
        cr_assert_eq(crc32c_combine(a, b, n - cut), crc32c(0, text, n));
        cr_assert_eq(crc32c(a, text + cut, n - cut), crc32c(0, text, n));
    }
}

Test(text, escapes_and_truncates) {
    char memory[16];
    struct text t = TEXT_IN(memory);
    text_add_escaped(&t, (struct str){"a\n\\", 3});
    cr_assert_str_eq(t.data, "a\\x0a\\x5c");
    text_addf(&t, "%d", 123456789);
    cr_assert(t.truncated);
    cr_assert_eq(strlen(t.data), 15);
}

Test(text, numbers_are_strict) {
    int64_t v = 5;
    cr_assert(parse_i64(str_of("-9223372036854775808"), INT64_MIN, INT64_MAX, &v) && v == INT64_MIN);
    cr_assert_not(parse_i64(str_of("9223372036854775808"), INT64_MIN, INT64_MAX, &v));
    cr_assert_not(parse_i64(str_of(""), INT64_MIN, INT64_MAX, &v));
    cr_assert_not(parse_i64(str_of(" 1"), INT64_MIN, INT64_MAX, &v));
    cr_assert_not(parse_i64(str_of("-"), INT64_MIN, INT64_MAX, &v));
    cr_assert_not(parse_i64(str_of("11"), 0, 10, &v));
    double d;
    cr_assert(parse_double(str_of("0.5"), &d) && d == 0.5);
    cr_assert_not(parse_double(str_of("0.5x"), &d));
}
