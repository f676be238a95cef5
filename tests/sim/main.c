// SPDX-License-Identifier: Apache-2.0
// tools/sim: runs seeds. Each seed runs in a process of its own, so that a crash or a hang is one failed seed and the
// memory of killed brokers goes away.
#include "scenario.h"
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { JOBS_MAX = 64, SECONDS_A_SEED_MAX = 120 };

struct options {
    const struct scenario *scenario; // NULL: all without a bug
    uint64_t from, to;
    int jobs;
    bool verbose, one, find_bug, twice, hash;
    const char *clean; // with find_bug: the program without the bug, which must pass the seed that found it
};

static const char usage[] =
    "usage: sim [--scenario NAME] --seed N [-v]        one run, in this process; -v prints its trace\n"
    "       sim [--scenario NAME] --seeds FROM..TO     many runs (both ends included)\n"
    "       sim --scenario NAME --seeds FROM..TO --find-bug   succeeds as soon as one fails\n"
    "       sim [--scenario NAME] --seed N --twice     checks that a seed gives one trace, and another seed another\n"
    "       sim --list\n"
    "              --clean PROGRAM: and this one, built without the bug, passes the seed that failed\n"
    "options: --jobs N (default 2), --hash (prints the hash of the trace)\n"
    "Without --scenario: every scenario that has no planted bug.\n";

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// ---- one seed in this process ---------------------------------------------------------------------------------------
static void run_seed(const struct scenario *scenario, uint64_t seed, const struct options *options) {
    sim_create(seed, scenario->name, options->verbose);
    scenario->run();
    if (options->hash) printf("%016llx\n", (unsigned long long)sim_hash());
    fflush(stdout);
}

// ---- many, each in a child
// ----------------------------------------------------------------------------------------------
struct child {
    pid_t pid;
    uint64_t seed;
};

static void report_crash(const struct scenario *scenario, uint64_t seed, int status) {
    if (WIFSIGNALED(status))
        fprintf(stderr, "FAILED scenario %s, seed %llu: %s\n  reproduce: tools/sim --scenario %s --seed %llu -v\n",
                scenario->name, (unsigned long long)seed,
                WTERMSIG(status) == SIGALRM ? "ran too long in real time" : strsignal(WTERMSIG(status)), scenario->name,
                (unsigned long long)seed);
}

static pid_t start_child(const struct scenario *scenario, uint64_t seed, const struct options *options) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0) {
        perror("fork");
        exit(2);
    }
    if (pid > 0) return pid;
    alarm(SECONDS_A_SEED_MAX);
    run_seed(scenario, seed, options);
    _exit(0);
}

// Whether the program without the planted bug passes the seed, so that it was the bug that was found.
static bool clean_passes(const struct scenario *scenario, uint64_t seed, const char *program) {
    char number[32];
    snprintf(number, sizeof number, "%llu", (unsigned long long)seed);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        execl(program, "sim", "--scenario", scenario->name, "--seed", number, (char *)NULL);
        perror(program);
        _exit(127);
    }
    int status = -1;
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static bool run_seeds(const struct scenario *scenario, const struct options *options) {
    struct child children[JOBS_MAX];
    int running = 0;
    uint64_t next = options->from, done = 0, failed = 0, first_failed = 0;
    const uint64_t count = options->to - options->from + 1;
    const bool terminal = isatty(STDERR_FILENO);
    const double start = seconds_now();
    bool stop = false;
    while (running > 0 || (next <= options->to && !stop)) {
        if (next <= options->to && !stop && running < options->jobs) {
            children[running++] = (struct child){start_child(scenario, next, options), next};
            next++;
            continue;
        }
        int status, which = 0;
        pid_t pid = waitpid(-1, &status, 0);
        while (which < running && children[which].pid != pid)
            which++;
        if (pid < 0 || which == running) continue;
        uint64_t seed = children[which].seed;
        children[which] = children[--running];
        done++;
        if (status != 0) {
            report_crash(scenario, seed, status);
            if (failed++ == 0 || seed < first_failed) first_failed = seed;
            stop = options->find_bug || failed >= 10;
        }
        if (terminal)
            fprintf(stderr, "\r%s: %llu of %llu seeds, %llu failed, %.0f s ", scenario->name, (unsigned long long)done,
                    (unsigned long long)count, (unsigned long long)failed, seconds_now() - start);
    }
    if (terminal) fprintf(stderr, "\r\033[K");
    printf("%s: %llu seeds, %llu failed, %.1f s", scenario->name, (unsigned long long)done, (unsigned long long)failed,
           seconds_now() - start);
    if (failed > 0)
        printf("; first: tools/sim --scenario %s --seed %llu -v", scenario->name, (unsigned long long)first_failed);
    printf("\n");
    if (failed > 0 && options->clean && !clean_passes(scenario, first_failed, options->clean)) {
        printf("%s: seed %llu fails without the bug too\n", scenario->name, (unsigned long long)first_failed);
        return false;
    }
    return options->find_bug ? failed > 0 : failed == 0;
}

