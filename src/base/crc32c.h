// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli), as in record batches (KIP-98) and producer snapshots.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Continues from `crc` (0 to begin): crc32c(crc32c(0, a), b) is the checksum of a followed by b.
uint32_t crc32c(uint32_t crc, const void *data, size_t size_bytes);
// The checksum of a followed by b, from crc32c(0, a), crc32c(0, b) and b's length: lets a changed header cost its own
// bytes only.
uint32_t crc32c_combine(uint32_t crc_a, uint32_t crc_b, uint64_t size_b_bytes);
