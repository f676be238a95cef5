// SPDX-License-Identifier: Apache-2.0
//
// The librdkafka (Debian's 2.0) client of the compatibility test. Its command line, its input files and its output
// lines are those of every other family: tests/compat/README.md describes them once.
//
// Happy path: `produce` sends every record of every list of the jobs file, waits for all delivery reports and prints
// one summary line; `consume` reads all topics up to their end offsets and prints one line for each record; `member`
// runs until SIGTERM as one member of a group. Failure modes: any error of a record, of the end offsets or of a commit
// is printed to standard error and the exit status is 1; no progress for 60 s is exit status 3. One command more than
// the others have: `feed` writes numbered records for the members of a group until SIGTERM.
#include <errno.h>
#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <openssl/evp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NO_PROGRESS_MS = 60000, COMMIT_EVERY_RECORDS = 20, COMMIT_EVERY_MS = 200 };

struct options {
    const char *broker, *pack, *jobs, *topics, *mode, *group, *assignor, *instance_id, *idempotent, *family,
        *rate_per_s, *session_timeout_ms;
};

static volatile sig_atomic_t stop_asked;
static int failures;

static void on_sigterm(int signal_number) {
    (void)signal_number;
    stop_asked = 1;
}

static void die(const char *what, const char *why) {
    fprintf(stderr, "client.c: %s: %s\n", what, why);
    exit(1);
}

static int64_t wall_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static struct options parse_options(int argc, char **argv) {
    struct options options = {
        .mode = "assign", .assignor = "range", .idempotent = "1", .rate_per_s = "100", .session_timeout_ms = "10000"};
    struct {
        const char *name, **value;
    } known[] = {{"--broker", &options.broker},
                 {"--pack", &options.pack},
                 {"--jobs", &options.jobs},
                 {"--topics", &options.topics},
                 {"--mode", &options.mode},
                 {"--group", &options.group},
                 {"--assignor", &options.assignor},
                 {"--instance-id", &options.instance_id},
                 {"--idempotent", &options.idempotent},
                 {"--family", &options.family},
                 {"--rate-per-s", &options.rate_per_s},
                 {"--session-timeout-ms", &options.session_timeout_ms}};
    for (int at = 2; at + 1 < argc; at += 2) {
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
            if (strcmp(argv[at], known[i].name) == 0) {
                *known[i].value = argv[at + 1];
                found = true;
            }
        }
        if (!found) die("unknown option", argv[at]);
    }
    if (options.broker == NULL) die("missing option", "--broker");
    return options;
}

static void set(rd_kafka_conf_t *conf, const char *key, const char *value) {
    char why[256];
    if (rd_kafka_conf_set(conf, key, value, why, sizeof why) != RD_KAFKA_CONF_OK) die(key, why);
}

static rd_kafka_t *client_new(rd_kafka_type_t type, rd_kafka_conf_t *conf) {
    char why[256];
    rd_kafka_t *client = rd_kafka_new(type, conf, why, sizeof why);
    if (client == NULL) die("rd_kafka_new", why);
    return client;
}

static char *read_file(const char *path, size_t *size_bytes) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) die(path, strerror(errno));
    fseek(file, 0, SEEK_END);
    *size_bytes = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size_bytes + 1);
    if (fread(bytes, 1, *size_bytes, file) != *size_bytes) die(path, "short read");
    bytes[*size_bytes] = 0;
    fclose(file);
    return bytes;
}

// ---- produce ----

static void on_delivery(rd_kafka_t *client, const rd_kafka_message_t *message, void *opaque) {
    (void)client;
    if (message->err != 0) {
        fprintf(stderr, "client.c: %s [%d]: %s\n", rd_kafka_topic_name(message->rkt), message->partition,
                rd_kafka_err2str(message->err));
        failures++;
    } else {
        (*(int64_t *)opaque)++;
    }
}

static rd_kafka_headers_t *headers_of(const char *family, const char *round) {
    rd_kafka_headers_t *headers = rd_kafka_headers_new(6);
    rd_kafka_header_add(headers, "family", -1, family, -1);
    rd_kafka_header_add(headers, "round", -1, round, -1);
    rd_kafka_header_add(headers, "twice", -1, "1", 1);
    rd_kafka_header_add(headers, "twice", -1, "2", 1);
    rd_kafka_header_add(headers, "empty", -1, "", 0);
    rd_kafka_header_add(headers, "binary", -1, "\x00\xff\x80\n", 4);
    return headers;
}

