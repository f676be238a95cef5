# SPDX-License-Identifier: Apache-2.0
"""Retention comes log.initial.task.delay.ms after a start, as Kafka's, and not only after log.retention.check.interval.ms: a broker that is
started again and again deletes what is old, too. And not before, if the interval is shorter.
"""

import time

import answers
import broker
import records
import wire

# It does not come to a log that is being loaded: on a slow machine the later ones show it.
DELAYS_MS, SLACK_S = (20, 500, 5000, 30000), 5
HOUR_MS, RECORDS = 3_600_000, 100


def produce_old_record(api):
    old_ms = int(time.time() * 1000) - HOUR_MS
    batch = records.batch(records.records([b"v"]), base_timestamp=old_ms, max_timestamp=old_ms)
    topic = {"Name": "t", "PartitionData": [{"Index": 0, "Records": batch}]}
    answer = api.ask("Produce", 8, {"TransactionalId": None, "Acks": -1, "TimeoutMs": 5000, "TopicData": [topic]})
    assert answer["Responses"][0]["PartitionResponses"][0]["ErrorCode"] == 0, answer


def log_start(server):
    """None: it still loads."""
    try:
        with wire.Connection(server.address) as connection:
            return connection.offsets([("t", 0)], -2)["t", 0]
    except wire.WireError:
        return None


def is_deleted(server, delay_ms):
    """Whether the first retention after a start takes the records."""
    server.properties["log.initial.task.delay.ms"] = delay_ms
    server.start()
    end = time.monotonic() + delay_ms / 1000 + SLACK_S
    while (start := log_start(server)) != RECORDS and time.monotonic() < end:
        pass
    assert server.stop() == 0
    return start == RECORDS


def main():
    with broker.Tailrace({"log.retention.check.interval.ms": 1, "log.initial.task.delay.ms": HOUR_MS}) as server:
        server.start()
        with wire.Connection(server.address) as connection:
            connection.create_topics({"t": 1}, {"retention.ms": "1000"})
        for _ in range(RECORDS):
            produce_old_record(answers.Api(server.address))
            assert log_start(server) == 0, "a short interval does not wait for the delay"
        assert server.stop() == 0
        server.properties["log.retention.check.interval.ms"] = HOUR_MS
        assert any(is_deleted(server, delay_ms) for delay_ms in DELAYS_MS), "the old records are kept"
    print("old records go soon after a start")


if __name__ == "__main__":
    main()
