// SPDX-License-Identifier: Apache-2.0
// A librdkafka client with a voice: errors that matter go to standard error, at most one line a second; what librdkafka
// only retries is kept quiet. Failure modes: a refused configuration, a topic that does not appear in time.
#include "base/bits.h"
#include "base/text.h"
#include "cli/perf.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

bool perf_number(struct cli_arguments *a, int64_t min, int64_t max, int64_t *value) {
    const char *name = a->name, *text = cli_value(a);
    if (!text) return false;
    if (parse_i64(str_of(text), min, max, value)) return true;
    int size = (int)strcspn(name, "=");
    cli_usage_error(a->argv[0], "%.*s: '%s' is not a number from %lld to %lld", size, name, text, (long long)min,
                    (long long)max);
    return false;
}

bool perf_rate(struct cli_arguments *a, bool may_be_unlimited, double *rate) {
    const char *name = a->name, *text = cli_value(a);
    if (!text) return false;
    if (may_be_unlimited && strcmp(text, "-1") == 0) {
        *rate = -1;
        return true;
    }
    if (parse_double(str_of(text), rate) && *rate >= 0.001 && *rate <= 1e8) return true;
    int size = (int)strcspn(name, "=");
    cli_usage_error(a->argv[0], "%.*s: '%s' is not a number from 0.001 to 100000000%s", size, name, text,
                    may_be_unlimited ? ", or -1 for as many as possible" : "");
    return false;
}

static void on_error(rd_kafka_t *client, int error, const char *reason, void *opaque) {
    struct perf_client_state *state = opaque;
    if (error == RD_KAFKA_RESP_ERR__FATAL) {
        char text[256];
        error = rd_kafka_fatal_error(client, text, sizeof text);
        fprintf(stderr, "tailrace %s: %s\n", state->command, text);
        atomic_store(&state->failed, true);
        return;
    }
    uint64_t now_ns = perf_now_ns();
    if (state->last_error_ns != 0 && now_ns - state->last_error_ns < 1000000000) return;
    state->last_error_ns = now_ns;
    fprintf(stderr, "tailrace %s: %s\n", state->command, reason);
}

// librdkafka's own log lines say what the error callback says already.
static void on_log(const rd_kafka_t *client, int level, const char *facility, const char *text) {
    (void)client;
    if (level <= 3 && strcmp(facility, "FAIL") != 0 && strcmp(facility, "ERROR") != 0)
        fprintf(stderr, "tailrace perf: librdkafka: %s\n", text);
}

static int on_statistics(rd_kafka_t *client, char *json, size_t size, void *opaque) {
    struct perf_client_state *state = opaque;
    (void)client;
    (void)size;
    free(state->metrics);
    state->metrics = json;
    return 1; // it is ours now
}

void perf_callbacks(rd_kafka_conf_t *conf, struct perf_client_state *state) {
    rd_kafka_conf_set_opaque(conf, state);
    rd_kafka_conf_set_error_cb(conf, on_error);
    rd_kafka_conf_set_log_cb(conf, on_log);
    if (!state->wants_metrics) return;
    rd_kafka_conf_set_stats_cb(conf, on_statistics);
    char reason[64];
    rd_kafka_conf_set(conf, "statistics.interval.ms", "500", reason, sizeof reason);
}

// Waits for one more set of statistics, which has everything that was done so far. NULL: none came within two seconds.
static const char *next_metrics(struct perf_client_state *state, rd_kafka_t *client) {
    uint64_t end_ns = perf_now_ns() + 2000000000ULL;
    free(state->metrics);
    state->metrics = NULL;
    while (!state->metrics && perf_now_ns() < end_ns) {
        if (rd_kafka_type(client) == RD_KAFKA_PRODUCER) {
            rd_kafka_poll(client, 100);
        } else {
            rd_kafka_message_t *message = rd_kafka_consumer_poll(client, 100);
            if (message) rd_kafka_message_destroy(message);
        }
    }
    return state->metrics;
}