// ---- the same seed twice
// -------------------------------------------------------------------------------------------------- In fresh
// processes, with other addresses and another filling of fresh memory: what depends on either shows.
static uint64_t hash_of(const struct scenario *scenario, uint64_t seed, const char *perturb) {
    char number[32], line[64] = "";
    snprintf(number, sizeof number, "%llu", (unsigned long long)seed);
    int ends[2];
    if (pipe(ends) != 0) {
        perror("pipe");
        exit(2);
    }
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        setenv("MALLOC_PERTURB_", perturb, 1);
        execl("/proc/self/exe", "sim", "--scenario", scenario->name, "--seed", number, "--hash", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *from = fdopen(ends[0], "r");
    char *got = from ? fgets(line, sizeof line, from) : NULL;
    if (from) fclose(from);
    int status = 0;
    waitpid(pid, &status, 0);
    if (status != 0 || !got) {
        fprintf(stderr, "%s: seed %llu failed\n", scenario->name, (unsigned long long)seed);
        exit(1);
    }
    return strtoull(line, NULL, 16);
}

static bool run_twice(const struct scenario *scenario, const struct options *options) {
    bool good = true;
    for (uint64_t seed = options->from; seed <= options->to; seed++) {
        uint64_t first = hash_of(scenario, seed, "85"), second = hash_of(scenario, seed, "170");
        uint64_t other = hash_of(scenario, seed + 1, "85");
        bool ok = first == second && first != other;
        printf("%s: seed %llu: %016llx %016llx, seed %llu: %016llx: %s\n", scenario->name, (unsigned long long)seed,
               (unsigned long long)first, (unsigned long long)second, (unsigned long long)(seed + 1),
               (unsigned long long)other, ok ? "as it should be" : "WRONG");
        good = good && ok;
    }
    return good;
}

// For a build with AddressSanitizer: killed processes leave their memory behind.
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "detect_leaks=0";
}

// ---- the command line
// ---------------------------------------------------------------------------------------------------------
static _Noreturn void bad_usage(const char *what, const char *value) {
    fprintf(stderr, "sim: %s%s%s\n%s", what, value ? ": " : "", value ? value : "", usage);
    exit(2);
}

static uint64_t number(const char *text, const char **end) {
    char *stop;
    errno = 0;
    unsigned long long value = strtoull(text, &stop, 10);
    if (stop == text || errno != 0 || *text == '-') bad_usage("not a seed", text);
    *end = stop;
    return value;
}

static void parse_seeds(struct options *options, const char *text, bool range) {
    const char *end;
    options->from = options->to = number(text, &end);
    options->one = !range;
    if (range && strncmp(end, "..", 2) == 0) options->to = number(end + 2, &end);
    if (*end != 0) bad_usage(range ? "expected FROM..TO" : "expected a number", text);
    if (options->to < options->from) bad_usage("FROM is greater than TO", text);
}

static _Noreturn void list(void) {
    for (int i = 0; scenario_at(i); i++)
        printf("%-24s %s\n", scenario_at(i)->name, scenario_at(i)->about);
    exit(0);
}

static struct options parse(int count, char **arguments) {
    enum { SCENARIO = 1000, SEED, SEEDS, JOBS, FIND_BUG, CLEAN, TWICE, HASH, LIST, HELP };
    static const struct option names[] = {
        {"scenario", required_argument, NULL, SCENARIO},
        {"seed", required_argument, NULL, SEED},
        {"seeds", required_argument, NULL, SEEDS},
        {"jobs", required_argument, NULL, JOBS},
        {"find-bug", no_argument, NULL, FIND_BUG},
        {"clean", required_argument, NULL, CLEAN},
        {"twice", no_argument, NULL, TWICE},
        {"hash", no_argument, NULL, HASH},
        {"list", no_argument, NULL, LIST},
        {"help", no_argument, NULL, HELP},
        {"verbose", no_argument, NULL, 'v'},
        {0},
    };
    struct options options = {.jobs = 2};
    bool seeds = false;
    for (int c; (c = getopt_long(count, arguments, "v", names, NULL)) != -1;) {
        switch (c) {
        case SCENARIO:
            options.scenario = scenario_find(optarg);
            if (!options.scenario) bad_usage("no such scenario (--list shows them)", optarg);
            break;
        case SEED:
        case SEEDS:
            parse_seeds(&options, optarg, c == SEEDS);
            seeds = true;
            break;
        case JOBS: options.jobs = atoi(optarg); break;
        case FIND_BUG: options.find_bug = true; break;
        case CLEAN: options.clean = optarg; break;
        case TWICE: options.twice = true; break;
        case HASH: options.hash = true; break;
        case LIST: list();
        case HELP: printf("%s", usage); exit(0);
        case 'v': options.verbose = true; break;
        default: bad_usage("bad option", NULL);
        }
    }
    if (!seeds) bad_usage("which seed?", NULL);
    if (options.clean && !options.find_bug) bad_usage("--clean goes with --find-bug", NULL);
    if (optind < count) bad_usage("unexpected", arguments[optind]);
    if (options.jobs < 1 || options.jobs > JOBS_MAX) bad_usage("--jobs is 1 to 64", NULL);
    return options;
}

int main(int count, char **arguments) {
    struct options options = parse(count, arguments);
    bool good = true;
    for (int i = 0; scenario_at(i); i++) {
        const struct scenario *scenario = scenario_at(i);
        if (options.scenario ? options.scenario != scenario : scenario->has_bug) continue;
        if (options.twice) {
            good = run_twice(scenario, &options) && good;
        } else if (options.one && options.scenario) {
            run_seed(scenario, options.from, &options);
            if (!options.hash)
                printf("%s: seed %llu: passed, %llu events, %.3f s of virtual time, trace %016llx\n", scenario->name,
                       (unsigned long long)options.from, (unsigned long long)sim_events(), (double)sim_now_ns() / 1e9,
                       (unsigned long long)sim_hash());
        } else {
            good = run_seeds(scenario, &options) && good;
        }
    }
    return good ? 0 : 1;
}
