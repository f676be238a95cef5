// SPDX-License-Identifier: Apache-2.0
#include "bench.h"
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

static int disk_find(const struct disk *disk, struct str topic, int partition) {
    for (int i = 0; i < disk->count; i++)
        if (str_is(topic, disk->at[i].topic) && disk->at[i].partition == partition) return i;
    return -1;
}
bool disk_has(const struct disk *disk, const char *topic, int partition) {
    return disk_find(disk, str_of(topic), partition) >= 0;
}

static void answer(struct bench *b, struct controller_replica *replica, int16_t error) {
    bool stops = replica->remove;
    int at = disk_find(b->disk, replica->topic, replica->partition);
    if (error == 0 && stops && at >= 0) b->disk->at[at] = b->disk->at[--b->disk->count];
    if (error == 0 && !stops) {
        cr_assert_eq(replica->is_new, at < 0, "%s-%d", replica->topic.data, replica->partition);
        if (at < 0) {
            cr_assert_lt(b->disk->count, DISK_MAX);
            at = b->disk->count++;
            snprintf(b->disk->at[at].topic, sizeof b->disk->at[at].topic, "%s", replica->topic.data);
            b->disk->at[at].partition = replica->partition;
            b->disk->at[at].dir = replica->log_dir;
        }
        cr_assert_eq(b->disk->at[at].dir, replica->log_dir);
    }
    controller_replica_answer(replica, error);
}

static void order(struct bench *b, struct controller_replica *replica, int16_t error) {
    bool lost = replica->remove && replica->owner_core < 0; // of a deletion that a start has found
    cr_assert(lost || (replica->owner_core >= 0 && replica->owner_core < 2));
    if (!b->hold) {
        answer(b, replica, error);
        return;
    }
    b->held[b->held_count++] = replica;
}
static void replica_become(void *context, struct controller_replica *replica) {
    struct bench *b = context;
    b->become_count++;
    order(b, replica, b->become_error);
}
static void replica_stop(void *context, struct controller_replica *replica) {
    struct bench *b = context;
    cr_assert(replica->remove);
    b->stop_count++;
    order(b, replica, b->stop_error);
}
static int replica_find(void *context, struct str topic, int32_t partition) {
    struct bench *b = context;
    int at = disk_find(b->disk, topic, partition);
    return at < 0 ? -1 : b->disk->at[at].dir;
}
static const struct controller_replica_functions functions = {replica_become, replica_stop, replica_find};

void bench_release(struct bench *b, int16_t error) {
    int count = b->held_count;
    b->held_count = 0;
    for (int i = 0; i < count; i++)
        answer(b, b->held[i], error);
}

static void started(void *context, int16_t error, const char *cluster_id, const char *reason) {
    struct bench *b = context;
    cr_assert_not(b->started);
    b->started = true;
    b->started_error = error;
    snprintf(b->cluster_id, sizeof b->cluster_id, "%s", cluster_id);
    snprintf(b->reason, sizeof b->reason, "%s", reason);
}
static void failed(void *context, const char *reason) {
    struct bench *b = context;
    b->failed = true;
    snprintf(b->reason, sizeof b->reason, "%s", reason);
}
static bool dir_works(void *context, int dir) {
    return !((struct bench *)context)->dir_failed[dir];
}

void bench_turn(struct bench *b) {
    for (int i = 0; i < b->set->count; i++) {
        os_ring_doorbell(b->set->cores[i]->os); // nobody sleeps: one thread turns all
        core_turn(b->set->cores[i]);
    }
}

void bench_begin(struct bench *b) {
    int error;
    b->set = core_set_create(b->host, 2, &error);
    cr_assert_not_null(b->set);
    b->control = core_control(b->set);
    b->publisher = image_publisher_create(b->set);
    struct embedded_open open = {.path = b->path};
    cr_assert_eq(embedded_open_run(b->host, &open), 0, "%s", open.reason);
    b->store = open.store;
    embedded_attach(b->store, b->control);
    b->started = b->failed = false;
    static const struct controller_endpoint endpoints[] = {{"PLAINTEXT", "PLAINTEXT", "localhost", 9092}};
    b->controller = controller_start(b->control, &(struct controller_options){.store = b->store,
                                                                              .publisher = b->publisher,
                                                                              .config = b->config,
                                                                              .broker_id = 1,
                                                                              .cluster_id = b->cluster_id,
                                                                              .endpoints = endpoints,
                                                                              .endpoint_count = 1,
                                                                              .data_cores = 2,
                                                                              .log_dirs = 2,
                                                                              .log_dir_works = dir_works,
                                                                              .replicas = &functions,
                                                                              .context = b,
                                                                              .started = started,
                                                                              .failed = failed});
}