static void produce_line(const struct options *options, rd_kafka_t *client, const char *topic, char *pack, char *line) {
    char *rest = line;
    int64_t offset = strtoll(strsep(&rest, "\t"), NULL, 10);
    int64_t length = strtoll(strsep(&rest, "\t"), NULL, 10);
    int64_t timestamp_ms = strtoll(strsep(&rest, "\t"), NULL, 10);
    const char *round = strsep(&rest, "\t");
    bool has_key = strcmp(rest, "\\N") != 0;
    void *key = has_key ? rest : NULL, *value = length < 0 ? NULL : pack + offset;
    size_t key_size_bytes = has_key ? strlen(rest) : 0, value_size_bytes = length < 0 ? 0 : (size_t)length;
    for (;;) {
        rd_kafka_resp_err_t error =
            rd_kafka_producev(client, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_KEY(key, key_size_bytes),
                              RD_KAFKA_V_VALUE(value, value_size_bytes), RD_KAFKA_V_TIMESTAMP(timestamp_ms),
                              RD_KAFKA_V_HEADERS(headers_of(options->family, round)), RD_KAFKA_V_END);
        if (error == 0) break;
        if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL) die(topic, rd_kafka_err2str(error));
        rd_kafka_poll(client, 100);
    }
}

static void produce_list(const struct options *options, const char *topic, const char *codec, const char *list_path,
                         char *pack) {
    int64_t delivered = 0, sent = 0;
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "bootstrap.servers", options->broker);
    set(conf, "compression.codec", codec);
    set(conf, "enable.idempotence", strcmp(options->idempotent, "1") == 0 ? "true" : "false");
    set(conf, "acks", "all");
    set(conf, "linger.ms", "5");
    set(conf, "partitioner", "murmur2_random");
    set(conf, "queue.buffering.max.messages", "2000");
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    rd_kafka_conf_set_opaque(conf, &delivered);
    rd_kafka_t *client = client_new(RD_KAFKA_PRODUCER, conf);
    size_t size_bytes;
    char *list = read_file(list_path, &size_bytes), *rest = list;
    for (char *line = strsep(&rest, "\n"); line != NULL && *line != 0; line = strsep(&rest, "\n")) {
        produce_line(options, client, topic, pack, line);
        sent++;
        rd_kafka_poll(client, 0);
    }
    if (rd_kafka_flush(client, NO_PROGRESS_MS) != 0) die(topic, "not all records delivered within 60 s");
    rd_kafka_destroy(client);
    free(list);
    if (delivered != sent) failures++;
    printf("{\"topic\":\"%s\",\"produced\":%" PRId64 "}\n", topic, delivered);
}

static void produce(const struct options *options) {
    size_t size_bytes;
    char *pack = read_file(options->pack, &size_bytes);
    char *jobs = read_file(options->jobs, &size_bytes), *rest = jobs;
    for (char *line = strsep(&rest, "\n"); line != NULL && *line != 0; line = strsep(&rest, "\n")) {
        const char *topic = strsep(&line, "\t"), *codec = strsep(&line, "\t");
        produce_list(options, topic, codec, line, pack);
    }
}

// ---- consume ----

static void hash_bytes(EVP_MD_CTX *context, const void *bytes, size_t size_bytes) {
    int64_t size = bytes == NULL ? -1 : (int64_t)size_bytes;
    unsigned char length[4] = {(unsigned char)(size >> 24), (unsigned char)(size >> 16), (unsigned char)(size >> 8),
                               (unsigned char)size};
    EVP_DigestUpdate(context, length, sizeof length);
    if (size > 0) EVP_DigestUpdate(context, bytes, size_bytes);
}

