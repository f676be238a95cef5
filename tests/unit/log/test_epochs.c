// SPDX-License-Identifier: Apache-2.0
// log/epochs: assignment, truncation from both ends, the answers to OffsetForLeaderEpoch, the file's text.
#include "log/epochs.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static const char *show(const struct epochs *e) {
    static char out[256];
    struct text t = TEXT_IN(out);
    for (size_t i = 0; i < e->count; i++)
        text_addf(&t, "%s%d@%lld", i ? " " : "", e->entries[i].epoch, (long long)e->entries[i].start_offset);
    return out;
}

static struct epochs make(const struct epoch_entry *entries, size_t count) {
    struct epochs e;
    epochs_init(&e);
    for (size_t i = 0; i < count; i++)
        cr_assert(epochs_assign(&e, entries[i].epoch, entries[i].start_offset));
    return e;
}
#define EPOCHS(...)                                                                                                    \
    make((struct epoch_entry[]){__VA_ARGS__}, sizeof((struct epoch_entry[]){__VA_ARGS__}) / sizeof(struct epoch_entry))

Test(epochs, assigning) {
    static const struct {
        int32_t epoch;
        int64_t start;
        bool changed;
        const char *after;
    } cases[] = {
        {5, 30, true, "1@0 3@20 5@30"}, // a new leader
        {3, 25, false, "1@0 3@20"},     // known
        {3, 20, false, "1@0 3@20"},     // known
        {3, 10, true, "1@0 3@10"},      // known, but it begins earlier
        {5, 20, true, "1@0 5@20"},      // nothing was written in epoch 3
        {5, 0, true, "5@0"},            // nor in epoch 1
        {2, 30, true, "1@0 2@30"},      // an older epoch later: the newer one is not true
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct epochs e = EPOCHS({1, 0}, {3, 20});
        uint32_t version = e.version;
        cr_assert_eq(epochs_assign(&e, cases[i].epoch, cases[i].start), cases[i].changed, "case %zu", i);
        cr_assert_str_eq(show(&e), cases[i].after, "case %zu", i);
        cr_assert_eq(e.version != version, cases[i].changed);
        epochs_free(&e);
    }
}

Test(epochs, truncating) {
    static const struct {
        int64_t offset;
        const char *after_end, *after_start;
    } cases[] = {
        {0, "", "1@0 3@20 4@40"},      {1, "1@0", "1@1 3@20 4@40"}, {20, "1@0", "3@20 4@40"},
        {21, "1@0 3@20", "3@21 4@40"}, {40, "1@0 3@20", "4@40"},    {41, "1@0 3@20 4@40", "4@41"},
        {99, "1@0 3@20 4@40", "4@99"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct epochs end = EPOCHS({1, 0}, {3, 20}, {4, 40}), start = EPOCHS({1, 0}, {3, 20}, {4, 40});
        epochs_truncate_end(&end, cases[i].offset);
        cr_assert_str_eq(show(&end), cases[i].after_end, "case %zu: %s", i, show(&end));
        epochs_truncate_start(&start, cases[i].offset);
        cr_assert_str_eq(show(&start), cases[i].after_start, "case %zu: %s", i, show(&start));
        cr_assert_not(epochs_truncate_start(&start, cases[i].offset), "twice changes nothing");
        epochs_free(&end);
        epochs_free(&start);
    }
    struct epochs late = EPOCHS({1, 10});
    cr_assert_not(epochs_truncate_start(&late, 5));
    cr_assert_str_eq(show(&late), "1@10");
    epochs_free(&late);
}

Test(epochs, end_of_an_epoch) {
    static const struct {
        int32_t asked, found;
        int64_t end;
    } cases[] = {{-1, -1, -1}, {-2, -2, 5}, {9, -1, -1}, {6, 6, 100}, {5, 4, 40},
                 {4, 4, 40},   {3, 2, 20},  {2, 2, 20},  {1, 1, 5}};
    struct epochs e = EPOCHS({2, 5}, {4, 20}, {6, 40});
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int32_t found = 77;
        int64_t end = 77;
        epochs_end_of(&e, cases[i].asked, 100, &found, &end);
        cr_assert_eq(found, cases[i].found, "epoch %d", cases[i].asked);
        cr_assert_eq(end, cases[i].end, "epoch %d", cases[i].asked);
    }
    cr_assert_eq(epochs_at(&e, 4), -1);
    cr_assert_eq(epochs_at(&e, 5), 2);
    cr_assert_eq(epochs_at(&e, 39), 4);
    cr_assert_eq(epochs_at(&e, 40), 6);
    epochs_free(&e);
}

Test(epochs, an_empty_log_knows_its_leader) {
    struct epochs e;
    epochs_init(&e);
    int32_t found;
    int64_t end;
    epochs_end_of(&e, 0, 0, &found, &end);
    cr_assert_eq(found, -1);
    epochs_end_of(&e, -2, 0, &found, &end);
    cr_assert_eq(found, -1);
    cr_assert(epochs_assign(&e, 7, 0));
    cr_assert_neq(e.version, e.written_version); // not in the file yet
    epochs_end_of(&e, 7, 0, &found, &end);
    cr_assert_eq(found, 7);
    cr_assert_eq(end, 0);
    epochs_free(&e);
}

Test(epochs, text_there_and_back) {
    struct epochs e = EPOCHS({0, 0}, {2147483646, 9223372036854775806}), back;
    size_t size;
    char *text = epochs_encode(&e, &size);
    cr_assert_str_eq(text, "0\n2\n0 0\n2147483646 9223372036854775806\n");
    cr_assert_eq(size, strlen(text));
    char why[200] = "";
    struct text reason = TEXT_IN(why);
    epochs_init(&back);
    cr_assert(epochs_decode(&back, str_of(text), &reason), "%s", why);
    cr_assert_str_eq(show(&back), "0@0 2147483646@9223372036854775806");
    cr_assert_eq(back.version, back.written_version);
    free(text);
    epochs_free(&e);
    epochs_free(&back);
}

Test(epochs, text_that_is_damaged) {
    static const struct {
        const char *text;
        bool good;
        const char *after;
    } cases[] = {
        {"", true, ""},
        {"0\n", true, ""},
        {"0\n0\n", true, ""},
        {"0\n1\n5 10\n", true, "5@10"},
        {"0\n1\n5 10", true, "5@10"},
        {"0\n2\n5 10\n4 20\n", true, "4@20"}, // as Kafka takes it
        {"1\n0\n", false, ""},
        {"x", false, ""},
        {"0\nx\n", false, ""},
        {"0\n-1\n", false, ""},
        {"0\n99999999999\n", false, ""},
        {"0\n2\n5 10\n", false, ""},
        {"0\n1\n5 10\n6 20\n", false, ""},
        {"0\n1\n5\n", false, ""},
        {"0\n1\n5 10 15\n", false, ""},
        {"0\n1\n-5 10\n", false, ""},
        {"0\n1\n5 -10\n", false, ""},
        {"0\n1\n2147483648 0\n", false, ""},
        {"0\n1\n\n", false, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct epochs e;
        char why[200] = "";
        struct text reason = TEXT_IN(why);
        epochs_init(&e);
        cr_assert_eq(epochs_decode(&e, str_of(cases[i].text), &reason), cases[i].good, "case %zu: %s", i, why);
        cr_assert_eq(why[0] == '\0', cases[i].good, "case %zu", i);
        cr_assert_str_eq(show(&e), cases[i].after, "case %zu", i);
        epochs_free(&e);
    }
}
