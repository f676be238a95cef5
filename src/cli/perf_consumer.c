// SPDX-License-Identifier: Apache-2.0
// tailrace perf consumer: Kafka's ConsumerPerformance on librdkafka.
//
// Joins a group (or, with --no-group, takes all partitions), reads records until the wanted number has come, and tells
// how long the first assignment took and how fast the rest was. Failure modes: nothing comes for --timeout
// milliseconds: a warning, and what there is so far; a fatal error of the client.
#include "base/assert.h"
#include "base/bits.h"
#include "cli/perf.h"
#include "cli/perf_date.h"
#include <stdio.h>

#define CLOSE_NS 5000000000ULL

static int help(void) {
    printf("usage: tailrace perf consumer --bootstrap-server HOST:PORT --topic TOPIC --messages N [options]\n\n"
           "Reads records and measures throughput.\n\n"
           "  --bootstrap-server HOST:PORT  where the broker is (or --broker-list)\n"
           "  --topic TOPIC\n"
           "  --messages N                  how many\n"
           "  --group ID                    the group; default perf-consumer-<number>\n"
           "  --no-group                    no group: all partitions of the topic\n"
           "  --from-latest                 begin at the end where the group has no offset; default: at the start\n"
           "  --fetch-size BYTES            at most that of a partition in a request; default 1048576\n"
           "  --socket-buffer-size BYTES    of the socket; default 2097152\n"
           "  --timeout MS                  give up when nothing came for so long; default 10000\n"
           "  --reporting-interval MS       between the lines of --show-detailed-stats; default 5000\n"
           "  --show-detailed-stats         a line for each interval\n"
           "  --hide-header                 no line of column names\n"
           "  --date-format PATTERN         default yyyy-MM-dd HH:mm:ss:SSS\n"
           "  --consumer.config FILE        properties of the Java consumer or of librdkafka\n"
           "  --consumer-props KEY=VALUE... the same here\n"
           "  --print-metrics               librdkafka's statistics at the end\n"
           "  --json                        the result as JSON\n"
           "  --threads, --num-fetch-threads are accepted and have no effect, as in Kafka\n\n"
           "example: tailrace perf consumer --bootstrap-server localhost:9092 --topic test --messages 100000\n");
    return cli_finish_output("tailrace perf") ? CLI_OK : CLI_FAILED;
}

struct consumer {
    const char *command, *topic, *group, *date_format;
    int64_t messages, fetch_size_bytes, socket_buffer_bytes, timeout_ms, interval_ms, ignored;
    bool no_group, from_latest, detailed, hide_header, print_metrics, json;
    // the run
    struct perf_client_state client_state;
    rd_kafka_t *client;
    uint64_t records, bytes;
    uint64_t begin_ns, begin_cpu_ns, end_ns, begin_wall_ms;
    uint64_t join_begin_ns, joined_ns, window_joined_ns; // joining since; all the time that it took
    uint64_t window_begin_ns, window_records, window_bytes;
    struct perf_progress progress;
};

static int read_properties(rd_kafka_conf_t *conf, struct cli_arguments *a) {
    const char *pair = cli_value(a);
    int status = pair ? perf_set_pair(conf, PERF_CONSUMER, a->argv[0], pair) : CLI_USAGE;
    while (status == CLI_OK && a->next < a->argc && a->argv[a->next][0] != '-') {
        status = perf_set_pair(conf, PERF_CONSUMER, a->argv[0], a->argv[a->next++]);
    }
    return status;
}

