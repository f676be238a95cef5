// SPDX-License-Identifier: Apache-2.0
// tailrace perf producer: Kafka's ProducerPerformance on librdkafka.
//
// The main thread makes records and hands them to librdkafka, at its own pace or at the wanted rate; a second thread
// takes the delivery reports, measures, and shows the progress. A record's latency begins when it was handed over or,
// with --rate, when it should have been: a broker (or client) that stalls is charged for everything that had to wait
// (no coordinated omission).
//
// Failure modes: records that the broker does not acknowledge are counted, the first reason is told, and the exit
// status is 1; a fatal error of the client ends the run.
#include "base/assert.h"
#include "base/bits.h"
#include "cli/perf.h"
#include "cli/perf_payload.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int help(void) {
    printf(
        "usage: tailrace perf producer --topic TOPIC --num-records N (--record-size BYTES | --payload-file FILE | "
        "--payload-monotonic)\n"
        "                              (--throughput N | --rate N) [--bootstrap-server HOST:PORT] [options]\n\n"
        "Sends records and measures throughput and latency up to the acknowledgement.\n\n"
        "  --bootstrap-server HOST:PORT  where the broker is; also --producer-props bootstrap.servers=...\n"
        "  --topic TOPIC                 is created if the broker creates topics by itself\n"
        "  --num-records N               how many\n"
        "  --record-size BYTES           random letters, or\n"
        "  --payload-file FILE           random lines of this file\n"
        "  --payload-delimiter TEXT      what is between its records; default \\n\n"
        "  --payload-monotonic           or the numbers 0, 1, 2, ...\n"
        "  --throughput N                at most about N records a second; -1: as many as possible\n"
        "  --rate N                      open loop: N records a second whatever the broker does, and latencies count "
        "from the\n"
        "                                instant at which a record should have been sent\n"
        "  --warmup-records N            the first N do not count\n"
        "  --producer-props KEY=VALUE... properties of the Java producer or of librdkafka (acks, linger.ms, "
        "batch.size, ...)\n"
        "  --producer.config FILE        the same from a file\n"
        "  --print-metrics               librdkafka's statistics at the end\n"
        "  --json                        the result as JSON\n\n"
        "The defaults are librdkafka's, but for socket.nagle.disable=true and queue.buffering.max.kbytes=32768.\n\n"
        "example: tailrace perf producer --bootstrap-server localhost:9092 --topic test --num-records 100000 "
        "--record-size 1000 \\\n"
        "           --rate 2000 --producer-props acks=all linger.ms=0\n");
    return cli_finish_output("tailrace perf") ? CLI_OK : CLI_FAILED;
}

struct producer {
    const char *command, *topic;
    int64_t num_records, warmup_records;
    double rate; // records a second; below 0: as many as possible
    bool has_rate, open_loop, print_metrics, json;
    struct perf_payload payload;
    // the run
    struct perf_client_state client_state;
    rd_kafka_t *client;
    atomic_bool all_sent;
    uint64_t begin_ns, begin_cpu_ns;
    // the reports' thread
    uint64_t end_ns;            // of the last acknowledgement
    uint64_t measured_begin_ns; // after the warm-up
    uint64_t reports, failed, acknowledged_bytes;
    rd_kafka_resp_err_t first_error;
    struct histogram *all, *second, *window;
    struct perf_progress progress;
    uint64_t window_begin_ns, window_bytes;
};

static int read_properties(struct producer *p, rd_kafka_conf_t *conf, struct cli_arguments *a) {
    const char *pair = cli_value(a);
    int status = pair ? perf_set_pair(conf, PERF_PRODUCER, p->command, pair) : CLI_USAGE;
    // As in Kafka, all that follow up to the next option.
    while (status == CLI_OK && a->next < a->argc && a->argv[a->next][0] != '-') {
        status = perf_set_pair(conf, PERF_PRODUCER, p->command, a->argv[a->next++]);
    }
    return status;
}

