// SPDX-License-Identifier: Apache-2.0
// isa-l does the work (40-55 GB/s). Combination multiplies crc_a by x^(8*size_b) modulo the Castagnoli polynomial.
#include "base/crc32c.h"
#include "base/bits.h"
#include <isa-l/crc.h>

enum { CRC32C_CHUNK_BYTES = 1 << 30 };

uint32_t crc32c(uint32_t crc, const void *data, size_t size_bytes) {
    const unsigned char *p = data;
    crc = ~crc;
    while (size_bytes > 0) {
        size_t n = min_size(size_bytes, CRC32C_CHUNK_BYTES); // isa-l takes an int
        crc = crc32_iscsi((unsigned char *)p, (int)n, crc);
        p += n;
        size_bytes -= n;
    }
    return ~crc;
}

static const uint32_t CRC32C_POLYNOMIAL_REFLECTED = 0x82f63b78u;

// Product of two polynomials modulo the CRC's polynomial, in reflected bit order (bit 31 is x^0).
static uint32_t crc32c_multiply(uint32_t a, uint32_t b) {
    uint32_t product = 0;
    for (uint32_t bit = 1u << 31; bit != 0; bit >>= 1) {
        if (a & bit) product ^= b;
        b = b & 1 ? (b >> 1) ^ CRC32C_POLYNOMIAL_REFLECTED : b >> 1;
    }
    return product;
}

uint32_t crc32c_combine(uint32_t crc_a, uint32_t crc_b, uint64_t size_b_bytes) {
    uint32_t shift = 1u << 31;       // x^0
    uint32_t power = 1u << (31 - 8); // x^8: one byte
    for (uint64_t n = size_b_bytes; n != 0; n >>= 1) {
        if (n & 1) shift = crc32c_multiply(power, shift);
        power = crc32c_multiply(power, power);
    }
    return crc32c_multiply(shift, crc_a) ^ crc_b;
}