// Options with a text, a number or nothing behind them, as tables; the rest in read_option.
static int read_simple(struct consumer *c, struct cli_arguments *a, bool *taken) {
    const struct {
        const char *name;
        const char **value;
    } texts[] = {{"--topic", &c->topic}, {"--group", &c->group}, {"--date-format", &c->date_format}};
    const struct {
        const char *name;
        int64_t *value, min, max;
    } numbers[] = {{"--messages", &c->messages, 1, INT64_C(1) << 48},
                   {"--fetch-size", &c->fetch_size_bytes, 1, 1000000000},
                   {"--socket-buffer-size", &c->socket_buffer_bytes, 0, 100000000},
                   {"--timeout", &c->timeout_ms, 1, INT32_MAX},
                   {"--reporting-interval", &c->interval_ms, 1, INT32_MAX},
                   {"--threads", &c->ignored, 1, INT32_MAX},
                   {"--num-fetch-threads", &c->ignored, 1, INT32_MAX}};
    const struct {
        const char *name;
        bool *value;
    } flags[] = {{"--no-group", &c->no_group},
                 {"--from-latest", &c->from_latest},
                 {"--show-detailed-stats", &c->detailed},
                 {"--hide-header", &c->hide_header},
                 {"--print-metrics", &c->print_metrics},
                 {"--json", &c->json}};
    *taken = true;
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
        if (!cli_is(a, texts[i].name)) continue;
        *texts[i].value = cli_value(a);
        return *texts[i].value ? CLI_OK : CLI_USAGE;
    }
    for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++) {
        if (cli_is(a, numbers[i].name))
            return perf_number(a, numbers[i].min, numbers[i].max, numbers[i].value) ? CLI_OK : CLI_USAGE;
    }
    for (size_t i = 0; i < ARRAY_LENGTH(flags); i++) {
        if (!cli_is(a, flags[i].name)) continue;
        *flags[i].value = true;
        return CLI_OK;
    }
    *taken = false;
    return CLI_OK;
}

static int read_option(struct consumer *c, rd_kafka_conf_t *conf, struct cli_arguments *a) {
    static const char *const options[] = {"--bootstrap-server",
                                          "--broker-list",
                                          "--topic",
                                          "--messages",
                                          "--group",
                                          "--no-group",
                                          "--from-latest",
                                          "--fetch-size",
                                          "--socket-buffer-size",
                                          "--timeout",
                                          "--reporting-interval",
                                          "--show-detailed-stats",
                                          "--hide-header",
                                          "--date-format",
                                          "--consumer.config",
                                          "--consumer-props",
                                          "--print-metrics",
                                          "--json",
                                          "--threads",
                                          "--num-fetch-threads",
                                          "--help",
                                          NULL};
    bool taken;
    int status = read_simple(c, a, &taken);
    if (taken) return status;
    if (cli_is(a, "--bootstrap-server") || cli_is(a, "--broker-list")) {
        const char *value = cli_value(a);
        return value ? perf_set(conf, PERF_CONSUMER, c->command, "bootstrap.servers", value) : CLI_USAGE;
    }
    if (cli_is(a, "--consumer.config")) {
        const char *value = cli_value(a);
        return value ? perf_set_file(conf, PERF_CONSUMER, c->command, value) : CLI_USAGE;
    }
    if (cli_is(a, "--consumer-props")) return read_properties(conf, a);
    return cli_unknown(a, options);
}

static int check(const struct consumer *c, const rd_kafka_conf_t *conf) {
    char date[64];
    struct text out = TEXT_IN(date);
    if (!c->topic) return cli_usage_error(c->command, "--topic is needed");
    if (c->messages == 0) return cli_usage_error(c->command, "--messages is needed");
    if (c->group && c->no_group) return cli_usage_error(c->command, "--group and --no-group exclude each other");
    if (!perf_date_add(&out, c->date_format, 0) || out.truncated)
        return cli_usage_error(c->command, "--date-format '%s': y M d H h m s S a and quoted text are allowed",
                               c->date_format);
    if (!perf_has_servers(conf)) return cli_usage_error(c->command, "--bootstrap-server is needed");
    return CLI_OK;
}