void perf_print_metrics(struct perf_client_state *state, rd_kafka_t *client) {
    if (!state->wants_metrics) return;
    const char *metrics = next_metrics(state, client);
    printf("%s\n", metrics ? metrics : "{}");
}

int64_t perf_produce_requests(struct perf_client_state *state, rd_kafka_t *client) {
    const char *metrics = state->wants_metrics ? next_metrics(state, client) : NULL;
    json_t *root = metrics ? json_loads(metrics, 0, NULL) : NULL;
    if (!root) return -1;
    int64_t total = 0;
    const char *name;
    json_t *broker;
    json_object_foreach(json_object_get(root, "brokers"), name, broker) {
        total += json_integer_value(json_object_get(json_object_get(broker, "req"), "Produce"));
    }
    json_decref(root);
    return total;
}

void perf_client_state_drop(struct perf_client_state *state) {
    free(state->metrics);
    state->metrics = NULL;
}

rd_kafka_t *perf_client(rd_kafka_conf_t *conf, enum perf_role role, const char *command) {
    char reason[512];
    rd_kafka_t *client =
        rd_kafka_new(role == PERF_PRODUCER ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER, conf, reason, sizeof reason);
    if (client) return client;
    rd_kafka_conf_destroy(conf);
    fprintf(stderr, "tailrace %s: %s\n", command, reason);
    return NULL;
}

static bool has_leaders(const struct rd_kafka_metadata_topic *topic) {
    for (int i = 0; i < topic->partition_cnt; i++) {
        if (topic->partitions[i].leader < 0) return false;
    }
    return topic->err == RD_KAFKA_RESP_ERR_NO_ERROR && topic->partition_cnt > 0;
}

// As rd_kafka_metadata(), in growing parts: between them the error callback says why it takes so long.
static rd_kafka_resp_err_t metadata_ask(rd_kafka_t *client, rd_kafka_topic_t *handle,
                                        const struct rd_kafka_metadata **metadata, uint64_t end_ns) {
    for (int part_ms = PERF_TALK_MS;; part_ms *= 2) {
        uint64_t now_ns = perf_now_ns();
        int left_ms = now_ns < end_ns ? (int)((end_ns - now_ns) / 1000000) : 0;
        rd_kafka_resp_err_t error = rd_kafka_metadata(client, 0, handle, metadata, (int)min_i64(part_ms, left_ms) + 1);
        bool may_come = error == RD_KAFKA_RESP_ERR__TRANSPORT || error == RD_KAFKA_RESP_ERR__TIMED_OUT;
        rd_kafka_poll(client, 0);
        if (!may_come || part_ms >= left_ms) return error;
    }
}

const struct rd_kafka_metadata *perf_topic(rd_kafka_t *client, const char *command, const char *topic, int timeout_ms) {
    uint64_t end_ns = perf_now_ns() + (uint64_t)timeout_ms * 1000000;
    rd_kafka_topic_t *handle = rd_kafka_topic_new(client, topic, NULL);
    rd_kafka_resp_err_t error = handle ? RD_KAFKA_RESP_ERR_NO_ERROR : rd_kafka_last_error();
    const struct rd_kafka_metadata *metadata = NULL;
    while (handle) {
        error = metadata_ask(client, handle, &metadata, end_ns);
        if (!error && metadata->topic_cnt == 1 && has_leaders(&metadata->topics[0])) break;
        if (!error) {
            error = metadata->topic_cnt == 1 && metadata->topics[0].err ? metadata->topics[0].err
                                                                        : RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
            rd_kafka_metadata_destroy(metadata);
        }
        metadata = NULL;
        bool may_come =
            error == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE || error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
        if (!may_come || perf_now_ns() >= end_ns) break;
        perf_sleep_until(perf_now_ns() + 50000000);
    }
    if (handle) rd_kafka_topic_destroy(handle);
    if (!metadata) fprintf(stderr, "tailrace %s: topic %s: %s\n", command, topic, rd_kafka_err2str(error));
    return metadata;
}
