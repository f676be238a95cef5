// SPDX-License-Identifier: Apache-2.0
// tailrace perf e2e: Kafka's EndToEndLatency on librdkafka.
//
// As Kafka's: one record at a time is sent, acknowledged and received again. With --rate the loop is open: a second
// thread receives, and a record's latency begins when it should have been sent; the instant and a number travel at the
// front of the record. Failure modes: a record that is not acknowledged, does not come back within its time, or is not
// the one that was sent, ends the run.
#include "base/assert.h"
#include "base/bits.h"
#include "base/text.h"
#include "cli/perf.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { POLL_TIMEOUT_MS = 60000, STAMP_BYTES = 16, SIZE_MAX_BYTES = 1 << 28 };

static int help(void) {
    printf(
        "usage: tailrace perf e2e [--rate N] [--json] BROKER_LIST TOPIC NUM_MESSAGES ACKS SIZE_BYTES "
        "[PROPERTIES_FILE]\n\n"
        "Sends records and measures how long each takes to arrive at a consumer.\n\n"
        "  BROKER_LIST       HOST:PORT,...\n"
        "  TOPIC             is created with one partition if it is missing\n"
        "  ACKS              1 or all\n"
        "  PROPERTIES_FILE   properties of the Java clients or of librdkafka\n"
        "  --rate N          open loop: N records a second (of at least 16 bytes) whatever the broker does; latencies "
        "count from\n"
        "                    the instant at which a record should have been sent. Default: one at a time\n"
        "  --json            the result as JSON\n\n"
        "example: tailrace perf e2e localhost:9092 test 10000 all 100\n");
    return cli_finish_output("tailrace perf") ? CLI_OK : CLI_FAILED;
}

struct e2e {
    const char *command;
    const char *words[6]; // BROKER_LIST ... PROPERTIES_FILE
    int words_count;
    int64_t messages, size_bytes, rate;
    bool json;
    // the run
    struct perf_client_state producer_state, consumer_state;
    rd_kafka_t *producer, *consumer;
    rd_kafka_topic_t *topic;
    char *value;
    bool acknowledged; // of the one record in flight
    rd_kafka_resp_err_t error;
    atomic_bool stop;
    // the receiver's
    struct histogram *latency, *second;
    struct perf_progress progress;
    uint64_t received;
};

static int read_option(struct e2e *e, struct cli_arguments *a) {
    static const char *const options[] = {"--rate", "--json", "--help", NULL};
    if (cli_is(a, "--rate")) return perf_number(a, 1, 100000000, &e->rate) ? CLI_OK : CLI_USAGE;
    if (cli_is(a, "--json")) {
        e->json = true;
        return CLI_OK;
    }
    if (a->name || e->words_count == ARRAY_LENGTH(e->words)) return cli_unknown(a, options);
    e->words[e->words_count++] = a->value;
    return CLI_OK;
}

static int check(struct e2e *e) {
    if (e->words_count < 5)
        return cli_usage_error(e->command, "BROKER_LIST TOPIC NUM_MESSAGES ACKS SIZE_BYTES are needed");
    if (!parse_i64(str_of(e->words[2]), 1, 1000000000, &e->messages))
        return cli_usage_error(e->command, "NUM_MESSAGES: '%s' is not a number from 1 to 1000000000", e->words[2]);
    if (strcmp(e->words[3], "1") != 0 && strcmp(e->words[3], "all") != 0)
        return cli_usage_error(e->command,
                               "ACKS: '%s': Latency testing requires synchronous acknowledgement. Please use 1 or all",
                               e->words[3]);
    int64_t least = e->rate ? STAMP_BYTES : 1;
    if (!parse_i64(str_of(e->words[4]), least, SIZE_MAX_BYTES, &e->size_bytes))
        return cli_usage_error(e->command, "SIZE_BYTES: '%s' is not a number from %lld to %d", e->words[4],
                               (long long)least, SIZE_MAX_BYTES);
    return CLI_OK;
}

// One record at a time: the report of the record in flight.
static void on_report(rd_kafka_t *client, const rd_kafka_message_t *message, void *opaque) {
    struct perf_client_state *state = opaque;
    struct e2e *e = state->context;
    (void)client;
    e->acknowledged = true;
    if (message->err) e->error = message->err;
}

