// SPDX-License-Identifier: Apache-2.0
// The tree: what a failed write leaves behind (nothing), and what a restore refuses.
#include "metastore/tree.h"
#include <criterion/criterion.h>

static struct bytes octets(const char *text) {
    return (struct bytes){(const uint8_t *)text, text ? strlen(text) : 0};
}

Test(tree, failed_write_leaves_no_trace) {
    struct tree tree;
    tree_init(&tree, 7);
    size_t failed;
    struct metastore_change first[] = {metastore_create_node("/a", octets("one"), 0),
                                       metastore_create_node("/a/b", octets(NULL), 0)};
    cr_assert_eq(tree_write(&tree, 5, 1000, first, 2, &failed, NULL), METASTORE_OK);
    cr_assert_eq(failed, 2);
    struct metastore_stat before = tree_find(&tree, str_of("/a"))->stat;
    uint64_t size_bytes = tree.size_bytes;
    struct metastore_change second[] = {
        metastore_set_node("/a", octets("two and more"), 0),  metastore_create_node("/a/c", octets("x"), 0),
        metastore_delete_node("/a/b", METASTORE_ANY_VERSION), metastore_delete_node("/a/c", 0),
        metastore_create_node("/a/b", octets("again"), 0),    metastore_check_node("/a", 7),
    };
    cr_assert_eq(tree_write(&tree, 5, 2000, second, 6, &failed, NULL), METASTORE_BAD_VERSION);
    cr_assert_eq(failed, 5);
    cr_assert_eq(second[5].result, METASTORE_BAD_VERSION);
    cr_assert_eq(second[0].result, METASTORE_ROLLED_BACK);
    struct tree_node *a = tree_find(&tree, str_of("/a"));
    cr_assert_eq(memcmp(&a->stat, &before, sizeof before), 0);
    cr_assert_str_eq((char *)a->data, "one");
    cr_assert_null(tree_find(&tree, str_of("/a/c")));
    cr_assert_null(tree_find(&tree, str_of("/a/b"))->data);
    cr_assert_eq(tree.size_bytes, size_bytes);
    cr_assert_eq(tree.zxid, 1);
    tree_free(&tree);
}

Test(tree, paths) {
    const char *good[] = {"/", "/a", "/a/b.c-d_e", "/config/topics/<default>", "/\xc3\xa9"};
    const char *bad[] = {"", "a", "//", "/a/", "/a//b", "/.", "/a/..", "/a/./b", "/a\nb", "/\x7f"};
    for (size_t i = 0; i < ARRAY_LENGTH(good); i++)
        cr_assert(metastore_path_is_valid(str_of(good[i])), "%s", good[i]);
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
        cr_assert_not(metastore_path_is_valid(str_of(bad[i])), "%s", bad[i]);
}

Test(tree, restore_refuses_nonsense) {
    struct tree tree;
    tree_init(&tree, 7);
    struct metastore_stat stat = {.czxid = 1, .ephemeral_owner = 9};
    cr_assert_not(tree_restore(&tree, str_of("/a/b"), &stat, octets("no parent")));
    cr_assert(tree_restore(&tree, str_of("/a"), &stat, octets("ephemeral")));
    cr_assert_not(tree_restore(&tree, str_of("/a"), &stat, octets("twice")));
    cr_assert_not(tree_restore(&tree, str_of("/a/b"), &stat, octets("below an ephemeral node")));
    stat.child_version = -1;
    cr_assert_not(tree_restore(&tree, str_of("/c"), &stat, octets("negative")));
    tree_free(&tree);
}
