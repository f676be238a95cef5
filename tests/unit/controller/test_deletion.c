// SPDX-License-Identifier: Apache-2.0
// Deleting topics: codes, the order of things, what happens to names and ids, and every crash in between.
#include "base/bits.h"
#include "bench.h"
#include <fcntl.h>

// Each test has a started controller with two log directories, in a process of its own.
static struct bench b;
static struct disk disk;
static bool is_open;

static void begin_with(const char *properties) {
    bench_open(&b, &disk, properties);
    bench_start(&b);
    is_open = true;
}
static void begin(void) {
    begin_with("log.dirs=/a,/b\n");
}
static void end(void) {
    if (!is_open) return;
    bench_stop(&b);
    bench_close(&b);
    is_open = false;
}
TestSuite(deletion, .init = begin, .fini = end);

static bool topic_nodes_exist(struct bench *bench, const char *name) {
    char path[300];
    const char *formats[] = {"/brokers/topics/%s", "/config/topics/%s", "/admin/delete_topics/%s",
                             "/brokers/topics/%s/partitions"};
    for (size_t i = 0; i < ARRAY_LENGTH(formats); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(path, sizeof path, formats[i], name);
#pragma GCC diagnostic pop
        if (bench_node(bench, path)) return true;
    }
    return false;
}

Test(deletion, removes_everything_and_frees_the_name) {
    cr_assert_eq(bench_create(&b, "t", 3), 0);
    cr_assert_eq(bench_create(&b, "other", 1), 0);
    struct uuid id = bench_topic(&b, "t")->id;
    b.hold = true;
    struct controller_delete_topic row = {.topic_id = id};
    struct asked a = {
        .request = {.kind = CONTROLLER_DELETE_TOPICS, .timeout_ms = 30000, .delete_topics = &row, .row_count = 1}};
    asked_send(&b, &a);
    while (b.held_count < 3)
        bench_turn(&b);
    // Hidden and marked, before any replica is touched.
    cr_assert(bench_topic(&b, "t")->deleting);
    cr_assert_not_null(bench_node(&b, "/admin/delete_topics/t"));
    cr_assert_not(a.answered);
    bench_release(&b, 0);
    while (!a.answered)
        bench_turn(&b);
    b.hold = false;
    cr_assert_eq(row.error, 0);
    cr_assert(str_is(row.name, "t"), "the answer has the name");
    asked_free(&a);
    cr_assert_null(bench_topic(&b, "t"));
    cr_assert_null(image_topic_by_id(bench_image(&b), id));
    cr_assert_not(topic_nodes_exist(&b, "t"));
    cr_assert(!disk_has(&disk, "t", 0) && disk_has(&disk, "other", 0));
    cr_assert_eq(bench_create(&b, "t", 1), 0);
    cr_assert_not(uuid_equal(bench_topic(&b, "t")->id, id), "a new id");
}

Test(deletion, codes) {
    cr_assert_eq(bench_create(&b, "t", 1), 0);
    struct controller_delete_topic rows[] = {
        {.name = str_of("missing")},
        {.topic_id = {{1}}},
        {.name = str_of("t")},
        {.name = str_of("t")},
        {.name = str_of("denied"), .error = KAFKA_ERROR_TOPIC_AUTHORIZATION_FAILED}};
    struct asked a = {
        .request = {.kind = CONTROLLER_DELETE_TOPICS, .timeout_ms = 30000, .delete_topics = rows, .row_count = 5}};
    asked_send(&b, &a);
    while (!a.answered)
        bench_turn(&b);
    cr_assert_eq(rows[0].error, KAFKA_ERROR_UNKNOWN_TOPIC_OR_PARTITION);
    cr_assert_eq(rows[1].error, KAFKA_ERROR_UNKNOWN_TOPIC_ID);
    cr_assert_eq(rows[2].error, 0);
    cr_assert_eq(rows[3].error, 0);
    cr_assert_eq(rows[4].error, KAFKA_ERROR_TOPIC_AUTHORIZATION_FAILED);
    asked_free(&a);
    end();
    begin_with("log.dirs=/a,/b\ndelete.topic.enable=false\n");
    cr_assert_eq(bench_create(&b, "t", 1), 0);
    cr_assert_eq(bench_delete(&b, "t"), KAFKA_ERROR_TOPIC_DELETION_DISABLED);
}