void bench_start(struct bench *b) {
    bench_begin(b);
    while (!b->started)
        bench_turn(b);
    cr_assert_eq(b->started_error, 0, "%s", b->reason);
    for (int i = 0; i < 20; i++) // deletions that are resumed
        bench_turn(b);
}

void bench_open(struct bench *b, struct disk *disk, const char *properties) {
    *b = (struct bench){.host = os_host_create(), .disk = disk};
    strcpy(b->directory, "/tmp/tailrace-controller-XXXXXX");
    cr_assert_not_null(mkdtemp(b->directory));
    snprintf(b->path, sizeof b->path, "%s/tailrace.metadata", b->directory);
    arena_init(&b->arena, CONFIG_ARENA_BYTES);
    struct config_report report = {0};
    b->config = config_parse(&b->arena, str_of(properties), &(struct config_options){.standalone = true}, &report);
    cr_assert_not_null(b->config);
}

void bench_stop(struct bench *b) {
    bool done = false;
    controller_stop(b->controller, NULL, &done);
    while (!done)
        bench_turn(b);
    done = false;
    metastore_close(b->store, NULL, &done);
    while (!done)
        bench_turn(b);
    image_publisher_destroy(b->publisher);
    core_set_destroy(b->set);
    b->set = NULL;
}

void bench_restart(struct bench *b) {
    bench_stop(b);
    bench_start(b);
}

void bench_close(struct bench *b) {
    unlink(b->path);
    rmdir(b->directory);
    arena_drop(&b->arena);
    os_host_destroy(b->host);
    *b = (struct bench){0};
#ifdef __SANITIZE_ADDRESS__
    cr_assert_eq(__lsan_do_recoverable_leak_check(), 0, "a leak");
#endif
}

// ---- requests

static void answered(struct core *core, struct controller_request *request) {
    cr_assert_eq(core->id, 0);
    struct asked *a = request->context;
    cr_assert_not(a->answered);
    a->answered = true;
}

void asked_send(struct bench *b, struct asked *a) {
    arena_init(&a->arena, 1 << 24);
    a->answered = false;
    a->request.arena = &a->arena;
    a->request.answered = answered;
    a->request.context = a;
    controller_send(b->set->cores[0], b->controller, &a->request);
}
void asked_free(struct asked *a) {
    arena_drop(&a->arena);
}

const struct image *bench_image(struct bench *b) {
    const struct image *image = image_of(b->set->cores[0]);
    cr_assert_eq(image, image_of(b->set->cores[1]));
    return image;
}
const struct image_topic *bench_topic(struct bench *b, const char *name) {
    return image_topic_by_name(bench_image(b), str_of(name));
}

int16_t bench_create(struct bench *b, const char *name, int partitions) {
    struct controller_create_topic row = {.name = str_of(name), .partition_count = partitions, .replication_factor = 1};
    struct asked a = {
        .request = {.kind = CONTROLLER_CREATE_TOPICS, .timeout_ms = 30000, .create_topics = &row, .row_count = 1}};
    asked_send(b, &a);
    while (!a.answered)
        bench_turn(b);
    cr_assert_eq(a.request.error, 0);
    asked_free(&a);
    return row.error;
}
int16_t bench_delete(struct bench *b, const char *name) {
    struct controller_delete_topic row = {.name = str_of(name)};
    struct asked a = {
        .request = {.kind = CONTROLLER_DELETE_TOPICS, .timeout_ms = 30000, .delete_topics = &row, .row_count = 1}};
    asked_send(b, &a);
    while (!a.answered)
        bench_turn(b);
    asked_free(&a);
    return row.error;
}

const char *bench_node(struct bench *b, const char *path) {
    static char text[4096];
    struct metastore_read read = {.kind = METASTORE_GET, .path = path};
    metastore_read_start(b->store, &read);
    while (!read.call.done)
        bench_turn(b);
    bool there = read.call.result == METASTORE_OK;
    snprintf(text, sizeof text, "%.*s", (int)read.data.size, read.data.data ? (const char *)read.data.data : "");
    metastore_read_free(&read);
    return there ? text : NULL;
}
