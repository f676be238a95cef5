// SPDX-License-Identifier: Apache-2.0
// What tailrace perf producer, consumer and e2e share: clients of librdkafka that are configured with Kafka's property
// names, time, and what is shown of latencies.
#pragma once

#include "base/histogram.h"
#include "cli/cli.h"
#include <librdkafka/rdkafka.h>
#include <stdatomic.h>
#include <stdint.h>

int perf_producer(int argc, char **argv);
int perf_consumer(int argc, char **argv);
int perf_e2e(int argc, char **argv);

// ---- perf_properties.c: Kafka's names for librdkafka's settings
enum perf_role { PERF_PRODUCER, PERF_CONSUMER };
// Each says on standard error what is wrong, and returns CLI_OK, CLI_FAILED (a file cannot be read) or CLI_USAGE.
int perf_set(rd_kafka_conf_t *conf, enum perf_role role, const char *command, const char *key, const char *value);
int perf_set_pair(rd_kafka_conf_t *conf, enum perf_role role, const char *command, const char *pair); // KEY=VALUE
int perf_set_file(rd_kafka_conf_t *conf, enum perf_role role, const char *command, const char *path);
// Whether bootstrap.servers is set.
bool perf_has_servers(const rd_kafka_conf_t *conf);

// ---- perf_client.c
// The option's value as a number in [min, max]. False, and said so.
bool perf_number(struct cli_arguments *a, int64_t min, int64_t max, int64_t *value);
// Records a second, with a fraction or not: 0.001 to 100,000,000, or -1 (as many as possible) if may_be_unlimited.
bool perf_rate(struct cli_arguments *a, bool may_be_unlimited, double *rate);
// Takes conf. NULL, and said so, if librdkafka refuses the configuration.
rd_kafka_t *perf_client(rd_kafka_conf_t *conf, enum perf_role role, const char *command);
enum { PERF_TALK_MS = 500 }; // who waits for a broker looks so often whether there is an error to be told
// Metadata of one topic that has partitions and leaders; waits for it to be created. NULL, and said so.
const struct rd_kafka_metadata *perf_topic(rd_kafka_t *client, const char *command, const char *topic, int timeout_ms);

// What librdkafka's callbacks tell about a client: its opaque.
struct perf_client_state {
    const char *command;
    atomic_bool failed;     // a fatal error: there will be no more answers
    bool wants_metrics;     // keep the last statistics
    char *metrics;          // JSON, or NULL; perf_client_state_drop frees it
    uint64_t last_error_ns; // when a warning was printed last: at most one a second
    void *context;          // of whoever made the client
};
// Errors to standard error, statistics into the state.
void perf_callbacks(rd_kafka_conf_t *conf, struct perf_client_state *state);
void perf_print_metrics(struct perf_client_state *state, rd_kafka_t *client);
// How many Produce requests the client sent so far; -1 if it does not say (wants_metrics is false, or nothing came).
int64_t perf_produce_requests(struct perf_client_state *state, rd_kafka_t *client);
void perf_client_state_drop(struct perf_client_state *state);

// ---- perf_report.c
uint64_t perf_now_ns(void); // monotonic
uint64_t perf_wall_ms(void);
uint64_t perf_cpu_ns(void); // of this process
void perf_sleep_until(uint64_t deadline_ns);

// A line that is replaced each second, on standard error if that is a terminal.
struct perf_progress {
    bool is_terminal;
    uint64_t begin_ns, next_ns;
    uint64_t last_ns, last_records, last_bytes;
};
void perf_progress_begin(struct perf_progress *p);
// total: how many records are awaited, 0 if not known; window: latencies (ns) since the last line, or NULL.
void perf_progress_show(struct perf_progress *p, uint64_t now_ns, uint64_t records, uint64_t bytes, uint64_t total,
                        const struct histogram *window);
void perf_progress_end(struct perf_progress *p);

// "mean": ..., "p50": ... in milliseconds, as a JSON object.
void perf_json_latency(const char *key, const struct histogram *h);
double perf_ms(uint64_t ns);
