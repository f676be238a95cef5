// SPDX-License-Identifier: Apache-2.0
// A stand-in for Criterion in ThreadSanitizer builds: Criterion 2.4 hands its tests to child processes through memory
// at addresses that ThreadSanitizer keeps for itself, and aborts. The same tests are registered here and run one by
// one, each in a forked child. What is missing is added when a test needs it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tsan_test {
    const char *suite, *name;
    void (*run)(void);  // NULL: a suite
    void (*init)(void); // the attributes that are understood
    void (*fini)(void);
    int signal, exit_code;
    double timeout; // in seconds
    bool disabled;
    struct tsan_test *next;
};
void tsan_test_add(struct tsan_test *test);
_Noreturn void tsan_test_fail(const char *file, int line, const char *what, const char *format, ...);

#define Test(suite_, name_, ...)                                                                                       \
    static void suite_##_##name_##_run(void);                                                                          \
    __attribute__((constructor)) static void suite_##_##name_##_add(void) {                                            \
        static struct tsan_test test = {.suite = #suite_, .name = #name_, .run = suite_##_##name_##_run, __VA_ARGS__}; \
        tsan_test_add(&test);                                                                                          \
    }                                                                                                                  \
    static void suite_##_##name_##_run(void)

// Its init and fini are those of the suite's tests that have none.
#define TestSuite(suite_, ...)                                                                                         \
    __attribute__((constructor)) static void suite_##_suite_add(void) {                                                \
        static struct tsan_test suite = {.suite = #suite_, __VA_ARGS__};                                               \
        tsan_test_add(&suite);                                                                                         \
    }                                                                                                                  \
    struct tsan_test

#define TSAN_CHECK(condition, ...)                                                                                     \
    ((condition) ? (void)0 : tsan_test_fail(__FILE__, __LINE__, #condition, "" __VA_ARGS__))
#define cr_skip_test(...)                      return
#define cr_assert(a, ...)                      TSAN_CHECK(a, __VA_ARGS__)
#define cr_assert_not(a, ...)                  TSAN_CHECK(!(a), __VA_ARGS__)
#define cr_assert_null(a, ...)                 TSAN_CHECK((a) == NULL, __VA_ARGS__)
#define cr_assert_not_null(a, ...)             TSAN_CHECK((a) != NULL, __VA_ARGS__)
#define cr_assert_eq(a, b, ...)                TSAN_CHECK((a) == (b), __VA_ARGS__)
#define cr_assert_neq(a, b, ...)               TSAN_CHECK((a) != (b), __VA_ARGS__)
#define cr_assert_lt(a, b, ...)                TSAN_CHECK((a) < (b), __VA_ARGS__)
#define cr_assert_leq(a, b, ...)               TSAN_CHECK((a) <= (b), __VA_ARGS__)
#define cr_assert_gt(a, b, ...)                TSAN_CHECK((a) > (b), __VA_ARGS__)
#define cr_assert_geq(a, b, ...)               TSAN_CHECK((a) >= (b), __VA_ARGS__)
#define cr_assert_str_eq(a, b, ...)            TSAN_CHECK(strcmp((a), (b)) == 0, __VA_ARGS__)
#define cr_assert_str_neq(a, b, ...)           TSAN_CHECK(strcmp((a), (b)) != 0, __VA_ARGS__)
#define cr_assert_arr_eq(a, b, size, ...)      TSAN_CHECK(memcmp((a), (b), (size)) == 0, __VA_ARGS__)
#define cr_assert_fail(...)                    TSAN_CHECK(false, __VA_ARGS__)
#define cr_fatal(...)                          TSAN_CHECK(false, __VA_ARGS__)
#define cr_assert_arr_neq(a, b, size, ...)     TSAN_CHECK(memcmp((a), (b), (size)) != 0, __VA_ARGS__)
#define cr_assert_str_empty(a, ...)            TSAN_CHECK((a)[0] == '\0', __VA_ARGS__)
#define cr_assert_str_not_empty(a, ...)        TSAN_CHECK((a)[0] != '\0', __VA_ARGS__)
#define cr_assert_str_lt(a, b, ...)            TSAN_CHECK(strcmp((a), (b)) < 0, __VA_ARGS__)
#define cr_assert_str_gt(a, b, ...)            TSAN_CHECK(strcmp((a), (b)) > 0, __VA_ARGS__)
#define cr_assert_float_eq(a, b, epsilon, ...) TSAN_CHECK((a) - (b) <= (epsilon) && (b) - (a) <= (epsilon), __VA_ARGS__)
