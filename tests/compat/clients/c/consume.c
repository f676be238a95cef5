// SPDX-License-Identifier: Apache-2.0
// consume: all topics up to their end offsets, a line for each record.
#include "client.h"
#include <openssl/evp.h>

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
            note_failure();
        }
        if (message != NULL) rd_kafka_message_destroy(message);
        if (wall_ns() - last_progress_ns > (int64_t)NO_PROGRESS_MS * 1000000) {
            fprintf(stderr, "client.c: %s: no progress for 60 s, %d partitions not at their end\n", mode, open);
            fflush(stdout);
            exit(3);
        }
    }
}

void consume(const struct options *options) {
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
