// SPDX-License-Identifier: Apache-2.0
// The load of the crash tests, on librdkafka.
//
//   client produce BROKER TOPIC PARTITIONS FIRST+COUNT RATE HISTORY SEED [acks1]
//       idempotent producers with acks=all (or plain ones with acks=1): producers FIRST
//       to FIRST + COUNT - 1, each sends its own numbers 0, 1, 2... to each partition and writes one line for each
//       acknowledged record: "producer partition number offset". Values are "producer-number-" and padding. Ends on
//       SIGTERM, after what is in flight has been answered.
//   client read BROKER TOPIC PARTITIONS OUTPUT [follow]
//       writes "partition offset producer number" for every record, up to the ends as they were at the start; or, with
//       follow, until SIGTERM.
//
// Exit status 0; 1 when a record failed for good, or something cannot be read (said on standard error).
#include <librdkafka/rdkafka.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PRODUCERS_MAX = 16, PARTITIONS_MAX = 64, VALUE_BYTES_MAX = 40000, FLUSH_MS = 60000 };

static volatile sig_atomic_t stopping;
static FILE *output;
static long failed;

static void on_signal(int number) {
    (void)number;
    stopping = 1;
}

static _Noreturn void die(const char *what, const char *why) {
    fprintf(stderr, "client: %s: %s\n", what, why);
    exit(1);
}

static rd_kafka_t *open_client(rd_kafka_type_t type, const char *settings[][2]) {
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char error[512];
    for (int i = 0; settings[i][0]; i++) {
        if (rd_kafka_conf_set(conf, settings[i][0], settings[i][1], error, sizeof error) != RD_KAFKA_CONF_OK)
            die(settings[i][0], error);
    }
    rd_kafka_t *client = rd_kafka_new(type, conf, error, sizeof error);
    if (!client) die("rd_kafka_new", error);
    return client;
}

// ---- produce
struct producer {
    int number;
    rd_kafka_t *client;
    long next[PARTITIONS_MAX];
};

static void delivered(rd_kafka_t *client, const rd_kafka_message_t *m, void *opaque) {
    (void)client;
    const struct producer *p = opaque;
    long number = (long)(intptr_t)m->_private;
    if (m->err) {
        failed++;
        fprintf(stderr, "client: producer %d partition %d number %ld: %s\n", p->number, m->partition, number,
                rd_kafka_message_errstr(m));
        return;
    }
    fprintf(output, "%d %d %ld %lld\n", p->number, m->partition, number, (long long)m->offset);
}

static void producer_open(struct producer *p, const char *broker, bool acks1) {
    char error[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    const char *settings[][2] = {
        {"bootstrap.servers", broker},
        {"enable.idempotence", acks1 ? "false" : "true"},
        {"acks", acks1 ? "1" : "all"},
        {"linger.ms", "2"},
        {"reconnect.backoff.ms", "20"},
        {"reconnect.backoff.max.ms", "200"},
        {"retry.backoff.ms", "20"},
        {"message.timeout.ms", "120000"},
        {"socket.timeout.ms", "10000"},
        {"batch.num.messages", "50"},
        {"compression.codec", p->number % 3 == 1 ? "lz4" : "none"},
        {"log_level", "2"},
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (rd_kafka_conf_set(conf, settings[i][0], settings[i][1], error, sizeof error) != RD_KAFKA_CONF_OK)
            die(settings[i][0], error);
    }
    rd_kafka_conf_set_dr_msg_cb(conf, delivered);
    rd_kafka_conf_set_opaque(conf, p);
    p->client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, error, sizeof error);
    if (!p->client) die("rd_kafka_new", error);
}

static size_t value_make(char *value, int producer, long number, uint64_t random) {
    size_t head = (size_t)snprintf(value, VALUE_BYTES_MAX, "%d-%ld-", producer, number);
    size_t padding = random % 100 == 0 ? 30000 : random % 400;
    memset(value + head, 'a' + (int)(number % 26), padding);
    return head + padding;
}

