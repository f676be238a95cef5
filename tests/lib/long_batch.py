# SPDX-License-Identifier: Apache-2.0
"""Batches that are short on the wire and long to check: they unfold to many MiB.

Happy path: gzip_one_record(120 << 20) is a valid batch of a few KiB whose only record has a value of about 120 MiB of
zeros. Failure modes: none; what is asked for is made.
"""

import functools
import struct
import zlib

import records
import wire
from tables import zigzag

GZIP, LZ4, ZSTD = 1, 3, 4
ZSTD_BLOCK, LZ4_BLOCK = 128 << 10, 4 << 20


def _head(unfolded):
    """Everything of a record before its value of zeros; the header count behind it is a zero, too."""
    value = unfolded - 32
    body = b"\x00" + zigzag(0) + zigzag(0) + zigzag(-1) + zigzag(value)
    return zigzag(len(body) + value + 1) + body, value + 1


def _batch(codec, payload, count=1, **fields):
    return records.batch(payload=payload, attributes=codec, count=count, **fields)


def _gzip(parts):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([packer.compress(part) for part in parts] + [packer.flush()])


@functools.cache
def _gzip_zeros(unfolded):
    head, zeros = _head(unfolded)
    return _gzip([head] + [bytes(min(1 << 20, zeros - at)) for at in range(0, zeros, 1 << 20)])


def gzip_one_record(unfolded, **fields):
    """A record of `unfolded` bytes."""
    return _batch(GZIP, _gzip_zeros(unfolded), **fields)


def gzip_least_records(unfolded, **fields):
    """As many records as fit: no key, no value. Their number is a power of two."""
    count = 1
    while 2 * count * 10 <= unfolded:
        count *= 2
    made = (zigzag(len(body)) + body for body in (b"\x00\x00" + zigzag(i) + b"\x01\x01\x00" for i in range(count)))
    return _batch(GZIP, _gzip(iter(lambda: b"".join(part for _, part in zip(range(65536), made)), b"")), count, **fields)


def zstd_one_record(unfolded, **fields):
    """The same in zstd: one raw block, then blocks of a repeated zero."""
    head, zeros = _head(unfolded)
    payload = struct.pack("<IBB", 0xFD2FB528, 0, 0x38)  # no single segment, no content size; a window of 128 KiB
    payload += struct.pack("<I", len(head) << 3)[:3] + head
    for at in range(0, zeros, ZSTD_BLOCK):
        size = min(ZSTD_BLOCK, zeros - at)
        payload += struct.pack("<I", size << 3 | 1 << 1 | (at + size == zeros))[:3] + b"\0"
    return _batch(ZSTD, payload, **fields)


def _lz4_zeros(size):
    """A block of lz4: one literal zero, a long match of distance 1, five literal zeros."""
    left = size - 6 - 4 - 15
    return b"\x1f\0\x01\0" + b"\xff" * (left // 255) + bytes([left % 255]) + b"\x50" + bytes(5)


def lz4_one_record(unfolded, **fields):
    """The same in lz4, whose best ratio is 255."""
    head, zeros = _head(unfolded)
    payload = bytes.fromhex("04224d18607073")  # version 1, independent blocks of 4 MiB, the header's checksum
    payload += struct.pack("<I", 1 << 31 | len(head)) + head
    while zeros > 0:
        size = min(LZ4_BLOCK, zeros) if zeros - LZ4_BLOCK > 64 or zeros <= LZ4_BLOCK else zeros - 64
        block = _lz4_zeros(size)
        payload += struct.pack("<I", len(block)) + block
        zeros -= size
    return _batch(LZ4, payload + bytes(4), **fields)


def small(**fields):
    """One record of a hundred bytes."""
    return records.batch(records.records([b"v" * 100]), **fields)


def produce_body(topic, partition, batch, acks=-1):
    """The body of Produce v7 for one partition."""
    row = struct.pack(">ii", partition, len(batch)) + batch
    return wire.text(None) + struct.pack(">hi", acks, 30000) + wire.array([wire.text(topic) + wire.array([row])])


def produced(answer):
    """(error code, base offset) of the only row of a Produce v7 answer."""
    rows = answer.array(lambda: (answer.text(), answer.array(lambda: [answer.take(form) for form in "ihqqq"])))
    _, code, offset, _, _ = rows[0][1][0]
    return code, offset


def produce(connection, topic, partition, batch):
    """Sends one batch and waits: (error code, base offset)."""
    return produced(connection.ask(wire.PRODUCE, 7, produce_body(topic, partition, batch)))
