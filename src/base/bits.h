// SPDX-License-Identifier: Apache-2.0
// Small things that every file needs: container_of, array lengths, minimum and maximum, alignment, big-endian loads and
// stores.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define container_of(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))
#define ARRAY_LENGTH(array)                 (sizeof(array) / sizeof((array)[0]))

static inline int64_t min_i64(int64_t a, int64_t b) {
    return a < b ? a : b;
}
static inline int64_t max_i64(int64_t a, int64_t b) {
    return a > b ? a : b;
}
static inline size_t min_size(size_t a, size_t b) {
    return a < b ? a : b;
}
static inline size_t max_size(size_t a, size_t b) {
    return a > b ? a : b;
}

// Rounds up to a multiple of `unit`, a power of two.
static inline size_t align_up(size_t n, size_t unit) {
    return (n + unit - 1) & ~(unit - 1);
}

// Big-endian integers at any alignment: Kafka's wire and disk formats.
static inline uint16_t load_be16(const void *p) {
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return __builtin_bswap16(v);
}
static inline uint32_t load_be32(const void *p) {
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return __builtin_bswap32(v);
}
static inline uint64_t load_be64(const void *p) {
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return __builtin_bswap64(v);
}
static inline void store_be16(void *p, uint16_t v) {
    v = __builtin_bswap16(v);
    memcpy(p, &v, sizeof v);
}
static inline void store_be32(void *p, uint32_t v) {
    v = __builtin_bswap32(v);
    memcpy(p, &v, sizeof v);
}
static inline void store_be64(void *p, uint64_t v) {
    v = __builtin_bswap64(v);
    memcpy(p, &v, sizeof v);
}
