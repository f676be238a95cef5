// SPDX-License-Identifier: Apache-2.0
// Numbers of the framings that compress.c writes and decompress.c reads. Not for others.
#pragma once

// xerial's snappy-java: magic, int32 version, int32 compatible version, then blocks of int32 length and raw snappy.
#define XERIAL_MAGIC "\x82SNAPPY\0"
enum { XERIAL_MAGIC_BYTES = 8, XERIAL_HEADER_BYTES = 16, XERIAL_BLOCK_BYTES = 32 * 1024 };

enum { LZ4_FRAME_MAGIC = 0x184D2204 };
