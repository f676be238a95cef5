# SPDX-License-Identifier: Apache-2.0
"""Record batches of magic 2: made, however wrong, and read.

Happy path: batch([record(b"k", b"v")]) is a valid batch; every header field can be given another value; read(data)
gives (offset, key, value, headers are skipped) of every record of uncompressed and gzip batches. Failure modes: read()
raises ValueError on a checksum that is wrong or a length that does not fit.
"""

import struct
import zlib

from tables import _Reader, zigzag

HEADER_BYTES = 61


def _crc_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _crc_table()


def crc32c(data):
    """The Castagnoli checksum."""
    crc, table = 0xFFFFFFFF, _TABLE
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def record(key=None, value=b"", offset_delta=0, timestamp_delta=0, headers=(), **wrong):
    """One record; wrong: length, key_length, value_length, header_count in place of the true ones."""

    def sized(data, name):
        size = wrong.get(name, -1 if data is None else len(data))
        return zigzag(size) + (data or b"")

    body = b"\x00" + zigzag(timestamp_delta) + zigzag(offset_delta) + sized(key, "key_length")
    body += sized(value, "value_length") + zigzag(wrong.get("header_count", len(headers)))
    for name, data in headers:
        body += zigzag(len(name)) + name + sized(data, "header_length")
    return zigzag(wrong.get("length", len(body))) + body


def records(values):
    """Records with these values, numbered."""
    return [record(value=value, offset_delta=index) for index, value in enumerate(values)]


def batch(items=(), payload=None, **fields):
    """A batch of encoded records, or of a payload (compressed, broken) in their place.

    fields: base_offset, length, leader_epoch, magic, crc, attributes, last_offset_delta, base_timestamp,
    max_timestamp, producer_id, producer_epoch, base_sequence, count. The times are of 2023 if they are not given: retention
    takes such a batch 30 s after a start, unless the test says that records stay (log.retention.ms or retention.ms of -1).
    """
    data = b"".join(items) if payload is None else payload
    count = fields.get("count", len(items))
    tail = struct.pack(
        ">hiqqqhii",
        fields.get("attributes", 0),
        fields.get("last_offset_delta", count - 1),
        fields.get("base_timestamp", 1_700_000_000_000),
        fields.get("max_timestamp", 1_700_000_000_000),
        fields.get("producer_id", -1),
        fields.get("producer_epoch", -1),
        fields.get("base_sequence", -1),
        count,
    )
    tail += data
    crc = fields.get("crc")
    return (
        struct.pack(
            ">qiibI",
            fields.get("base_offset", 0),
            fields.get("length", HEADER_BYTES - 12 + len(data)),
            fields.get("leader_epoch", -1),
            fields.get("magic", 2),
            crc32c(tail) if crc is None else crc,
        )
        + tail
    )


def _signed(reader):
    value = reader.uvarint()
    return value >> 1 ^ -(value & 1)


def read_batches(data):
    """[(first 61 bytes unpacked as a dict, payload)] of the whole batches; what is cut at the end is left."""
    at = 0
    while at + HEADER_BYTES <= len(data):
        base, length, epoch, magic, crc = struct.unpack_from(">qiibI", data, at)
        if at + 12 + length > len(data):
            return
        if magic != 2 or length < HEADER_BYTES - 12:
            raise ValueError(f"batch at byte {at}: magic {magic}, length {length}")
        attributes, delta, first, last, pid, pepoch, sequence, count = struct.unpack_from(">hiqqqhii", data, at + 21)
        yield {
            "base_offset": base,
            "leader_epoch": epoch,
            "crc": crc,
            "attributes": attributes,
            "last_offset": base + delta,
            "base_timestamp": first,
            "max_timestamp": last,
            "producer_id": pid,
            "producer_epoch": pepoch,
            "base_sequence": sequence,
            "count": count,
        }, data[at + 21 : at + 12 + length]
        at += 12 + length


def read(data, check_crc=True):
    """[(offset, key, value)] of every record."""
    found = []
    for head, tail in read_batches(data):
        if check_crc and crc32c(tail) != head["crc"]:
            raise ValueError(f"batch {head['base_offset']}: wrong checksum")
        codec, payload = head["attributes"] & 7, tail[40:]
        if codec == 1:
            payload = zlib.decompress(payload, 31)
        elif codec:
            raise ValueError(f"batch {head['base_offset']}: codec {codec} is not read here")
        reader = _Reader(payload)
        for _ in range(head["count"]):
            size = _signed(reader)
            end = reader.at + size
            reader.at += 1
            _signed(reader)
            offset = head["base_offset"] + _signed(reader)
            key_size = _signed(reader)
            key = reader.bytes(key_size) if key_size >= 0 else None
            value_size = _signed(reader)
            value = reader.bytes(value_size) if value_size >= 0 else None
            found.append((offset, key, value))
            reader.at = end
    return found