// As Kafka does it, \n may be written out.
static const char *read_delimiter(struct cli_arguments *a) {
    const char *text = cli_value(a);
    if (text && text[0] == '\0') {
        cli_usage_error(a->argv[0], "--payload-delimiter is empty");
        return NULL;
    }
    return text && strcmp(text, "\\n") == 0 ? "\n" : text;
}

static int read_numbers(struct producer *p, struct cli_arguments *a, bool *taken) {
    *taken = true;
    if (cli_is(a, "--num-records")) return perf_number(a, 1, INT64_C(1) << 48, &p->num_records) ? CLI_OK : CLI_USAGE;
    if (cli_is(a, "--warmup-records"))
        return perf_number(a, 0, INT64_C(1) << 48, &p->warmup_records) ? CLI_OK : CLI_USAGE;
    if (cli_is(a, "--record-size"))
        return perf_number(a, 1, 1 << 28, &p->payload.record_size_bytes) ? CLI_OK : CLI_USAGE;
    if (cli_is(a, "--throughput") || cli_is(a, "--rate")) {
        if (p->has_rate) return cli_usage_error(p->command, "--throughput and --rate: one of them, once");
        p->open_loop = cli_is(a, "--rate");
        p->has_rate = perf_rate(a, !p->open_loop, &p->rate);
        return p->has_rate ? CLI_OK : CLI_USAGE;
    }
    *taken = false;
    return CLI_OK;
}

static int read_option(struct producer *p, rd_kafka_conf_t *conf, struct cli_arguments *a) {
    static const char *const options[] = {"--topic",
                                          "--num-records",
                                          "--record-size",
                                          "--payload-file",
                                          "--payload-delimiter",
                                          "--payload-monotonic",
                                          "--throughput",
                                          "--rate",
                                          "--warmup-records",
                                          "--producer-props",
                                          "--producer.config",
                                          "--print-metrics",
                                          "--bootstrap-server",
                                          "--json",
                                          "--help",
                                          NULL};
    bool taken;
    int status = read_numbers(p, a, &taken);
    if (taken) return status;
    const char *value;
    if (cli_is(a, "--topic")) {
        p->topic = cli_value(a);
        return p->topic ? CLI_OK : CLI_USAGE;
    } else if (cli_is(a, "--bootstrap-server")) {
        value = cli_value(a);
        return value ? perf_set(conf, PERF_PRODUCER, p->command, "bootstrap.servers", value) : CLI_USAGE;
    } else if (cli_is(a, "--payload-file")) {
        p->payload.path = cli_value(a);
        return p->payload.path ? CLI_OK : CLI_USAGE;
    } else if (cli_is(a, "--payload-delimiter")) {
        p->payload.delimiter = read_delimiter(a);
        return p->payload.delimiter ? CLI_OK : CLI_USAGE;
    } else if (cli_is(a, "--payload-monotonic")) {
        p->payload.monotonic = true;
    } else if (cli_is(a, "--producer-props")) {
        return read_properties(p, conf, a);
    } else if (cli_is(a, "--producer.config")) {
        value = cli_value(a);
        return value ? perf_set_file(conf, PERF_PRODUCER, p->command, value) : CLI_USAGE;
    } else if (cli_is(a, "--print-metrics")) {
        p->print_metrics = true;
    } else if (cli_is(a, "--json")) {
        p->json = true;
    } else if (cli_is(a, "--transactional-id") || cli_is(a, "--transaction-duration-ms")) {
        return cli_usage_error(p->command, "transactions are not measured yet");
    } else {
        return cli_unknown(a, options);
    }
    return CLI_OK;
}