// The options into the configuration. What --consumer.config says of the same is overruled, as in Kafka.
static void configure(struct consumer *c, rd_kafka_conf_t *conf) {
    char reason[256], fetch[24], buffer[24], group[48];
    snprintf(fetch, sizeof fetch, "%lld", (long long)c->fetch_size_bytes);
    snprintf(buffer, sizeof buffer, "%lld", (long long)c->socket_buffer_bytes);
    snprintf(group, sizeof group, "perf-consumer-%llu", (unsigned long long)(perf_now_ns() / 1000 % 100000));
    const char *const settings[][2] = {{"max.partition.fetch.bytes", fetch},
                                       {"socket.receive.buffer.bytes", buffer},
                                       {"group.id", c->group ? c->group : group},
                                       {"auto.offset.reset", c->from_latest ? "latest" : "earliest"}};
    for (size_t i = 0; i < ARRAY_LENGTH(settings); i++) {
        rd_kafka_conf_res_t result = rd_kafka_conf_set(conf, settings[i][0], settings[i][1], reason, sizeof reason);
        ASSERT(result == RD_KAFKA_CONF_OK);
    }
    // Without a group there is none whose offsets could be committed.
    if (c->no_group) rd_kafka_conf_set(conf, "enable.auto.commit", "false", reason, sizeof reason);
    c->client_state =
        (struct perf_client_state){.command = c->command, .wants_metrics = c->print_metrics, .context = c};
    perf_callbacks(conf, &c->client_state);
}

static void on_rebalance(rd_kafka_t *client, rd_kafka_resp_err_t what, rd_kafka_topic_partition_list_t *partitions,
                         void *opaque) {
    struct perf_client_state *state = opaque;
    struct consumer *c = state->context;
    bool cooperative = strcmp(rd_kafka_rebalance_protocol(client), "COOPERATIVE") == 0;
    uint64_t now_ns = perf_now_ns();
    if (what == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
        if (c->join_begin_ns) c->joined_ns += now_ns - c->join_begin_ns;
        if (c->join_begin_ns) c->window_joined_ns += now_ns - c->join_begin_ns;
        c->join_begin_ns = 0;
        if (cooperative) {
            rd_kafka_error_t *error = rd_kafka_incremental_assign(client, partitions);
            if (error) rd_kafka_error_destroy(error);
        } else {
            rd_kafka_assign(client, partitions);
        }
        return;
    }
    c->join_begin_ns = now_ns;
    if (cooperative) {
        rd_kafka_error_t *error = rd_kafka_incremental_unassign(client, partitions);
        if (error) rd_kafka_error_destroy(error);
    } else {
        rd_kafka_assign(client, NULL);
    }
}

static bool begin_reading(struct consumer *c) {
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
    bool ok = true;
    if (c->no_group) {
        const struct rd_kafka_metadata *metadata = perf_topic(c->client, c->command, c->topic, 15000);
        for (int i = 0; metadata && i < metadata->topics[0].partition_cnt; i++) {
            int64_t offset = c->from_latest ? RD_KAFKA_OFFSET_END : RD_KAFKA_OFFSET_BEGINNING;
            rd_kafka_topic_partition_list_add(list, c->topic, metadata->topics[0].partitions[i].id)->offset = offset;
        }
        ok = metadata != NULL;
        if (ok) rd_kafka_metadata_destroy(metadata);
        if (ok) error = rd_kafka_assign(c->client, list);
    } else {
        rd_kafka_topic_partition_list_add(list, c->topic, RD_KAFKA_PARTITION_UA);
        error = rd_kafka_subscribe(c->client, list);
        c->join_begin_ns = perf_now_ns();
    }
    rd_kafka_topic_partition_list_destroy(list);
    if (error) fprintf(stderr, "tailrace %s: %s\n", c->command, rd_kafka_err2str(error));
    return ok && !error;
}

static void print_date(const struct consumer *c, uint64_t wall_ms) {
    char date[64];
    struct text out = TEXT_IN(date);
    perf_date_add(&out, c->date_format, (int64_t)wall_ms);
    printf("%s, ", date);
}

// The columns of Kafka's tool from data.consumed.in.MB on.
static void print_columns(uint64_t all_bytes, uint64_t bytes, uint64_t all_records, uint64_t records,
                          uint64_t elapsed_ns, uint64_t joined_ns) {
    double seconds = (double)elapsed_ns / 1e9;
    double fetch_seconds = (double)(elapsed_ns > joined_ns ? elapsed_ns - joined_ns : 0) / 1e9;
    if (seconds <= 0) seconds = 1e-9;
    if (fetch_seconds <= 0) fetch_seconds = 1e-9;
    double mb = (double)bytes / 1048576;
    printf("%.4f, %.4f, %llu, %.4f, %.0f, %.0f, %.4f, %.4f\n", (double)all_bytes / 1048576, mb / seconds,
           (unsigned long long)all_records, (double)records / seconds, (double)joined_ns / 1e6, fetch_seconds * 1e3,
           mb / fetch_seconds, (double)records / fetch_seconds);
}