static int configure(struct e2e *e, enum perf_role role, rd_kafka_conf_t *conf) {
    static const char *const producer[][2] = {{"linger.ms", "0"}, {"retries", "0"}};
    static const char *const consumer[][2] = {
        {"enable.auto.commit", "false"}, {"auto.offset.reset", "latest"}, {"fetch.wait.max.ms", "0"}};
    char group[48];
    snprintf(group, sizeof group, "perf-e2e-%llu", (unsigned long long)perf_wall_ms());
    int status = CLI_OK;
    if (e->words_count > 5) status = perf_set_file(conf, role, e->command, e->words[5]);
    if (status == CLI_OK) status = perf_set(conf, role, e->command, "bootstrap.servers", e->words[0]);
    if (status == CLI_OK) status = perf_set(conf, role, e->command, "socket.nagle.disable", "true");
    if (role == PERF_PRODUCER && status == CLI_OK) status = perf_set(conf, role, e->command, "acks", e->words[3]);
    if (role == PERF_CONSUMER && status == CLI_OK) status = perf_set(conf, role, e->command, "group.id", group);
    size_t count = role == PERF_PRODUCER ? ARRAY_LENGTH(producer) : ARRAY_LENGTH(consumer);
    for (size_t i = 0; i < count && status == CLI_OK; i++) {
        const char *const *pair = role == PERF_PRODUCER ? producer[i] : consumer[i];
        status = perf_set(conf, role, e->command, pair[0], pair[1]);
    }
    return status;
}

static rd_kafka_t *make_client(struct e2e *e, enum perf_role role, int *status) {
    struct perf_client_state *state = role == PERF_PRODUCER ? &e->producer_state : &e->consumer_state;
    *state = (struct perf_client_state){.command = e->command, .context = e};
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    *status = configure(e, role, conf);
    if (*status != CLI_OK) {
        rd_kafka_conf_destroy(conf);
        return NULL;
    }
    perf_callbacks(conf, state);
    if (role == PERF_PRODUCER) rd_kafka_conf_set_dr_msg_cb(conf, on_report);
    rd_kafka_t *client = perf_client(conf, role, e->command);
    *status = client ? CLI_OK : CLI_FAILED;
    return client;
}

// The topic with one partition and one replica, as Kafka's tool makes it. One that is there already stays.
static bool create_topic(struct e2e *e) {
    char reason[256];
    rd_kafka_NewTopic_t *topic = rd_kafka_NewTopic_new(e->words[1], 1, 1, reason, sizeof reason);
    if (!topic) {
        fprintf(stderr, "tailrace %s: %s\n", e->command, reason);
        return false;
    }
    rd_kafka_queue_t *queue = rd_kafka_queue_new(e->producer);
    rd_kafka_CreateTopics(e->producer, &topic, 1, NULL, queue);
    rd_kafka_event_t *event = NULL;
    for (int waited_ms = 0; !event && waited_ms < 30000; waited_ms += PERF_TALK_MS) {
        event = rd_kafka_queue_poll(queue, PERF_TALK_MS);
        rd_kafka_poll(e->producer, 0); // the error callback says why it takes so long
    }
    rd_kafka_resp_err_t error = event ? rd_kafka_event_error(event) : RD_KAFKA_RESP_ERR__TIMED_OUT;
    if (!error) {
        size_t count;
        const rd_kafka_topic_result_t **results =
            rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);
        ASSERT(count == 1);
        error = rd_kafka_topic_result_error(results[0]);
    }
    if (!error)
        fprintf(stderr,
                "Topic \"%s\" does not exist. Will create topic with 1 partition(s) and replication factor = 1\n",
                e->words[1]);
    if (event) rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    rd_kafka_NewTopic_destroy(topic);
    if (error && error != RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) {
        fprintf(stderr, "tailrace %s: Creation of topic %s failed: %s\n", e->command, e->words[1],
                rd_kafka_err2str(error));
        return false;
    }
    return true;
}

