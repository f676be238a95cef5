// SPDX-License-Identifier: Apache-2.0
// feed: numbered records for the members of a group, until SIGTERM.
#include "client.h"

static void on_fed(rd_kafka_t *client, const rd_kafka_message_t *message, void *opaque) {
    (void)client;
    (void)opaque;
    if (message->err != 0) {
        fprintf(stderr, "client.c: feed: %s\n", rd_kafka_err2str(message->err));
        note_failure();
        return;
    }
    printf("{\"e\":\"acked\",\"at\":%" PRId64 ",\"p\":%d,\"o\":%" PRId64 ",\"v\":", wall_ns(), message->partition,
           message->offset);
    print_string(message->payload, message->len);
    puts("}");
}

// Sends numbered records, one partition after the other, until SIGTERM; prints a line for each acknowledged one.
void feed(const struct options *options) {
    enum { PARTITIONS = 12, TICK_MS = 10 };
    stop_at_sigterm();
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "bootstrap.servers", options->broker);
    set(conf, "enable.idempotence", "true");
    set(conf, "linger.ms", "2");
    rd_kafka_conf_set_dr_msg_cb(conf, on_fed);
    rd_kafka_t *client = client_new(RD_KAFKA_PRODUCER, conf);
    int64_t began_ns = wall_ns(), sent = 0, rate_per_s = strtoll(options->rate_per_s, NULL, 10);
    while (!stop_is_asked()) {
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
