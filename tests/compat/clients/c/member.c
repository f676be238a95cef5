// SPDX-License-Identifier: Apache-2.0
// member: one member of a group, until SIGTERM.
#include "client.h"

enum { COMMIT_EVERY_RECORDS = 20, COMMIT_EVERY_MS = 200 };

static void print_event(const char *event, const rd_kafka_topic_partition_list_t *list) {
    printf("{\"e\":\"%s\",\"at\":%" PRId64 ",\"p\":[", event, wall_ns());
    for (int i = 0; i < list->cnt; i++)
        printf("%s[%d,%" PRId64 "]", i == 0 ? "" : ",", list->elems[i].partition, list->elems[i].offset);
    puts("]}");
    fflush(stdout);
}

static void commit_position(rd_kafka_t *client) {
    rd_kafka_topic_partition_list_t *list = NULL;
    if (rd_kafka_assignment(client, &list) != 0) return;
    if (list->cnt > 0 && rd_kafka_position(client, list) == 0) {
        for (int i = list->cnt - 1; i >= 0; i--) {
            if (list->elems[i].offset < 0) rd_kafka_topic_partition_list_del_by_idx(list, i);
        }
        if (list->cnt > 0 && rd_kafka_commit(client, list, 0) == 0) print_event("committed", list);
    }
    rd_kafka_topic_partition_list_destroy(list);
}

static void on_rebalance(rd_kafka_t *client, rd_kafka_resp_err_t error, rd_kafka_topic_partition_list_t *list,
                         void *opaque) {
    (void)opaque;
    const char *protocol = rd_kafka_rebalance_protocol(client); // NULL while the group is left
    bool cooperative = protocol != NULL && strcmp(protocol, "COOPERATIVE") == 0;
    if (error == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
        print_event("assigned", list);
        if (cooperative) {
            rd_kafka_error_destroy(rd_kafka_incremental_assign(client, list));
        } else {
            rd_kafka_assign(client, list);
        }
        return;
    }
    // At the end everything is committed already (leave_group).
    if (!stop_is_asked() && !rd_kafka_assignment_lost(client)) commit_position(client);
    print_event("revoked", list);
    if (protocol == NULL) return;
    if (cooperative) {
        rd_kafka_error_destroy(rd_kafka_incremental_unassign(client, list));
    } else {
        rd_kafka_assign(client, NULL);
    }
}

static void member_loop(rd_kafka_t *client) {
    int since_commit = 0;
    int64_t commit_ns = wall_ns();
    while (!stop_is_asked()) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(client, 100);
        if (message != NULL && message->err == 0) {
            printf("{\"e\":\"record\",\"at\":%" PRId64 ",\"p\":%d,\"o\":%" PRId64 ",\"v\":", wall_ns(),
                   message->partition, message->offset);
            print_string(message->payload, message->len);
            puts("}");
            fflush(stdout);
            since_commit++;
        } else if (message != NULL) {
            fprintf(stderr, "client.c: member: %s\n", rd_kafka_message_errstr(message));
        }
        if (message != NULL) rd_kafka_message_destroy(message);
        if (since_commit >= COMMIT_EVERY_RECORDS ||
            (since_commit > 0 && wall_ns() - commit_ns > (int64_t)COMMIT_EVERY_MS * 1000000)) {
            commit_position(client);
            since_commit = 0;
            commit_ns = wall_ns();
        }
    }
}

// Leaves the group while polling, so that nothing is assigned any more when the client is closed: a callback in
// rd_kafka_consumer_close() of librdkafka 2.0 may find the group gone, and its call about the assignment then waits for
// ever.
static void leave_group(rd_kafka_t *client) {
    enum { TRIES = 100, TRY_MS = 50 };
    rd_kafka_resp_err_t error = rd_kafka_unsubscribe(client);
    if (error != 0) die("unsubscribe", rd_kafka_err2str(error));
    for (int i = 0; i < TRIES; i++) {
        rd_kafka_topic_partition_list_t *list = NULL;
        error = rd_kafka_assignment(client, &list);
        if (error != 0) die("assignment", rd_kafka_err2str(error));
        bool is_empty = list->cnt == 0;
        rd_kafka_topic_partition_list_destroy(list);
        if (is_empty) return;
        rd_kafka_message_t *message = rd_kafka_consumer_poll(client, TRY_MS);
        if (message != NULL) rd_kafka_message_destroy(message); // not committed: it comes again to somebody
    }
}

void member(const struct options *options) {
    stop_at_sigterm();
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "bootstrap.servers", options->broker);
    set(conf, "group.id", options->group);
    set(conf, "enable.auto.commit", "false");
    set(conf, "auto.offset.reset", "earliest");
    set(conf, "session.timeout.ms", options->session_timeout_ms);
    set(conf, "heartbeat.interval.ms", "300");
    set(conf, "fetch.wait.max.ms", "100");
    set(conf, "topic.metadata.refresh.interval.ms", "1000");
    set(conf, "partition.assignment.strategy", options->assignor);
    if (options->instance_id != NULL) set(conf, "group.instance.id", options->instance_id);
    rd_kafka_conf_set_rebalance_cb(conf, on_rebalance);
    rd_kafka_t *client = client_new(RD_KAFKA_CONSUMER, conf);
    rd_kafka_poll_set_consumer(client);
    rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(topics, options->topics, RD_KAFKA_PARTITION_UA);
    rd_kafka_resp_err_t error = rd_kafka_subscribe(client, topics);
    if (error != 0) die("subscribe", rd_kafka_err2str(error));
    member_loop(client);
    commit_position(client);
    leave_group(client);
    error = rd_kafka_consumer_close(client);
    if (error != 0) die("close", rd_kafka_err2str(error));
    printf("{\"e\":\"left\",\"at\":%" PRId64 "}\n", wall_ns());
    rd_kafka_topic_partition_list_destroy(topics);
    rd_kafka_destroy(client);
}