// The consumer at the end of every partition.
static bool assign_all(struct e2e *e) {
    const struct rd_kafka_metadata *metadata = perf_topic(e->consumer, e->command, e->words[1], 15000);
    if (!metadata) return false;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(metadata->topics[0].partition_cnt);
    rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
    for (int i = 0; i < metadata->topics[0].partition_cnt && !error; i++) {
        int32_t partition = metadata->topics[0].partitions[i].id;
        int64_t low, high;
        error = rd_kafka_query_watermark_offsets(e->consumer, e->words[1], partition, &low, &high, 15000);
        if (!error) rd_kafka_topic_partition_list_add(list, e->words[1], partition)->offset = high;
    }
    if (!error) error = rd_kafka_assign(e->consumer, list);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_metadata_destroy(metadata);
    if (error) fprintf(stderr, "tailrace %s: %s\n", e->command, rd_kafka_err2str(error));
    return !error;
}

static bool produce(struct e2e *e) {
    while (rd_kafka_produce(e->topic, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY, e->value, (size_t)e->size_bytes, NULL,
                            0, NULL) != 0) {
        rd_kafka_resp_err_t error = rd_kafka_last_error();
        if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL) {
            e->error = error;
            return false;
        }
        rd_kafka_poll(e->producer, 1);
    }
    return true;
}

// What has been received; NULL, and said so, if it was not in time or not what was expected.
static rd_kafka_message_t *receive(struct e2e *e) {
    uint64_t end_ns = perf_now_ns() + POLL_TIMEOUT_MS * 1000000ULL;
    while (perf_now_ns() < end_ns && !atomic_load(&e->stop)) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(e->consumer, 100);
        if (!message) continue;
        if (!message->err && message->len == (size_t)e->size_bytes) return message;
        const char *what = message->err ? rd_kafka_message_errstr(message) : "a record that this run did not send";
        fprintf(stderr, "tailrace %s: received: %s\n", e->command, what);
        rd_kafka_message_destroy(message);
        return NULL;
    }
    if (!atomic_load(&e->stop))
        fprintf(stderr, "tailrace %s: poll() timed out before finding a result (timeout:[%d])\n", e->command,
                POLL_TIMEOUT_MS);
    return NULL;
}

static void count_one(struct e2e *e, uint64_t begin_ns) {
    uint64_t now_ns = perf_now_ns(), latency_ns = now_ns > begin_ns ? now_ns - begin_ns : 0;
    histogram_record(e->latency, latency_ns);
    histogram_record(e->second, latency_ns);
    if (!e->json && !e->progress.is_terminal && !e->rate && e->received % 1000 == 0)
        printf("%llu\t%g\n", (unsigned long long)e->received, perf_ms(latency_ns));
    e->received++;
    bool second_is_over = now_ns >= e->progress.next_ns;
    perf_progress_show(&e->progress, now_ns, e->received, e->received * (uint64_t)e->size_bytes, (uint64_t)e->messages,
                       e->second);
    if (second_is_over) histogram_clear(e->second);
}

static bool one_at_a_time(struct e2e *e) {
    for (int64_t i = 0; i < e->messages; i++) {
        memset(e->value, 'A' + (int)((i * 7 + i / 26) % 26), (size_t)e->size_bytes);
        uint64_t begin_ns = perf_now_ns();
        e->acknowledged = false;
        if (!produce(e)) return false;
        while (!e->acknowledged && !atomic_load(&e->producer_state.failed)) {
            rd_kafka_poll(e->producer, 1000);
        }
        if (e->error || atomic_load(&e->producer_state.failed)) return false;
        rd_kafka_message_t *message = receive(e);
        if (!message) return false;
        bool same = memcmp(message->payload, e->value, (size_t)e->size_bytes) == 0;
        rd_kafka_message_destroy(message);
        if (!same) {
            fprintf(stderr, "tailrace %s: the record that was read is not the one that was sent\n", e->command);
            return false;
        }
        count_one(e, begin_ns);
    }
    return true;
}

static void *receive_all(void *argument) {
    struct e2e *e = argument;
    while (e->received < (uint64_t)e->messages) {
        rd_kafka_message_t *message = receive(e);
        if (!message) return NULL;
        count_one(e, load_be64(message->payload));
        rd_kafka_message_destroy(message);
    }
    return NULL;
}

