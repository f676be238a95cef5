# SPDX-License-Identifier: Apache-2.0
"""Bytes that cases send: requests in short, and compressed bombs made by hand, so that no codec library is needed."""

import functools
import struct
import zlib

import tables
import records
from tables import framed, uvarint, zigzag

TOPIC, COMPACTED, BOUNDED, SMALL = "hostile", "hostile-compacted", "hostile-bounded", "hostile-small"
NO_TAGS = b"\x00"


def i16(value):
    return struct.pack(">h", value)


def i32(value):
    return struct.pack(">i", value)


def text(value):
    data = value.encode() if isinstance(value, str) else value
    return i16(len(data)) + data


def ask(api, version, correlation=1, client_id="hostile", **values):
    """A framed request of any API."""
    return framed(tables.request(api, version, values, correlation, client_id))


def raw(key, version, rest, correlation=1):
    """A framed request with a classic header and any bytes after it."""
    return framed(tables.header(key, version, correlation) + rest)


def produce(blob, version=9, topic=TOPIC, partition=0, acks=-1, client_id="hostile"):
    """A Produce request with these record bytes for one partition."""
    return ask(
        "Produce",
        version,
        client_id=client_id,
        Acks=acks,
        TimeoutMs=5000,
        TopicData=[{"Name": topic, "PartitionData": [{"Index": partition, "Records": blob}]}],
    )


def fetch(version=12, topic=TOPIC, partition=0, offset=0, **values):
    """A Fetch request for one partition."""
    row = {
        "Partition": partition,
        "FetchOffset": offset,
        "PartitionMaxBytes": values.pop("PartitionMaxBytes", 1 << 20),
        "CurrentLeaderEpoch": values.pop("CurrentLeaderEpoch", -1),
    }
    defaults = {"MaxWaitMs": 100, "MinBytes": 0, "MaxBytes": 1 << 20}
    return ask("Fetch", version, **{**defaults, "Topics": [{"Topic": topic, "Partitions": [row]}], **values})


def good_batch(size=10):
    return records.batch(records.records([b"x" * size]))


@functools.cache
def empty_tags(count):
    """A section of so many tags in order, none with a value; count: a multiple of 128, so that they can be made by blocks."""
    low = [bytes([number | 0x80]) for number in range(128)]
    rests = (uvarint(high) + NO_TAGS for high in range(1, count // 128))
    return uvarint(count) + b"".join(bytes([number, 0]) for number in range(128)) + b"".join(rest.join(low) + rest for rest in rests)


def zeros_record(size):
    """The start of a record of `size` zero bytes as its value: everything after it is zeros, the empty headers too."""
    body = b"\x00\x00\x00" + zigzag(-1) + zigzag(size)
    return zigzag(len(body) + size + 1) + body, size + 1


def bomb(codec, size):
    """A batch with one record of `size` zeros, compressed as far as the codec goes."""
    start, zeros = zeros_record(size)
    payload = {1: gzip_zeros, 2: snappy_zeros, 3: lz4_zeros, 4: zstd_zeros}[codec](start, zeros)
    return records.batch(payload=payload, count=1, attributes=codec)


def gzip_zeros(start, zeros):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    out = packer.compress(start)
    block = bytes(1 << 20)
    for _ in range(zeros >> 20):
        out += packer.compress(block)
    return out + packer.compress(bytes(zeros & ((1 << 20) - 1))) + packer.flush()


def snappy_zeros(start, zeros):
    """Raw snappy: a literal, then copies of 64 bytes from one byte back."""
    literal = start + b"\x00"
    out = uvarint(len(start) + zeros) + bytes([(len(literal) - 1) << 2]) + literal
    left = zeros - 1
    out += bytes([63 << 2 | 2, 1, 0]) * (left // 64)
    rest = left % 64
    return out + (bytes([(rest - 1) << 2 | 2, 1, 0]) if rest else b"")


LZ4_BLOCK_BYTES = 4 << 20


def lz4_block_of_zeros(prefix, zeros):
    """One block: the prefix and a zero as literals, a match of the rest but 5 zeros, 5 literals."""
    literal = prefix + b"\x00"
    match = zeros - 1 - 5
    out = bytes([(min(len(literal), 15) << 4) | 15])
    if len(literal) >= 15:
        out += bytes([255] * ((len(literal) - 15) // 255) + [(len(literal) - 15) % 255])
    more = match - 4 - 15
    out += literal + b"\x01\x00" + b"\xff" * (more // 255) + bytes([more % 255])
    return out + bytes([5 << 4]) + bytes(5)


def lz4_header(flags, block_size_code):
    """Magic, flags, block size, header checksum (XXH32 of two bytes, second byte)."""
    described = bytes([flags, block_size_code << 4])
    return b"\x04\x22\x4d\x18" + described + bytes([xxh32(described) >> 8 & 0xFF])


def lz4_zeros(start, zeros):
    out = lz4_header(0x60, 7)
    block = lz4_block_of_zeros(start, min(zeros, LZ4_BLOCK_BYTES - len(start)))
    left = zeros - min(zeros, LZ4_BLOCK_BYTES - len(start))
    out += struct.pack("<I", len(block)) + block
    whole = lz4_block_of_zeros(b"", LZ4_BLOCK_BYTES)
    out += (struct.pack("<I", len(whole)) + whole) * (left // LZ4_BLOCK_BYTES)
    left %= LZ4_BLOCK_BYTES
    if left:
        out += struct.pack("<I", left | 0x80000000) + bytes(left) if left < 64 else b""
        if left >= 64:
            block = lz4_block_of_zeros(b"", left)
            out += struct.pack("<I", len(block)) + block
    return out + b"\x00\x00\x00\x00"


def xxh32(data):
    """XXH32 of fewer than 4 bytes with seed 0."""
    mask, value = 0xFFFFFFFF, (374761393 + len(data)) & 0xFFFFFFFF
    for byte in data:
        value = (value + byte * 374761393) & mask
        value = ((value << 11 | value >> 21) & mask) * 2654435761 & mask
    value = (value ^ value >> 15) * 2246822519 & mask
    value = (value ^ value >> 13) * 3266489917 & mask
    return value ^ value >> 16


ZSTD_BLOCK_BYTES = 128 << 10


def zstd_header(window_log):
    """A frame without content size; window descriptor with exponent window_log - 10."""
    return b"\x28\xb5\x2f\xfd" + bytes([0, (window_log - 10) << 3])


def zstd_zeros(start, zeros):
    out = zstd_header(20) + struct.pack("<I", len(start) << 3)[:3] + start
    whole, rest = divmod(zeros, ZSTD_BLOCK_BYTES)
    out += (struct.pack("<I", ZSTD_BLOCK_BYTES << 3 | 2)[:3] + b"\x00") * whole
    return out + struct.pack("<I", rest << 3 | 2 | 1)[:3] + b"\x00"


def gzipped(items, cut=None):
    """A gzip batch of the records, its payload cut after `cut` bytes."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    payload = (packer.compress(b"".join(items)) + packer.flush())[:cut]
    return records.batch(payload=payload, count=len(items), attributes=1)