// A replica that cannot be removed keeps the name taken; the next start finishes it.
Test(deletion, stuck_until_the_next_start) {
    cr_assert_eq(bench_create(&b, "t", 2), 0);
    b.stop_error = KAFKA_ERROR_KAFKA_STORAGE_ERROR;
    cr_assert_eq(bench_delete(&b, "t"), KAFKA_ERROR_REQUEST_TIMED_OUT);
    cr_assert(bench_topic(&b, "t")->deleting);
    cr_assert_eq(bench_create(&b, "t", 1), KAFKA_ERROR_TOPIC_ALREADY_EXISTS);
    cr_assert_eq(bench_delete(&b, "t"), KAFKA_ERROR_UNKNOWN_TOPIC_OR_PARTITION);
    b.stop_error = 0;
    bench_restart(&b);
    while (bench_topic(&b, "t"))
        bench_turn(&b);
    cr_assert_not(topic_nodes_exist(&b, "t"));
    cr_assert_eq(disk.count, 0);
    cr_assert_eq(bench_create(&b, "t", 1), 0);
}

// A start finds a deletion whose directories are gone: their lines may still be in the checkpoint files, so the
// replicas are stopped all the same. If one may lie in a directory that has failed, the deletion waits for the next
// start.
Test(deletion, of_replicas_that_a_start_does_not_find) {
    cr_assert_eq(bench_create(&b, "t", 2), 0);
    b.stop_error = KAFKA_ERROR_KAFKA_STORAGE_ERROR;
    cr_assert_eq(bench_delete(&b, "t"), KAFKA_ERROR_REQUEST_TIMED_OUT);
    disk.count = 0;
    b.stop_error = 0;
    b.stop_count = 0;
    b.dir_failed[1] = true;
    bench_restart(&b);
    cr_assert_eq(b.stop_count, 0);
    cr_assert(bench_topic(&b, "t")->deleting);
    b.dir_failed[1] = false;
    bench_restart(&b);
    while (bench_topic(&b, "t"))
        bench_turn(&b);
    cr_assert_eq(b.stop_count, 2);
    cr_assert_not(topic_nodes_exist(&b, "t"));
}

// A deletion while a directory is missing since the start: what lies there cannot be deleted, so the name stays taken
// until it is there again. (Made anew meanwhile, a partition would be in two directories.)
Test(deletion, while_a_directory_is_missing) {
    cr_assert_eq(bench_create(&b, "t", 2), 0);
    bench_stop(&b);
    struct disk missing = {0};
    for (int i = 0; i < disk.count; i++) {
        if (disk.at[i].dir != 1) continue;
        missing.at[missing.count++] = disk.at[i];
        disk.at[i--] = disk.at[--disk.count];
    }
    cr_assert(missing.count == 1 && disk.count == 1);
    b.dir_failed[1] = true;
    bench_start(&b);
    cr_assert_eq(bench_delete(&b, "t"), KAFKA_ERROR_REQUEST_TIMED_OUT);
    cr_assert(bench_topic(&b, "t")->deleting);
    cr_assert_eq(bench_create(&b, "t", 1), KAFKA_ERROR_TOPIC_ALREADY_EXISTS);
    bench_stop(&b);
    disk.at[disk.count++] = missing.at[0];
    b.dir_failed[1] = false;
    bench_start(&b);
    while (bench_topic(&b, "t"))
        bench_turn(&b);
    cr_assert_not(topic_nodes_exist(&b, "t"));
    cr_assert_eq(disk.count, 0);
}