static void print_header(const struct consumer *c) {
    if (c->hide_header || c->json) return;
    printf("%s, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, rebalance.time.ms, fetch.time.ms, "
           "fetch.MB.sec, fetch.nMsg.sec\n",
           c->detailed ? "time, threadId" : "start.time, end.time");
}

static void show(struct consumer *c, uint64_t now_ns) {
    perf_progress_show(&c->progress, now_ns, c->records, c->bytes, (uint64_t)c->messages, NULL);
    if (now_ns - c->window_begin_ns < (uint64_t)c->interval_ms * 1000000) return;
    if (c->detailed && !c->json) {
        perf_progress_end(&c->progress);
        print_date(c, perf_wall_ms());
        printf("0, ");
        print_columns(c->bytes, c->bytes - c->window_bytes, c->records, c->records - c->window_records,
                      now_ns - c->window_begin_ns, c->window_joined_ns);
        fflush(stdout);
    }
    c->window_begin_ns = now_ns;
    c->window_records = c->records;
    c->window_bytes = c->bytes;
    c->window_joined_ns = 0;
}

// Counts a batch. Its messages are destroyed.
static size_t take(struct consumer *c, rd_kafka_message_t **messages, size_t count) {
    size_t records = 0;
    for (size_t i = 0; i < count; i++) {
        if (messages[i]->err) {
            fprintf(stderr, "tailrace %s: %s\n", c->command, rd_kafka_message_errstr(messages[i]));
        } else {
            records++;
            c->bytes += messages[i]->len + messages[i]->key_len;
        }
        rd_kafka_message_destroy(messages[i]);
    }
    c->records += records;
    return records;
}

// False: nothing came for too long, or the client is at its end.
static bool read_all(struct consumer *c, rd_kafka_queue_t *queue) {
    enum { BATCH = 1000 };
    rd_kafka_message_t *messages[BATCH];
    uint64_t last_ns = perf_now_ns();
    while (c->records < (uint64_t)c->messages) {
        ssize_t count = rd_kafka_consume_batch_queue(queue, 100, messages, BATCH);
        uint64_t now_ns = perf_now_ns();
        if (count > 0 && take(c, messages, (size_t)count) > 0) c->end_ns = last_ns = now_ns;
        show(c, now_ns);
        if (atomic_load(&c->client_state.failed)) return false;
        if (now_ns - last_ns < (uint64_t)c->timeout_ms * 1000000) continue;
        perf_progress_end(&c->progress);
        fprintf(
            stderr,
            "WARNING: Exiting before consuming the expected number of messages: timeout (%lld ms) exceeded. You can "
            "use the --timeout option to increase the timeout.\n",
            (long long)c->timeout_ms);
        return false;
    }
    return true;
}

static void print_result(struct consumer *c) {
    uint64_t elapsed_ns = c->end_ns > c->begin_ns ? c->end_ns - c->begin_ns : 1;
    if (c->json) {
        uint64_t fetch_ns = elapsed_ns > c->joined_ns ? elapsed_ns - c->joined_ns : 1;
        printf("{\"tool\": \"consumer\", \"records\": %llu, \"bytes\": %llu, \"seconds\": %.6f, \"rebalance_seconds\": "
               "%.6f, "
               "\"records_per_second\": %.3f, \"mb_per_second\": %.3f, \"client_cpu_seconds\": %.3f}\n",
               (unsigned long long)c->records, (unsigned long long)c->bytes, (double)elapsed_ns / 1e9,
               (double)c->joined_ns / 1e9, (double)c->records / ((double)fetch_ns / 1e9),
               (double)c->bytes / ((double)fetch_ns / 1e9) / 1e6, (double)(perf_cpu_ns() - c->begin_cpu_ns) / 1e9);
        return;
    }
    if (c->detailed) return;
    print_date(c, c->begin_wall_ms);
    print_date(c, c->begin_wall_ms + elapsed_ns / 1000000);
    print_columns(c->bytes, c->bytes, c->records, c->records, elapsed_ns, c->joined_ns);
}