static void record_digest(const rd_kafka_message_t *message, char hex[65]) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    EVP_DigestInit_ex(context, EVP_sha256(), NULL);
    hash_bytes(context, message->key, message->key_len);
    rd_kafka_headers_t *headers = NULL;
    size_t count = rd_kafka_message_headers(message, &headers) == 0 ? rd_kafka_header_cnt(headers) : 0;
    unsigned char count_bytes[4] = {0, 0, (unsigned char)(count >> 8), (unsigned char)count};
    EVP_DigestUpdate(context, count_bytes, sizeof count_bytes);
    for (size_t i = 0; i < count; i++) {
        const char *name;
        const void *value;
        size_t size_bytes;
        rd_kafka_header_get_all(headers, i, &name, &value, &size_bytes);
        hash_bytes(context, name, strlen(name));
        hash_bytes(context, value, size_bytes);
    }
    hash_bytes(context, message->payload, message->len);
    unsigned char digest[32];
    EVP_DigestFinal_ex(context, digest, NULL);
    EVP_MD_CTX_free(context);
    for (int i = 0; i < 32; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

static void print_string(const char *bytes, size_t size_bytes) {
    putchar('"');
    for (size_t i = 0; i < size_bytes; i++) {
        if (bytes[i] == '"' || bytes[i] == '\\') putchar('\\');
        putchar(bytes[i]);
    }
    putchar('"');
}

static void print_record(const char *mode, const rd_kafka_message_t *message) {
    char hex[65];
    record_digest(message, hex);
    printf("{\"m\":\"%s\",\"t\":\"%s\",\"p\":%d,\"o\":%" PRId64 ",\"ts\":%" PRId64 ",\"h\":\"%s\",\"k\":", mode,
           rd_kafka_topic_name(message->rkt), message->partition, message->offset,
           rd_kafka_message_timestamp(message, NULL), hex);
    if (message->key == NULL) {
        fputs("null", stdout);
    } else {
        print_string(message->key, message->key_len);
    }
    puts("}");
}

// Every partition of the topics of the file, with its end offset.
static rd_kafka_topic_partition_list_t *partitions_with_end(rd_kafka_t *client, const char *topics_path) {
    size_t size_bytes;
    char *topics = read_file(topics_path, &size_bytes), *rest = topics;
    const struct rd_kafka_metadata *metadata;
    rd_kafka_resp_err_t error = rd_kafka_metadata(client, 1, NULL, &metadata, 10000);
    if (error != 0) die("metadata", rd_kafka_err2str(error));
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(16);
    for (char *topic = strsep(&rest, "\n"); topic != NULL && *topic != 0; topic = strsep(&rest, "\n")) {
        for (int t = 0; t < metadata->topic_cnt; t++) {
            if (strcmp(metadata->topics[t].topic, topic) != 0) continue;
            for (int p = 0; p < metadata->topics[t].partition_cnt; p++) {
                int64_t low, high;
                error = rd_kafka_query_watermark_offsets(client, topic, p, &low, &high, 10000);
                if (error != 0) die(topic, rd_kafka_err2str(error));
                rd_kafka_topic_partition_list_add(list, topic, p)->offset = high;
            }
        }
    }
    rd_kafka_metadata_destroy(metadata);
    free(topics);
    return list;
}

static rd_kafka_t *consumer_new(const struct options *options, const char *group, const char *commit) {
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "bootstrap.servers", options->broker);
    set(conf, "group.id", group);
    set(conf, "enable.auto.commit", commit);
    set(conf, "auto.offset.reset", "earliest");
    set(conf, "session.timeout.ms", options->session_timeout_ms);
    set(conf, "heartbeat.interval.ms", "500");
    set(conf, "fetch.wait.max.ms", "100");
    set(conf, "partition.assignment.strategy", options->assignor);
    if (options->instance_id != NULL) set(conf, "group.instance.id", options->instance_id);
    rd_kafka_t *client = client_new(RD_KAFKA_CONSUMER, conf);
    rd_kafka_poll_set_consumer(client);
    return client;
}

static void print_committed(rd_kafka_t *client, rd_kafka_topic_partition_list_t *ends) {
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_copy(ends);
    rd_kafka_resp_err_t error = rd_kafka_committed(client, list, 10000);
    if (error != 0) die("committed", rd_kafka_err2str(error));
    fputs("{\"committed\":[", stdout);
    for (int i = 0; i < list->cnt; i++) {
        printf("%s[\"%s\",%d,%" PRId64 "]", i == 0 ? "" : ",", list->elems[i].topic, list->elems[i].partition,
               list->elems[i].offset);
    }
    puts("]}");
    rd_kafka_topic_partition_list_destroy(list);
}

// Reads until every partition of `ends` has given its last record.
static void read_to_end(rd_kafka_t *client, const char *mode, rd_kafka_topic_partition_list_t *ends) {
    int open = 0;
    int64_t last_progress_ns = wall_ns();
    for (int i = 0; i < ends->cnt; i++)
        open += ends->elems[i].offset > 0;
    while (open > 0) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(client, 200);
        if (message != NULL && message->err == 0) {
            print_record(mode, message);
            last_progress_ns = wall_ns();
            const char *topic = rd_kafka_topic_name(message->rkt);
            open -= rd_kafka_topic_partition_list_find(ends, topic, message->partition)->offset == message->offset + 1;
        } else if (message != NULL && message->err != RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            fprintf(stderr, "client.c: consume: %s\n", rd_kafka_message_errstr(message));
            failures++;
        }
        if (message != NULL) rd_kafka_message_destroy(message);
        if (wall_ns() - last_progress_ns > (int64_t)NO_PROGRESS_MS * 1000000) {
            fprintf(stderr, "client.c: %s: no progress for 60 s, %d partitions not at their end\n", mode, open);
            fflush(stdout);
            exit(3);
        }
    }
}