static int check(struct producer *p, rd_kafka_conf_t *conf) {
    if (!p->topic) return cli_usage_error(p->command, "--topic is needed");
    if (p->num_records == 0) return cli_usage_error(p->command, "--num-records is needed");
    if (!p->has_rate) return cli_usage_error(p->command, "--throughput or --rate is needed");
    if (p->warmup_records >= p->num_records)
        return cli_usage_error(p->command, "--warmup-records must be less than --num-records");
    if ((p->payload.record_size_bytes > 0) + (p->payload.path != NULL) + p->payload.monotonic != 1)
        return cli_usage_error(p->command, "one of --record-size, --payload-file and --payload-monotonic is needed");
    if (!perf_has_servers(conf)) return cli_usage_error(p->command, "--bootstrap-server is needed");
    return CLI_OK;
}

// A line of Kafka's tool every 5 s, where no progress line is shown.
static void show_window(struct producer *p, uint64_t now_ns) {
    enum { WINDOW_NS = 5000000 };
    if (now_ns - p->window_begin_ns < WINDOW_NS * 1000ULL) return;
    double seconds = (double)(now_ns - p->window_begin_ns) / 1e9;
    uint64_t count = p->window->count;
    if (!p->progress.is_terminal && !p->json) {
        printf("%llu records sent, %.1f records/sec (%.2f MB/sec), %.1f ms avg latency, %.1f ms max latency.\n",
               (unsigned long long)count, (double)count / seconds, (double)p->window_bytes / seconds / 1048576,
               histogram_mean(p->window) / 1e6, perf_ms(p->window->max));
        fflush(stdout);
    }
    p->window_begin_ns = now_ns;
    p->window_bytes = 0;
    histogram_clear(p->window);
}

static void show(struct producer *p, uint64_t now_ns) {
    bool second_is_over = now_ns >= p->progress.next_ns;
    perf_progress_show(&p->progress, now_ns, p->reports, p->acknowledged_bytes, (uint64_t)p->num_records, p->second);
    if (second_is_over) histogram_clear(p->second);
    show_window(p, now_ns);
}

// The message's opaque is the instant from which it is measured.
static void on_report(rd_kafka_t *client, const rd_kafka_message_t *message, void *opaque) {
    struct perf_client_state *state = opaque;
    struct producer *p = state->context;
    uint64_t now_ns = perf_now_ns(), begin_ns = (uint64_t)(uintptr_t)message->_private;
    (void)client;
    p->reports++;
    if (message->err) {
        if (p->failed++ == 0) p->first_error = message->err;
        return;
    }
    p->end_ns = now_ns;
    if (p->reports <= (uint64_t)p->warmup_records) {
        p->measured_begin_ns = now_ns;
        return;
    }
    uint64_t latency_ns = now_ns > begin_ns ? now_ns - begin_ns : 0;
    p->acknowledged_bytes += message->len;
    p->window_bytes += message->len;
    histogram_record(p->all, latency_ns);
    histogram_record(p->second, latency_ns);
    histogram_record(p->window, latency_ns);
}

static void *take_reports(void *argument) {
    struct producer *p = argument;
    // Every record is reported at last, as delivered or as timed out (delivery.timeout.ms).
    while (!atomic_load(&p->client_state.failed)) {
        if (atomic_load(&p->all_sent)) {
            if (rd_kafka_flush(p->client, 50) == RD_KAFKA_RESP_ERR_NO_ERROR) break;
        } else {
            rd_kafka_poll(p->client, 50);
        }
        show(p, perf_now_ns());
    }
    return NULL;
}

// Hands one record over; a full queue is waited for. False: there is no sense in going on.
static bool send_one(struct producer *p, rd_kafka_topic_t *topic, int64_t i, uint64_t due_ns) {
    struct str value = perf_payload_next(&p->payload, i);
    uint64_t begin_ns = due_ns ? due_ns : perf_now_ns();
    while (rd_kafka_produce(topic, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY, (void *)value.data, value.size, NULL, 0,
                            (void *)(uintptr_t)begin_ns) != 0) {
        rd_kafka_resp_err_t error = rd_kafka_last_error();
        if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL) {
            fprintf(stderr, "tailrace %s: %s\n", p->command, rd_kafka_err2str(error));
            return false;
        }
        if (atomic_load(&p->client_state.failed)) return false;
        perf_sleep_until(perf_now_ns() + 500000);
    }
    return !atomic_load(&p->client_state.failed);
}