static int measure(struct consumer *c) {
    rd_kafka_poll_set_consumer(c->client);
    print_header(c);
    c->begin_wall_ms = perf_wall_ms();
    c->begin_ns = c->window_begin_ns = perf_now_ns();
    c->begin_cpu_ns = perf_cpu_ns();
    perf_progress_begin(&c->progress);
    int status = CLI_FAILED;
    if (begin_reading(c)) {
        rd_kafka_queue_t *queue = rd_kafka_queue_get_consumer(c->client);
        ASSERT(queue != NULL);
        // As in Kafka, too few records are a warning, no failure.
        read_all(c, queue);
        rd_kafka_queue_destroy(queue);
        perf_progress_end(&c->progress);
        print_result(c);
        if (!atomic_load(&c->client_state.failed)) status = CLI_OK;
        if (c->print_metrics) perf_print_metrics(&c->client_state, c->client);
    }
    return status;
}

// Commits and leaves the group. Without a broker librdkafka would wait for minutes for that: it is given a few seconds.
static void close_client(struct consumer *c) {
    rd_kafka_queue_t *queue = rd_kafka_queue_new(c->client);
    rd_kafka_error_t *error = rd_kafka_consumer_close_queue(c->client, queue);
    uint64_t end_ns = perf_now_ns() + CLOSE_NS;
    while (!error && !rd_kafka_consumer_closed(c->client) && perf_now_ns() < end_ns) {
        rd_kafka_message_t *message = rd_kafka_consume_queue(queue, 100); // serves the callbacks
        if (message) rd_kafka_message_destroy(message);
    }
    bool is_closed = rd_kafka_consumer_closed(c->client) == 1;
    if (error) rd_kafka_error_destroy(error);
    rd_kafka_queue_destroy(queue);
    if (is_closed) rd_kafka_destroy(c->client); // else that would wait too: it ends with the process
}

// Takes conf.
static int run(struct consumer *c, rd_kafka_conf_t *conf) {
    configure(c, conf);
    if (!c->no_group) rd_kafka_conf_set_rebalance_cb(conf, on_rebalance);
    c->client = perf_client(conf, PERF_CONSUMER, c->command);
    if (!c->client) return CLI_FAILED;
    int status = measure(c);
    close_client(c);
    perf_client_state_drop(&c->client_state);
    return status;
}

int perf_consumer(int argc, char **argv) {
    struct consumer c = {.command = argv[0],
                         .date_format = "yyyy-MM-dd HH:mm:ss:SSS",
                         .fetch_size_bytes = 1 << 20,
                         .socket_buffer_bytes = 2 << 20,
                         .timeout_ms = 10000,
                         .interval_ms = 5000};
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char reason[64];
    rd_kafka_conf_set(conf, "client.id", "tailrace-perf", reason, sizeof reason);
    rd_kafka_conf_set(conf, "socket.nagle.disable", "true", reason, sizeof reason);
    rd_kafka_conf_set(conf, "check.crcs", "true", reason, sizeof reason); // as the Java consumer
    struct cli_arguments a;
    int status = CLI_OK;
    bool wants_help = false;
    cli_arguments_init(&a, argc, argv);
    while (status == CLI_OK && !wants_help && cli_next(&a)) {
        wants_help = cli_is(&a, "--help") || cli_is(&a, "-h");
        if (!wants_help) status = read_option(&c, conf, &a);
    }
    if (status == CLI_OK && !wants_help) status = check(&c, conf);
    if (status == CLI_OK && !wants_help) {
        status = run(&c, conf);
    } else {
        rd_kafka_conf_destroy(conf);
        if (wants_help) status = help();
    }
    return cli_finish_output("tailrace perf") ? status : CLI_FAILED;
}
