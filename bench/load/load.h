// SPDX-License-Identifier: Apache-2.0
// The lean client of bench/compare: plain sockets and prebuilt requests, so that the client is never what is measured.
#pragma once

#include "base/bits.h"
#include "base/slice.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

_Noreturn __attribute__((format(printf, 1, 2))) void fail(const char *format, ...);
int64_t number(const char *text, int64_t min, int64_t max); // or fail()
uint64_t now_ns(void);                                      // monotonic
double cpu_seconds(void);                                   // of this process

// ---- wire.c
struct address {
    char host[64], port[8];
};
struct address address_of(const char *text); // HOST:PORT
int connect_to(struct address address);      // -1: refused
bool send_all(int socket, const struct bytes *parts, size_t count);
bool receive_all(int socket, void *out, size_t size);
// The next response into *buffer, which grows; its size without the length, 0 at the end of the stream.
size_t receive_frame(int socket, uint8_t **buffer, size_t *capacity);

// A request that is sent again and again: the frame's length, the header (correlation id at byte 8) and the body up to
// the records, which follow.
struct produce_request {
    uint8_t head[512];
    size_t head_size;
    struct bytes records;
};
// One batch of about batch_bytes with records of record_bytes. The caller frees .data.
struct bytes make_batch(size_t record_bytes, size_t batch_bytes, int64_t *records);
void make_produce_request(struct produce_request *r, const char *topic, int32_t partition, int16_t acks,
                          struct bytes batch);
void set_correlation(struct produce_request *r, int32_t id);
// The error code of a Produce response (version 7) with one partition; fail() if it is not one.
int16_t produce_error(const uint8_t *response, size_t size);

// ---- the commands; argv[0] is the command's name
int run_produce(int argc, char **argv);
int run_first_ack(int argc, char **argv);
int run_fetch(int argc, char **argv);
int run_floor(int argc, char **argv);
