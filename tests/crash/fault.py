# SPDX-License-Identifier: Apache-2.0
"""What the scenarios of faults.py need: promises, a client, what a broker uses."""

import os
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "hostile"))
import encoded  # noqa: E402
import judge  # noqa: E402
import records  # noqa: E402
import tables  # noqa: E402
import wire  # noqa: E402

TOPIC = encoded.TOPIC
KEPT = {"retention.ms": "-1"}  # the records are of long ago


class Fault(Exception):
    """A promise that was not kept."""


SCENARIOS = []


def scenario(function):
    SCENARIOS.append(function)
    return function


def demand(condition, text):
    if not condition:
        raise Fault(text)


def eventually(condition, text, limit_s=10):
    end = time.monotonic() + limit_s
    while not condition():
        demand(time.monotonic() < end, text)
        time.sleep(0.02)


class Client:
    """Produces and fetches one record at a time."""

    def __init__(self, broker, topic=TOPIC):
        self.conversation, self.topic = judge.Conversation(broker.address), topic

    def produce(self, size=100, acks=-1):
        """(error code, base offset)"""
        return self.send(records.batch(records.records([os.urandom(size)])), acks)

    def produce_numbered(self, sequence):
        """The same of an idempotent producer."""
        now_ms = time.time_ns() // 1_000_000  # a producer whose last record is old is forgotten at a start
        fields = {"producer_id": 4711, "producer_epoch": 0, "base_sequence": sequence}
        fields |= {"base_timestamp": now_ms, "max_timestamp": now_ms}
        return self.send(records.batch(records.records([b"of a producer"]), **fields))

    def send(self, blob, acks=-1):
        self.conversation.say([encoded.produce(blob, topic=self.topic, acks=acks)])
        frame = self.conversation.answer()
        demand(frame is not None, "the connection of a producer was closed")
        row = tables.decode_response("Produce", 9, frame)[1]["Responses"][0]["PartitionResponses"][0]
        return row["ErrorCode"], row["BaseOffset"]

    def fetch_end(self, broker):
        with wire.Connection(broker.address) as connection:
            return connection.offsets([(self.topic, 0)])[self.topic, 0]

    def fetch(self, offset):
        """How many bytes of records there are."""
        self.conversation.say([encoded.fetch(topic=self.topic, offset=offset, MinBytes=1, MaxWaitMs=2000)])
        frame = self.conversation.answer()
        demand(frame is not None, "the connection of a consumer was closed")
        row = tables.decode_response("Fetch", 12, frame)[1]["Responses"][0]["Partitions"][0]
        demand(row["ErrorCode"] == 0, f"Fetch gave error {row['ErrorCode']}")
        return len(row["Records"] or b"")


def prepare(broker, topic=TOPIC, **settings):
    with wire.Connection(broker.address) as connection:
        connection.create_topics({topic: 1}, {**KEPT, **settings})

    def answers():
        client = Client(broker, topic)
        try:
            return client.produce()[0] == 0
        finally:
            client.conversation.close()

    eventually(answers, "the topic takes no records")


def errors_of(broker):
    text = broker.log_path.read_text(errors="replace")
    return [line for line in text.splitlines() if " ERROR " in line or "Sanitizer" in line or "assert" in line.lower()]


def quiet(broker):
    demand(broker.process.running(), f"the broker is gone: {broker.process.log_tail(1500)}")
    demand(not errors_of(broker), f"the log says {errors_of(broker)[:2]}")


def memory_mib(broker):
    """0 under a sanitizer, which keeps what was freed."""
    if "libasan" in pathlib.Path(f"/proc/{broker.pid()}/maps").read_text():
        return 0.0
    for line in pathlib.Path(f"/proc/{broker.pid()}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def cpu_s(broker):
    fields = pathlib.Path(f"/proc/{broker.pid()}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def descriptors(broker):
    return len(os.listdir(f"/proc/{broker.pid()}/fd"))


def newcomer_is_served(broker):
    try:
        with wire.Connection(broker.address, timeout_s=2) as connection:
            connection.api_versions()
        return True
    except OSError:
        return False