static bool open_loop(struct e2e *e) {
    pthread_t thread;
    uint64_t begin_ns = perf_now_ns();
    if (pthread_create(&thread, NULL, receive_all, e) != 0) return false;
    bool ok = true;
    for (int64_t i = 0; i < e->messages && ok; i++) {
        uint64_t due_ns = begin_ns + (uint64_t)((double)i * 1e9 / (double)e->rate);
        if (perf_now_ns() < due_ns) perf_sleep_until(due_ns);
        store_be64(e->value, due_ns);
        store_be64(e->value + 8, (uint64_t)i);
        ok = produce(e) && !e->error && !atomic_load(&e->producer_state.failed);
        rd_kafka_poll(e->producer, 0);
    }
    if (ok) rd_kafka_flush(e->producer, POLL_TIMEOUT_MS);
    if (!ok || e->error) atomic_store(&e->stop, true);
    pthread_join(thread, NULL);
    return ok && !e->error && e->received == (uint64_t)e->messages;
}

static void print_result(const struct e2e *e) {
    const struct histogram *h = e->latency;
    if (e->json) {
        printf("{\"tool\": \"e2e\", \"records\": %llu, \"open_loop\": %s, ", (unsigned long long)h->count,
               e->rate ? "true" : "false");
        perf_json_latency("latency_ms", h);
        printf("}\n");
        return;
    }
    printf("Avg latency: %.4f ms\n", histogram_mean(h) / 1e6);
    printf("Percentiles: 50th = %.0f, 99th = %.0f, 99.9th = %.0f\n", perf_ms(histogram_percentile(h, 50)),
           perf_ms(histogram_percentile(h, 99)), perf_ms(histogram_percentile(h, 99.9)));
    printf("to the microsecond: p50 %.3f ms, p99 %.3f ms, p99.9 %.3f ms, max %.3f ms\n",
           perf_ms(histogram_percentile(h, 50)), perf_ms(histogram_percentile(h, 99)),
           perf_ms(histogram_percentile(h, 99.9)), perf_ms(h->max));
}

static int measure(struct e2e *e) {
    if (!create_topic(e) || !assign_all(e)) return CLI_FAILED;
    e->topic = rd_kafka_topic_new(e->producer, e->words[1], NULL);
    if (!e->topic) return CLI_FAILED;
    perf_progress_begin(&e->progress);
    bool ok = e->rate ? open_loop(e) : one_at_a_time(e);
    perf_progress_end(&e->progress);
    if (e->error) fprintf(stderr, "tailrace %s: %s\n", e->command, rd_kafka_err2str(e->error));
    if (ok) print_result(e);
    rd_kafka_topic_destroy(e->topic);
    return ok ? CLI_OK : CLI_FAILED;
}

static int run(struct e2e *e) {
    int status;
    struct histogram *histograms = calloc(2, sizeof *histograms);
    e->value = calloc(1, (size_t)e->size_bytes);
    if (!histograms || !e->value) {
        fprintf(stderr, "tailrace %s: no memory\n", e->command);
        free(histograms);
        free(e->value);
        return CLI_FAILED;
    }
    e->latency = &histograms[0];
    e->second = &histograms[1];
    e->producer = make_client(e, PERF_PRODUCER, &status);
    if (e->producer) e->consumer = make_client(e, PERF_CONSUMER, &status);
    if (e->consumer) {
        rd_kafka_poll_set_consumer(e->consumer);
        status = measure(e);
        rd_kafka_consumer_close(e->consumer);
        rd_kafka_destroy(e->consumer);
    }
    if (e->producer) rd_kafka_purge(e->producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    if (e->producer) rd_kafka_destroy(e->producer);
    free(histograms);
    free(e->value);
    return status;
}

int perf_e2e(int argc, char **argv) {
    struct e2e e = {.command = argv[0]};
    struct cli_arguments a;
    cli_arguments_init(&a, argc, argv);
    while (cli_next(&a)) {
        if (cli_is(&a, "--help") || cli_is(&a, "-h")) return help();
        int status = read_option(&e, &a);
        if (status != CLI_OK) return status;
    }
    int status = check(&e);
    if (status == CLI_OK) status = run(&e);
    return cli_finish_output("tailrace perf") ? status : CLI_FAILED;
}