// The number of records handed over.
static int64_t send_all(struct producer *p, rd_kafka_topic_t *topic) {
    double interval_ns = p->rate > 0 ? 1e9 / p->rate : 0;
    for (int64_t i = 0; i < p->num_records; i++) {
        uint64_t due_ns = p->begin_ns + (uint64_t)((double)i * interval_ns);
        if (interval_ns > 0 && perf_now_ns() < due_ns) perf_sleep_until(due_ns);
        if (!send_one(p, topic, i, p->open_loop ? due_ns : 0)) return i;
    }
    return p->num_records;
}

static void print_text(const struct producer *p, double seconds) {
    const struct histogram *h = p->all;
    double records = (double)h->count, bytes = (double)p->acknowledged_bytes;
    printf("%llu records sent, %f records/sec (%.2f MB/sec), %.2f ms avg latency, %.2f ms max latency, %.0f ms 50th, "
           "%.0f ms 95th, %.0f ms 99th, %.0f ms 99.9th.\n",
           (unsigned long long)h->count, records / seconds, bytes / seconds / 1048576, histogram_mean(h) / 1e6,
           perf_ms(h->max), perf_ms(histogram_percentile(h, 50)), perf_ms(histogram_percentile(h, 95)),
           perf_ms(histogram_percentile(h, 99)), perf_ms(histogram_percentile(h, 99.9)));
    if (p->open_loop) {
        printf("from the intended time: p50 %.3f ms, p95 %.3f ms, p99 %.3f ms, p99.9 %.3f ms, p99.99 %.3f ms\n",
               perf_ms(histogram_percentile(h, 50)), perf_ms(histogram_percentile(h, 95)),
               perf_ms(histogram_percentile(h, 99)), perf_ms(histogram_percentile(h, 99.9)),
               perf_ms(histogram_percentile(h, 99.99)));
    }
}

static void print_json(struct producer *p, double seconds) {
    double cpu_seconds = (double)(perf_cpu_ns() - p->begin_cpu_ns) / 1e9;
    int64_t requests = perf_produce_requests(&p->client_state, p->client);
    printf("{\"tool\": \"producer\", \"records\": %llu, \"failed\": %llu, \"bytes\": %llu, \"seconds\": %.6f, "
           "\"records_per_second\": %.3f, \"mb_per_second\": %.3f, \"client_cpu_seconds\": %.3f, \"open_loop\": %s, ",
           (unsigned long long)p->all->count, (unsigned long long)p->failed, (unsigned long long)p->acknowledged_bytes,
           seconds, (double)p->all->count / seconds, (double)p->acknowledged_bytes / seconds / 1e6, cpu_seconds,
           p->open_loop ? "true" : "false");
    // What a broker has to do grows with the requests: a slow one is given fewer, larger ones.
    if (requests > 0)
        printf("\"requests\": %lld, \"records_per_request\": %.3f, ", (long long)requests,
               (double)p->reports / (double)requests);
    perf_json_latency("latency_ms", p->all);
    printf("}\n");
}

static int finish(struct producer *p, int64_t sent) {
    uint64_t begin_ns = p->measured_begin_ns ? p->measured_begin_ns : p->begin_ns;
    double seconds = p->end_ns > begin_ns ? (double)(p->end_ns - begin_ns) / 1e9 : 1e-9;
    if (p->json) {
        print_json(p, seconds);
    } else {
        print_text(p, seconds);
    }
    if (p->failed > 0)
        fprintf(stderr, "tailrace %s: %llu records were not acknowledged; the first: %s\n", p->command,
                (unsigned long long)p->failed, rd_kafka_err2str(p->first_error));
    bool all = p->failed == 0 && sent == p->num_records && (int64_t)p->reports == sent;
    return all ? CLI_OK : CLI_FAILED;
}

