// SPDX-License-Identifier: Apache-2.0
// produce: every record of every list of the jobs file.
#include "client.h"

static void on_delivery(rd_kafka_t *client, const rd_kafka_message_t *message, void *opaque) {
    (void)client;
    if (message->err != 0) {
        fprintf(stderr, "client.c: %s [%d]: %s\n", rd_kafka_topic_name(message->rkt), message->partition,
                rd_kafka_err2str(message->err));
        note_failure();
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
    if (delivered != sent) note_failure();
    printf("{\"topic\":\"%s\",\"produced\":%" PRId64 "}\n", topic, delivered);
}

void produce(const struct options *options) {
    size_t size_bytes;
    char *pack = read_file(options->pack, &size_bytes);
    char *jobs = read_file(options->jobs, &size_bytes), *rest = jobs;
    for (char *line = strsep(&rest, "\n"); line != NULL && *line != 0; line = strsep(&rest, "\n")) {
        const char *topic = strsep(&line, "\t"), *codec = strsep(&line, "\t");
        produce_list(options, topic, codec, line, pack);
    }
}
