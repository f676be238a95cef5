# SPDX-License-Identifier: Apache-2.0
"""Retention comes log.initial.task.delay.ms after a start, as Kafka's, and not only after log.retention.check.interval.ms: a broker that is
started again and again deletes what is old, too.
"""

import time

import answers
import broker
import records
import wire

DEADLINE_S = 30


def produce_old_record(api):
    old_ms = int(time.time() * 1000) - 3_600_000
    batch = records.batch(records.records([b"v"]), base_timestamp=old_ms, max_timestamp=old_ms)
    topic = {"Name": "t", "PartitionData": [{"Index": 0, "Records": batch}]}
    answer = api.ask("Produce", 8, {"TransactionalId": None, "Acks": -1, "TimeoutMs": 5000, "TopicData": [topic]})
    assert answer["Responses"][0]["PartitionResponses"][0]["ErrorCode"] == 0, answer


def log_start(server):
    with wire.Connection(server.address) as connection:
        return connection.offsets([("t", 0)], -2)["t", 0]


def has_begun_later(server):
    try:
        return log_start(server) == 1
    except wire.WireError:  # it still loads
        return False


def main():
    with broker.Tailrace() as server:
        server.start()
        with wire.Connection(server.address) as connection:
            connection.create_topics({"t": 1}, {"retention.ms": "1000"})
        produce_old_record(answers.Api(server.address))
        assert log_start(server) == 0
        assert server.stop() == 0
        server.properties["log.initial.task.delay.ms"] = 20
        server.start()
        end = time.monotonic() + DEADLINE_S
        while not has_begun_later(server):
            assert time.monotonic() < end, "the old record is kept"
        assert server.stop() == 0
    print("old records go soon after a start")


if __name__ == "__main__":
    main()