static void produce_one(struct producer *p, const char *topic, int partition, uint64_t random) {
    static char value[VALUE_BYTES_MAX];
    size_t size = value_make(value, p->number, p->next[partition], random);
    rd_kafka_resp_err_t error =
        rd_kafka_producev(p->client, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(partition),
                          RD_KAFKA_V_VALUE(value, size), RD_KAFKA_V_OPAQUE((void *)(intptr_t)p->next[partition]),
                          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
    if (error == RD_KAFKA_RESP_ERR__QUEUE_FULL) return;
    if (error == RD_KAFKA_RESP_ERR__FATAL) {
        char why[512];
        rd_kafka_fatal_error(p->client, why, sizeof why);
        die("fatal error", why);
    }
    if (error) die("producev", rd_kafka_err2str(error));
    p->next[partition]++;
}

static uint64_t random_next(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static int produce(int argc, char **argv) {
    if (argc < 9) die("produce", "BROKER TOPIC PARTITIONS FIRST+COUNT RATE HISTORY SEED [acks1]");
    int partitions = atoi(argv[4]), first, count, rate = atoi(argv[6]);
    if (sscanf(argv[5], "%d+%d", &first, &count) != 2) die("produce", "FIRST+COUNT");
    uint64_t random = strtoull(argv[8], NULL, 10) * 2654435761u + 88172645463325252u;
    bool acks1 = argc > 9 && strcmp(argv[9], "acks1") == 0;
    if (partitions > PARTITIONS_MAX || count > PRODUCERS_MAX || rate <= 0) die("produce", "too many");
    output = fopen(argv[7], "a");
    if (!output) die(argv[7], "cannot be opened");
    static struct producer producers[PRODUCERS_MAX];
    for (int i = 0; i < count; i++) {
        producers[i].number = first + i;
        producer_open(&producers[i], argv[2], acks1);
    }
    const struct timespec tick = {0, 5000000};
    while (!stopping) {
        for (int n = 0; n < rate / 200 + 1; n++) {
            uint64_t r = random_next(&random);
            struct producer *p = &producers[r % (uint64_t)count];
            // Not more in flight than the test can wait for.
            if (rd_kafka_outq_len(p->client) < 2000)
                produce_one(p, argv[3], (int)((r >> 20) % (uint64_t)partitions), r >> 40);
        }
        for (int i = 0; i < count; i++)
            rd_kafka_poll(producers[i].client, 0);
        fflush(output);
        nanosleep(&tick, NULL);
    }
    for (int i = 0; i < count; i++) {
        rd_kafka_flush(producers[i].client, FLUSH_MS);
        if (rd_kafka_outq_len(producers[i].client) > 0) die("flush", "records are still not answered");
    }
    fclose(output);
    return failed ? 1 : 0;
}

// ---- read
static void read_ends(rd_kafka_t *client, const char *topic, int partitions, int64_t *ends) {
    for (int i = 0; i < partitions; i++) {
        int64_t low;
        rd_kafka_resp_err_t error;
        int tries = 0;
        do { // a partition may still be recovered
            if (tries > 0) nanosleep(&(struct timespec){0, 50000000}, NULL);
            error = rd_kafka_query_watermark_offsets(client, topic, i, &low, &ends[i], 20000);
        } while (error == RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION && ++tries < 200);
        if (error) die("watermarks", rd_kafka_err2str(error));
        if (low != 0) die("watermarks", "the log does not start at 0");
    }
}

static bool take_message(const rd_kafka_message_t *m) {
    if (m->err == RD_KAFKA_RESP_ERR__TRANSPORT || m->err == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) return true;
    if (m->err) {
        fprintf(stderr, "client: read: partition %d: %s\n", m->partition, rd_kafka_message_errstr(m));
        return false;
    }
    int producer, size = (int)m->len;
    long number;
    if (sscanf((const char *)m->payload, "%d-%ld-", &producer, &number) != 2 || size < 4) {
        fprintf(stderr, "client: read: a value that nobody wrote at partition %d offset %lld\n", m->partition,
                (long long)m->offset);
        return false;
    }
    fprintf(output, "%d %lld %d %ld\n", m->partition, (long long)m->offset, producer, number);
    return true;
}

static bool all_read(const int64_t *ends, const int64_t *at, int partitions) {
    for (int i = 0; i < partitions; i++) {
        if (at[i] < ends[i]) return false;
    }
    return true;
}

static int read_all(int argc, char **argv) {
    if (argc < 6) die("read", "BROKER TOPIC PARTITIONS OUTPUT [follow]");
    int partitions = atoi(argv[4]);
    bool follow = argc > 6, good = true;
    if (partitions > PARTITIONS_MAX) die("read", "too many partitions");
    output = fopen(argv[5], "w");
    if (!output) die(argv[5], "cannot be opened");
    const char *settings[][2] = {{"bootstrap.servers", argv[2]},
                                 {"group.id", "reader"},
                                 {"enable.auto.commit", "false"},
                                 {"auto.offset.reset", "error"},
                                 {"check.crcs", "true"},
                                 {"fetch.wait.max.ms", "50"},
                                 {"reconnect.backoff.ms", "20"},
                                 {"reconnect.backoff.max.ms", "200"},
                                 {"log_level", "2"},
                                 {NULL, NULL}};
    rd_kafka_t *client = open_client(RD_KAFKA_CONSUMER, settings);
    rd_kafka_poll_set_consumer(client);
    int64_t ends[PARTITIONS_MAX] = {0}, at[PARTITIONS_MAX] = {0};
    if (!follow) read_ends(client, argv[3], partitions, ends);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(partitions);
    for (int i = 0; i < partitions; i++)
        rd_kafka_topic_partition_list_add(list, argv[3], i)->offset = 0;
    rd_kafka_assign(client, list);
    time_t last = time(NULL);
    while (good && !stopping && (follow || !all_read(ends, at, partitions))) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(client, 200);
        if (m) {
            good = take_message(m);
            if (!m->err) {
                at[m->partition] = m->offset + 1;
                last = time(NULL);
            }
            rd_kafka_message_destroy(m);
        } else {
            fflush(output);
        }
        if (!follow && time(NULL) - last > 20) die("read", "no record for 20 s");
    }
    fclose(output);
    rd_kafka_topic_partition_list_destroy(list);
    if (follow) _exit(good ? 0 : 1); // a client without its broker takes long to close
    rd_kafka_consumer_close(client);
    rd_kafka_destroy(client);
    return good ? 0 : 1;
}

int main(int argc, char **argv) {
    const struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    if (argc > 1 && strcmp(argv[1], "produce") == 0) return produce(argc, argv);
    if (argc > 1 && strcmp(argv[1], "read") == 0) return read_all(argc, argv);
    die("usage", "client produce|read ...");
}
