// SPDX-License-Identifier: Apache-2.0
// Runs the tests that criterion.h beside it registers. A data race makes the child's exit status that of
// ThreadSanitizer.
#include <criterion/criterion.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

static struct tsan_test *first, **place = &first;

void tsan_test_add(struct tsan_test *test) {
    *place = test;
    place = &test->next;
}

_Noreturn void tsan_test_fail(const char *file, int line, const char *what, const char *format, ...) {
    fprintf(stderr, "%s:%d: failed: %s ", file, line, what);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    _exit(1);
}

static void test_use_suite(struct tsan_test *test) {
    for (const struct tsan_test *suite = first; suite; suite = suite->next) {
        if (suite->run || strcmp(suite->suite, test->suite) != 0) continue;
        if (!test->init) test->init = suite->init;
        if (!test->fini) test->fini = suite->fini;
    }
}

static bool test_passes(const struct tsan_test *test) {
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) return false;
    if (child == 0) {
        alarm(test->timeout > 0 ? (unsigned)test->timeout + 1 : 300);
        if (test->init) test->init();
        test->run();
        if (test->fini) test->fini();
        exit(0);
    }
    int status;
    if (waitpid(child, &status, 0) != child) return false;
    if (test->signal != 0) return WIFSIGNALED(status) && WTERMSIG(status) == test->signal;
    return WIFEXITED(status) && WEXITSTATUS(status) == test->exit_code;
}

int main(void) {
    int tested = 0, failed = 0;
    for (struct tsan_test *test = first; test; test = test->next) {
        if (!test->run || test->disabled) continue;
        test_use_suite(test);
        tested++;
        if (test_passes(test)) continue;
        failed++;
        printf("[FAIL] %s::%s\n", test->suite, test->name);
    }
    printf("Tested: %d | Failing: %d\n", tested, failed);
    return failed == 0 ? 0 : 1;
}
