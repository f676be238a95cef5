// SPDX-License-Identifier: Apache-2.0
// What the process may use of the machine: memory (the cgroup's limit if that is less, version 1 or 2, its parents
// included), CPUs, descriptors. What cannot be read counts as no limit.
#include "os/linux/engine.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

enum { SMALL_FILE_MAX = 8192, CGROUP_DEPTH_MAX = 64 };

// ---- memory
static bool small_file_read(const char *path, char text[SMALL_FILE_MAX]) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    size_t got = 0;
    ssize_t n = 1;
    while (n > 0 && got < SMALL_FILE_MAX - 1) {
        n = read(fd, text + got, SMALL_FILE_MAX - 1 - got);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0)
            got += (size_t)n;
    }
    close(fd);
    text[got] = '\0';
    return true;
}

static uint64_t limit_read(const char *path) {
    char text[SMALL_FILE_MAX];
    if (!small_file_read(path, text)) return UINT64_MAX;
    char *end;
    errno = 0;
    uint64_t limit = strtoull(text, &end, 10);
    return end == text || errno != 0 || limit == 0 ? UINT64_MAX : limit; // "max" is no number
}

// The least limit of the group and of those above it. group is cut as it goes up.
static uint64_t cgroup_limit(const char *root, char *group, const char *file) {
    uint64_t least = UINT64_MAX;
    for (int depth = 0; depth < CGROUP_DEPTH_MAX; depth++) {
        char path[2 * SMALL_FILE_MAX];
        snprintf(path, sizeof path, "%s%s/%s", root, strcmp(group, "/") == 0 ? "" : group, file);
        uint64_t limit = limit_read(path);
        if (limit < least) least = limit;
        char *slash = strrchr(group, '/');
        if (!slash) break;
        *slash = '\0';
    }
    return least;
}

static bool has_word(const char *list, const char *word) { // list: comma separated
    size_t size = strlen(word);
    for (const char *at = strstr(list, word); at; at = strstr(at + 1, word)) {
        if ((at == list || at[-1] == ',') && (at[size] == ',' || at[size] == '\0')) return true;
    }
    return false;
}

// A line is hierarchy:controllers:path; version 2 has hierarchy 0 and no controllers.
static uint64_t cgroup_line_limit(char *line) {
    char *controllers = strchr(line, ':');
    if (!controllers) return UINT64_MAX;
    *controllers++ = '\0';
    char *group = strchr(controllers, ':');
    if (!group) return UINT64_MAX;
    *group++ = '\0';
    if (controllers[0] == '\0') return cgroup_limit("/sys/fs/cgroup", group, "memory.max");
    if (has_word(controllers, "memory")) return cgroup_limit("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
    return UINT64_MAX;
}

uint64_t os_memory_bytes(struct os_host *host) {
    (void)host;
    struct sysinfo info;
    int rc = sysinfo(&info);
    ASSERT(rc == 0);
    uint64_t bytes = (uint64_t)info.totalram * info.mem_unit;
    char text[SMALL_FILE_MAX], *rest = NULL;
    if (!small_file_read("/proc/self/cgroup", text)) return bytes;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        uint64_t limit = cgroup_line_limit(line);
        if (limit < bytes) bytes = limit;
    }
    return bytes;
}

// ---- CPUs
cpu_set_t *cpus_of_process(void) {
    cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
    ASSERT(set != NULL);
    size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
    CPU_ZERO_S(size, set);
    int rc = sched_getaffinity(0, size, set);
    ASSERT(rc == 0); // the set has room for more CPUs than the kernel can have
    return set;
}

int os_cpus(struct os_host *host, int *cpus, int capacity) {
    int count = 0;
    for (int cpu = 0; cpu < CPUS_MAX && count < capacity; cpu++) {
        if (CPU_ISSET_S((size_t)cpu, CPU_ALLOC_SIZE(CPUS_MAX), host->cpus)) cpus[count++] = cpu;
    }
    ASSERT(count > 0 || capacity == 0);
    return count;
}

// ---- descriptors
int64_t os_raise_descriptor_limit(struct os_host *host) {
    (void)host;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return -errno;
    struct rlimit raised = {.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
    return limit.rlim_cur > INT32_MAX ? INT32_MAX : (int64_t)limit.rlim_cur;
}
