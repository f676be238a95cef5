# SPDX-License-Identifier: Apache-2.0
"""The byte limits of Fetch, and Produce requests of old versions that bring nothing, over a plain socket.

max_bytes holds for the first partition too, except for its first batch; a partition whose first batch is larger than
its own limit gives it only if it is the first with data (traps 25, 68).
"""

import struct
import zlib

import broker
import wire

PARTITIONS, BATCHES, VALUE_SIZE = 3, 20, 1000


def message(value):
    """A message set of one message of magic 0."""
    body = struct.pack(">bbii", 0, 0, -1, len(value)) + value
    packed = struct.pack(">I", zlib.crc32(body)) + body
    return struct.pack(">qi", 0, len(packed)) + packed


def produce(connection, version, partition, records):
    """(error code, base offset)"""
    rows = wire.array([struct.pack(">i", partition) + struct.pack(">i", len(records)) + records])
    answer = connection.ask(wire.PRODUCE, version, struct.pack(">hi", -1, 10000) + wire.array([wire.text("t") + rows]))
    (_, rows), = answer.array(
        lambda: (answer.text(), answer.array(lambda: (answer.i32(), answer.i16(), answer.i64(), version > 1 and answer.i64())))
    )
    return rows[0][1:3]


def fetch(connection, max_bytes, partition_max_bytes):
    """Bytes of records that version 4 gives for each of the partitions, from offset 0."""
    partitions = wire.array([struct.pack(">iqi", p, 0, partition_max_bytes) for p in range(PARTITIONS)])
    head = struct.pack(">iiiib", -1, 1000, 1, max_bytes, 0)
    answer = connection.ask(wire.FETCH, 4, head + wire.array([wire.text("t") + partitions]))
    answer.i32()

    def partition():
        index, code, _, _ = answer.i32(), answer.i16(), answer.i64(), answer.i64()
        answer.array(lambda: (answer.i64(), answer.i64()))
        assert code == 0, code
        return index, len(answer.blob())

    (_, rows), = answer.array(lambda: (answer.text(), answer.array(partition)))
    return [size for _, size in sorted(rows)]


def main():
    with broker.Tailrace({"tailrace.cores": 2}) as server:
        server.start()
        with wire.Connection(server.address) as connection:
            connection.create_topics({"t": PARTITIONS})
            while any(code for _, code, _ in connection.partitions(["t"])["t"]):
                pass
            for version in range(3):
                for nothing in (b"", message(b"x")[:-1]):
                    assert produce(connection, version, 0, nothing) == (0, -1)
            for i in range(BATCHES):
                for partition in range(PARTITIONS):
                    assert produce(connection, 2, partition, message(b"x" * VALUE_SIZE)) == (0, i)
            one = fetch(connection, 1, 1 << 20)[0]
            assert VALUE_SIZE < one < 2 * VALUE_SIZE, one
            assert fetch(connection, 1, 1 << 20) == [one, 0, 0]
            assert fetch(connection, 0, 0) == [one, 0, 0]
            assert fetch(connection, 1 << 20, 1) == [one, 0, 0]
            assert fetch(connection, 3 * one, 1 << 20) == [3 * one, 0, 0]
            assert fetch(connection, 1 << 20, 3 * one) == [3 * one] * PARTITIONS
            assert fetch(connection, 5 * one, 2 * one) == [2 * one, 2 * one, 0]
            assert fetch(connection, 1 << 20, 1 << 20) == [BATCHES * one] * PARTITIONS
        assert server.stop() == 0
    print("limits of Fetch are kept; empty Produce requests of versions 0 to 2 are answered")


if __name__ == "__main__":
    main()
