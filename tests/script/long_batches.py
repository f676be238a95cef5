# SPDX-License-Identifier: Apache-2.0
"""Batches that take long to check, over plain sockets: what is behind one on its connection waits for it, others go on,
and neither a client that leaves nor a broker that stops in the middle does harm.

Produce requests of one connection take effect in the order in which they came (trap 60), so the sequence numbers of an
idempotent producer are never out of order, whether a batch is checked at once or by a thread.
"""

import struct

import broker
import long_batch
import wire

UNFOLDED = 100 << 20
LAST_ATTRIBUTE_BYTE, INVALID_RECORD, CORRUPT_MESSAGE = 22, 87, 2
LIST_OFFSETS_VERSION = 1


class Pipeline(wire.Connection):
    """A connection that sends without waiting."""

    def send(self, body):
        """Produce v7."""
        self.correlation += 1
        frame = struct.pack(">hhi", wire.PRODUCE, 7, self.correlation) + wire.text("driver") + body
        self.socket.sendall(struct.pack(">i", len(frame)) + frame)

    def receive(self, correlation):
        """The next answer, which must be that request's."""
        answer = wire.Reader(self._receive(struct.unpack(">i", self._receive(4))[0]))
        assert answer.i32() == correlation
        return long_batch.produced(answer)


def log_end(connection, topic, partition=0):
    """The offset behind the last record that is committed."""
    rows = wire.array([wire.text(topic) + wire.array([struct.pack(">iq", partition, -1)])])
    answer = connection.ask(wire.LIST_OFFSETS, LIST_OFFSETS_VERSION, struct.pack(">i", -1) + rows)
    rows = answer.array(lambda: (answer.text(), answer.array(lambda: [answer.take(form) for form in "ihqq"])))
    _, code, _, offset = rows[0][1][0]
    assert code == 0, code
    return offset


def log_end_becomes(connection, topic, offset):
    """Asks until it is there; the test's time limit ends what never comes."""
    while log_end(connection, topic) < offset:
        pass
    assert log_end(connection, topic) == offset


def order_is_kept(address):
    """Long, short, short, long...: offsets and answers in order, sequence numbers accepted."""
    makers = (long_batch.zstd_one_record, long_batch.lz4_one_record, long_batch.gzip_one_record)
    with Pipeline(address, timeout_s=100) as connection:
        sequence = 0
        for make in makers:
            for batch in (make, None, None, make, None):
                fields = {"producer_id": 7, "producer_epoch": 0, "base_sequence": sequence}
                data = batch(UNFOLDED, **fields) if batch else long_batch.small(**fields)
                connection.send(long_batch.produce_body("order", 0, data))
                sequence += 1
        for i in range(sequence):
            assert connection.receive(i + 1) == (0, i)


def others_go_on(address):
    """The same thread of this script sends the long one first, and has its short answer before it reads the long."""
    with Pipeline(address, timeout_s=100) as slow, wire.Connection(address) as other:
        slow.send(long_batch.produce_body("others", 0, long_batch.gzip_one_record(UNFOLDED)))
        assert long_batch.produce(other, "others", 1, long_batch.small()) == (0, 0)
        other.api_versions()
        assert slow.receive(1) == (0, 0)


def errors_are_the_same(address):
    """What is wrong with a long batch is said, and what follows it is taken."""
    good = long_batch.lz4_one_record(UNFOLDED)
    corrupt = good[:-1] + b"\1"
    cut = long_batch.lz4_one_record(UNFOLDED, count=2, last_offset_delta=1)
    large = long_batch.zstd_one_record(200 << 20)
    with Pipeline(address, timeout_s=100) as connection:
        for batch in (corrupt, cut, large, long_batch.small()):
            connection.send(long_batch.produce_body("errors", 0, batch))
        answers = [connection.receive(i + 1)[0] for i in range(4)]
        assert answers == [CORRUPT_MESSAGE, INVALID_RECORD, INVALID_RECORD, 0], answers


def leaving_does_no_harm(address):
    """A client sends and leaves at once; what was received whole is appended, as by Kafka."""
    body = long_batch.produce_body("left", 0, long_batch.gzip_one_record(UNFOLDED), acks=0)
    for _ in range(4):
        with Pipeline(address) as connection:
            connection.send(body)
            connection.send(long_batch.produce_body("left", 0, long_batch.small(), acks=0))
    with wire.Connection(address) as connection:
        log_end_becomes(connection, "left", 8)


def main():
    topics = {"order": 1, "others": 2, "errors": 1, "left": 1, "stop": 1}
    with broker.Tailrace({"tailrace.cores": 1, "log.retention.ms": -1}) as server:
        server.start()
        with wire.Connection(server.address) as connection:
            connection.create_topics(topics)
            while any(code for rows in connection.partitions(list(topics)).values() for _, code, _ in rows):
                pass
        order_is_kept(server.address)
        others_go_on(server.address)
        errors_are_the_same(server.address)
        leaving_does_no_harm(server.address)
        # More than can be checked at once are there when the broker is told to stop.
        waiting = [Pipeline(server.address) for _ in range(12)]
        for connection in waiting:
            connection.send(long_batch.produce_body("stop", 0, long_batch.gzip_one_record(UNFOLDED)))
        with wire.Connection(server.address) as connection:
            connection.api_versions()
        assert server.stop() == 0
        for connection in waiting:
            connection.socket.close()
        server.start()
        with wire.Connection(server.address) as connection:
            assert log_end(connection, "order") == 15
            assert log_end(connection, "stop") <= len(waiting)
        assert server.stop() == 0
    print("long batches keep their order and nobody from anything")


if __name__ == "__main__":
    main()
