// SPDX-License-Identifier: Apache-2.0
// What the parts of the librdkafka client share; client.c says what it is.
#pragma once

#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NO_PROGRESS_MS = 60000 };

struct options {
    const char *broker, *pack, *jobs, *topics, *mode, *group, *assignor, *instance_id, *idempotent, *family,
        *rate_per_s, *session_timeout_ms;
};

// The commands.
void produce(const struct options *options);
void consume(const struct options *options);
void member(const struct options *options);
void feed(const struct options *options);

_Noreturn void die(const char *what, const char *why);
void note_failure(void); // the exit status will be 1
void stop_at_sigterm(void);
bool stop_is_asked(void);
int64_t wall_ns(void);
void set(rd_kafka_conf_t *conf, const char *key, const char *value);
rd_kafka_t *client_new(rd_kafka_type_t type, rd_kafka_conf_t *conf);
char *read_file(const char *path, size_t *size_bytes);
void print_string(const char *bytes, size_t size_bytes); // as JSON