// A replica that still loads is not stopped before it has answered.
Test(deletion, waits_for_loading) {
    cr_assert_eq(bench_create(&b, "t", 1), 0);
    bench_stop(&b);
    b.hold = true;
    bench_start(&b);
    cr_assert_eq(b.held_count, 1);
    struct controller_delete_topic row = {.name = str_of("t")};
    struct asked a = {
        .request = {.kind = CONTROLLER_DELETE_TOPICS, .timeout_ms = 30000, .delete_topics = &row, .row_count = 1}};
    asked_send(&b, &a);
    for (int i = 0; i < 200; i++)
        bench_turn(&b);
    cr_assert_eq(b.stop_count, 0);
    b.hold = false;
    bench_release(&b, 0);
    while (!a.answered)
        bench_turn(&b);
    cr_assert_eq(row.error, 0);
    cr_assert_eq(b.stop_count, 1);
    asked_free(&a);
}

// ---- crashes

struct cut {
    char bytes[1 << 17];
    size_t size;
};

static void read_file(const char *path, struct cut *c) {
    int file = open(path, O_RDONLY);
    ssize_t n = read(file, c->bytes, sizeof c->bytes);
    cr_assert(n > 0 && n < (ssize_t)sizeof c->bytes);
    c->size = (size_t)n;
    close(file);
}
static void write_file(const char *path, const struct cut *c, size_t size) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    cr_assert_eq(write(file, c->bytes, size), (ssize_t)size);
    close(file);
}
static size_t next_record(const struct cut *c, size_t position) {
    return position + 48 + load_be32(c->bytes + position);
}

// Starts on the first `size` bytes of the store with that disk; afterwards store, image and disk agree about the topic,
// no deletion is left over, and its name can be used.
static bool starts_well(const struct cut *c, size_t size, struct disk found) {
    disk = found;
    bench_open(&b, &disk, "log.dirs=/a,/b\n");
    write_file(b.path, c, size);
    bench_start(&b);
    while (bench_topic(&b, "t") && bench_topic(&b, "t")->deleting)
        bench_turn(&b);
    for (int i = 0; i < 200 && bench_node(&b, "/admin/delete_topics/t"); i++)
        bench_turn(&b);
    cr_assert_null(bench_node(&b, "/admin/delete_topics/t"));
    bool there = bench_topic(&b, "t") != NULL;
    if (there) {
        for (int p = 0; p < bench_topic(&b, "t")->partition_count; p++)
            cr_assert(disk_has(&disk, "t", p) && bench_topic(&b, "t")->partitions[p].leader == 1);
        cr_assert_not_null(bench_node(&b, "/brokers/topics/t/partitions/2/state"));
        cr_assert_eq(bench_delete(&b, "t"), 0);
    }
    cr_assert_not(topic_nodes_exist(&b, "t"));
    cr_assert_eq(disk.count, 0);
    cr_assert_eq(bench_create(&b, "t", 3), 0);
    bench_stop(&b);
    bench_close(&b);
    return there;
}

Test(deletion, resumes_after_a_crash_at_every_record) {
    struct disk with, without = {0};
    static struct cut before, after;
    cr_assert_eq(bench_create(&b, "t", 3), 0);
    with = disk;
    read_file(b.path, &before);
    cr_assert_eq(bench_delete(&b, "t"), 0);
    read_file(b.path, &after);
    end();
    int there = 0, gone = 0;
    // Creation too: whatever of it is durable is finished or never was.
    size_t first = 32;
    for (size_t position = first; position < after.size; position = next_record(&after, position)) {
        if (load_be32(after.bytes + position + 4) < 3) continue; // inside the snapshot
        bool in_deletion = position >= before.size;
        if (!in_deletion) {
            starts_well(&after, position, without);
            continue;
        }
        if (starts_well(&after, position, with)) {
            there++;
        } else {
            gone++;
        }
        struct disk half = with;
        half.count = 1;
        starts_well(&after, position, half);
        starts_well(&after, position, without);
    }
    starts_well(&after, after.size, without);
    cr_assert(there > 0 && gone > 0);
}