static void consume(const struct options *options) {
    bool by_group = strcmp(options->mode, "group") == 0;
    rd_kafka_t *client = consumer_new(options, by_group ? options->group : "unused", "false");
    rd_kafka_topic_partition_list_t *ends = partitions_with_end(client, options->topics);
    rd_kafka_topic_partition_list_t *start = rd_kafka_topic_partition_list_new(ends->cnt);
    for (int i = 0; i < ends->cnt; i++) {
        if (by_group) {
            if (ends->elems[i].partition == 0)
                rd_kafka_topic_partition_list_add(start, ends->elems[i].topic, RD_KAFKA_PARTITION_UA);
        } else {
            rd_kafka_topic_partition_list_add(start, ends->elems[i].topic, ends->elems[i].partition)->offset =
                RD_KAFKA_OFFSET_BEGINNING;
        }
    }
    rd_kafka_resp_err_t error = by_group ? rd_kafka_subscribe(client, start) : rd_kafka_assign(client, start);
    if (error != 0) die("subscribe or assign", rd_kafka_err2str(error));
    read_to_end(client, options->mode, ends);
    if (by_group) {
        error = rd_kafka_commit(client, NULL, 0);
        if (error != 0) die("commit", rd_kafka_err2str(error));
        print_committed(client, ends);
    }
    error = rd_kafka_consumer_close(client);
    if (error != 0) die("close", rd_kafka_err2str(error));
    rd_kafka_topic_partition_list_destroy(start);
    rd_kafka_topic_partition_list_destroy(ends);
    rd_kafka_destroy(client);
}

// ---- member ----

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
    if (!stop_asked && !rd_kafka_assignment_lost(client)) commit_position(client);
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
    while (!stop_asked) {
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

static void member(const struct options *options) {
    signal(SIGTERM, on_sigterm);
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

// ---- feed ----

static void on_fed(rd_kafka_t *client, const rd_kafka_message_t *message, void *opaque) {
    (void)client;
    (void)opaque;
    if (message->err != 0) {
        fprintf(stderr, "client.c: feed: %s\n", rd_kafka_err2str(message->err));
        failures++;
        return;
    }
    printf("{\"e\":\"acked\",\"at\":%" PRId64 ",\"p\":%d,\"o\":%" PRId64 ",\"v\":", wall_ns(), message->partition,
           message->offset);
    print_string(message->payload, message->len);
    puts("}");
}

// Sends numbered records, one partition after the other, until SIGTERM; prints a line for each acknowledged one.
static void feed(const struct options *options) {
    enum { PARTITIONS = 12, TICK_MS = 10 };
    signal(SIGTERM, on_sigterm);
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "bootstrap.servers", options->broker);
    set(conf, "enable.idempotence", "true");
    set(conf, "linger.ms", "2");
    rd_kafka_conf_set_dr_msg_cb(conf, on_fed);
    rd_kafka_t *client = client_new(RD_KAFKA_PRODUCER, conf);
    int64_t began_ns = wall_ns(), sent = 0, rate_per_s = strtoll(options->rate_per_s, NULL, 10);
    while (!stop_asked) {
        for (int64_t due = (wall_ns() - began_ns) * rate_per_s / 1000000000; sent < due; sent++) {
            char value[32];
            int size_bytes = snprintf(value, sizeof value, "%" PRId64, sent);
            void *payload = value;
            rd_kafka_resp_err_t error = rd_kafka_producev(client, RD_KAFKA_V_TOPIC(options->topics),
                                                          RD_KAFKA_V_PARTITION((int32_t)(sent % PARTITIONS)),
                                                          RD_KAFKA_V_VALUE(payload, (size_t)size_bytes),
                                                          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
            if (error != 0) die("feed", rd_kafka_err2str(error));
        }
        rd_kafka_poll(client, TICK_MS);
        fflush(stdout);
    }
    if (rd_kafka_flush(client, NO_PROGRESS_MS) != 0) die("feed", "not all records delivered within 60 s");
    rd_kafka_destroy(client);
}

int main(int argc, char **argv) {
    if (argc < 2) die("usage", "produce | consume | member | feed OPTIONS");
    struct options options = parse_options(argc, argv);
    if (strcmp(argv[1], "produce") == 0) {
        produce(&options);
    } else if (strcmp(argv[1], "consume") == 0) {
        consume(&options);
    } else if (strcmp(argv[1], "member") == 0) {
        member(&options);
    } else if (strcmp(argv[1], "feed") == 0) {
        feed(&options);
    } else {
        die("unknown command", argv[1]);
    }
    return failures == 0 ? 0 : 1;
}
