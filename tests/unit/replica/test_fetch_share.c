// SPDX-License-Identifier: Apache-2.0
// A share of a Fetch does not park on a partition that changed while it was being read: nobody would wake it.
#include "log/files.h"
#include "os/linux/host.h"
#include "protocol/batch_writer.h"
#include "replica/become.h"
#include "replica/fetch_share.h"
#include "replica/partition_call.h"
#include "replica/replica.h"
#include "tailrace/error.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MORE_THAN_THERE_IS = 1 << 20, AN_HOUR_S = 3600 };
static const struct uuid topic_id = {{7}};

struct desk {
    struct core_set *set;
    struct core *owner, *asker;
    struct replicas replicas;
    struct log_dir dir, *dirs[1];
    char path[64];
    struct replica_stop stop;
    struct partition_call call;
    struct fetch_share *share;
    bool stopped, called, shared;
};
struct party {
    struct replica_become become;
    bool done;
};

static void became(struct replica_become *become) {
    struct party *party = container_of(become, struct party, become);
    cr_assert_eq(become->error, KAFKA_ERROR_NONE, "%s", become->reason);
    party->done = true;
}
static void stopped(struct replica_stop *stop) {
    container_of(stop, struct desk, stop)->stopped = true;
}
static void called(struct partition_call *call) {
    container_of(call, struct desk, call)->called = true;
}
static void shared(struct fetch_share *share) {
    ((struct desk *)share->context)->shared = true;
}

static void turn(struct desk *d) {
    for (int i = d->set->count - 1; i >= 0; i--) { // who asks comes first
        os_ring_doorbell(d->set->cores[i]->os);
        core_turn(d->set->cores[i]);
    }
}
static void until(struct desk *d, const bool *done) {
    while (!*done)
        turn(d);
}

// One record in a file that the broker has not opened yet: reading it takes a trip to the disk.
static void record_write(struct desk *d) {
    char path[128];
    uint8_t batch[512];
    snprintf(path, sizeof path, "%s/t-0", d->path);
    cr_assert_eq(mkdir(path, 0755), 0);
    snprintf(path, sizeof path, "%s/t-0/00000000000000000000.log", d->path);
    struct batch_writer writer;
    batch_writer_begin(&writer, batch, sizeof batch, BATCH_OPTIONS_PLAIN);
    cr_assert(batch_writer_add(&writer, 1, (struct bytes){0}, (struct bytes){(const uint8_t *)"v", 1}, NULL, 0));
    FILE *file = fopen(path, "w");
    cr_assert_eq(fwrite(batch, batch_writer_end(&writer), 1, file), 1);
    fclose(file);
}

static void desk_open(struct desk *d) {
    int error;
    *d = (struct desk){.path = "/tmp/tailrace-fetch-share-XXXXXX"};
    cr_assert_not_null(mkdtemp(d->path));
    record_write(d);
    struct os_host *host = os_host_create();
    d->set = core_set_create(host, 1, &error);
    cr_assert_not_null(d->set);
    d->owner = d->set->cores[0];
    d->asker = core_control(d->set);
    d->dir.path = d->path;
    struct os_stat stat;
    cr_assert_eq(os_stat(host, d->path, &stat), 0);
    d->dir.device = stat.device;
    d->dir.sync_files[0] = os_open(host, d->path, OS_READ | OS_DIRECTORY);
    d->dirs[0] = &d->dir;
    replicas_init(&d->replicas, d->owner, 0, false, d->dirs, 1, 86400000);
    d->owner->replicas = &d->replicas;
    static const int32_t self[] = {0};
    struct party party = {.become = {
                              .topic = "t",
                              .topic_id = topic_id,
                              .isr = self,
                              .assigned = self,
                              .isr_count = 1,
                              .assigned_count = 1,
                              .config = {.segment_bytes = 1 << 30,
                                         .segment_ms = 604800000,
                                         .segment_index_bytes = 10 << 20,
                                         .index_interval_bytes = 4096,
                                         .retention_ms = -1,
                                         .retention_bytes = -1,
                                         .flush_messages = INT64_MAX,
                                         .flush_ms = INT64_MAX,
                                         .max_message_bytes = 1048588,
                                         .cleanup_policy = TOPIC_CLEANUP_DELETE,
                                         .min_insync_replicas = 1},
                              .log_start_offset = -1,
                              .high_watermark = -1,
                              .done = became,
                          }};
    replica_become_send(d->asker, 0, &party.become);
    until(d, &party.done);
}

static void desk_close(struct desk *d) {
    if (!d->stop.done) { // not stopped yet
        d->stop = (struct replica_stop){.topic_id = topic_id, .done = stopped};
        replica_stop_send(d->asker, 0, &d->stop);
    }
    fetch_share_release(d->asker, d->share);
    until(d, &d->stopped);
    while (!log_dir_leave_core(&d->dir, d->owner))
        turn(d);
    hashmap_free(&d->replicas.by_key);
    struct os_host *host = d->owner->host;
    os_close(host, d->dir.sync_files[0]);
    cr_assert_eq(directory_delete(host, d->path), 0);
    core_set_destroy(d->set);
}

// What happens right behind the arrival of a share that wants more than there is. Gives what its row says.
static int16_t answer_after(struct desk *d, void (*event)(struct desk *d)) {
    d->share = fetch_share_create(1);
    d->share->replica_id = -1;
    d->share->min_bytes = MORE_THAN_THERE_IS;
    d->share->deadline_ns = os_now_ns(d->asker->os) + AN_HOUR_S * 1000000000ull;
    d->share->done = shared;
    d->share->context = d;
    struct fetch_part *part = &d->share->parts[0];
    *part = (struct fetch_part){.topic_id = topic_id,
                                .max_bytes = MORE_THAN_THERE_IS,
                                .current_leader_epoch = -1,
                                .last_fetched_epoch = -1,
                                .first_segment = -1};
    fetch_share_send(d->asker, 0, d->share);
    event(d);
    turn(d);
    cr_assert(part->reading, "the event met a reading share");
    while (!d->shared) {
        turn(d);
        cr_assert_not(d->share->parked, "it parked beside the event");
    }
    return part->error;
}

static void stop(struct desk *d) {
    d->stop = (struct replica_stop){.topic_id = topic_id, .done = stopped};
    replica_stop_send(d->asker, 0, &d->stop);
}
static void delete_records(struct desk *d) {
    d->call = (struct partition_call){.kind = PARTITION_DELETE_RECORDS,
                                      .topic_id = topic_id,
                                      .current_leader_epoch = -1,
                                      .offset = 1,
                                      .done = called};
    partition_call_send(d->asker, 0, &d->call);
}

Test(fetch_share, is_told_of_a_stop_while_it_reads, .timeout = 60) {
    struct desk d;
    desk_open(&d);
    cr_assert_eq(answer_after(&d, stop), KAFKA_ERROR_NOT_LEADER_OR_FOLLOWER);
    desk_close(&d);
}

Test(fetch_share, is_told_of_deleted_records_while_it_reads, .timeout = 60) {
    struct desk d;
    desk_open(&d);
    cr_assert_eq(answer_after(&d, delete_records), KAFKA_ERROR_OFFSET_OUT_OF_RANGE);
    until(&d, &d.called);
    cr_assert_eq(d.call.error, KAFKA_ERROR_NONE);
    desk_close(&d);
}