static int measure(struct producer *p, rd_kafka_topic_t *topic) {
    pthread_t thread;
    p->begin_ns = p->window_begin_ns = perf_now_ns();
    p->begin_cpu_ns = perf_cpu_ns();
    perf_progress_begin(&p->progress);
    if (pthread_create(&thread, NULL, take_reports, p) != 0) {
        fprintf(stderr, "tailrace %s: cannot start a thread\n", p->command);
        return CLI_FAILED;
    }
    int64_t sent = send_all(p, topic);
    atomic_store(&p->all_sent, true);
    pthread_join(thread, NULL);
    perf_progress_end(&p->progress);
    int status = finish(p, sent);
    if (p->print_metrics) perf_print_metrics(&p->client_state, p->client);
    return status;
}

// Takes conf.
static int run(struct producer *p, rd_kafka_conf_t *conf) {
    p->client_state =
        (struct perf_client_state){.command = p->command, .wants_metrics = p->print_metrics || p->json, .context = p};
    perf_callbacks(conf, &p->client_state);
    rd_kafka_conf_set_dr_msg_cb(conf, on_report);
    p->client = perf_client(conf, PERF_PRODUCER, p->command);
    if (!p->client) return CLI_FAILED;
    // Connected, and the topic there, before the clock starts.
    const struct rd_kafka_metadata *metadata = perf_topic(p->client, p->command, p->topic, 15000);
    int status = CLI_FAILED;
    if (metadata) {
        rd_kafka_metadata_destroy(metadata);
        rd_kafka_topic_t *topic = rd_kafka_topic_new(p->client, p->topic, NULL);
        if (topic) status = measure(p, topic);
        if (topic) rd_kafka_topic_destroy(topic);
    }
    rd_kafka_purge(p->client, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_destroy(p->client);
    perf_client_state_drop(&p->client_state);
    return status;
}

static rd_kafka_conf_t *defaults(void) {
    char reason[64];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "socket.nagle.disable", "true", reason, sizeof reason);
    rd_kafka_conf_set(conf, "queue.buffering.max.kbytes", "32768", reason, sizeof reason);
    rd_kafka_conf_set(conf, "queue.buffering.max.messages", "10000000", reason, sizeof reason);
    rd_kafka_conf_set(conf, "client.id", "tailrace-perf", reason, sizeof reason);
    return conf;
}

int perf_producer(int argc, char **argv) {
    struct producer p = {.command = argv[0], .payload.delimiter = "\n"};
    struct arena arena;
    arena_init(&arena, (size_t)1 << 30);
    rd_kafka_conf_t *conf = defaults();
    struct cli_arguments a;
    int status = CLI_OK;
    bool wants_help = false;
    cli_arguments_init(&a, argc, argv);
    while (status == CLI_OK && !wants_help && cli_next(&a)) {
        wants_help = cli_is(&a, "--help") || cli_is(&a, "-h");
        if (!wants_help) status = read_option(&p, conf, &a);
    }
    if (status == CLI_OK && !wants_help) status = check(&p, conf);
    struct histogram *histograms = calloc(3, sizeof *histograms);
    ASSERT(histograms != NULL);
    p.all = &histograms[0];
    p.second = &histograms[1];
    p.window = &histograms[2];
    if (wants_help) {
        rd_kafka_conf_destroy(conf);
        status = help();
    } else if (status == CLI_OK && perf_payload_prepare(&p.payload, &arena, p.command)) {
        status = run(&p, conf);
    } else {
        rd_kafka_conf_destroy(conf);
        if (status == CLI_OK) status = CLI_FAILED;
    }
    free(histograms);
    arena_drop(&arena);
    return cli_finish_output("tailrace perf") ? status : CLI_FAILED;
}
