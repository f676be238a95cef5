# SPDX-License-Identifier: Apache-2.0
"""Plays data requests (Produce, Fetch, ListOffsets, ...) against one broker and writes down the answers (data_answers).

Happy path: a recorded answer (lib/answers.py) has a name for everything that differs from run to run: topic ids, session
ids, times of now, ports; records are shown by length and digest; an answer that several versions give is one line.
Failure modes: those of lib/answers.py; a topic that cannot be made is an assertion.
"""

import hashlib
import json
import pathlib
import re
import struct
import time
import zlib

import answers
import records

PRODUCE, FETCH, LIST_OFFSETS, METADATA = "Produce", "Fetch", "ListOffsets", "Metadata"
CREATE_TOPICS, DELETE_TOPICS, DELETE_RECORDS = "CreateTopics", "DeleteTopics", "DeleteRecords"
OFFSET_FOR_LEADER_EPOCH, DESCRIBE_PRODUCERS = "OffsetForLeaderEpoch", "DescribeProducers"
BATCH_TIME_MS = 1_700_000_000_000
DAY_MS = 86_400_000
EXISTS = 36
ORDERED = ("OldStyleOffsets",)


class Names:
    """What is written in place of values that differ from run to run."""

    def __init__(self):
        self.topic_ids, self.sessions = {}, {}
        self.started_ms = int(time.time() * 1000)

    def number(self, value):
        return "NOW" if abs(value - self.started_ms) < 2 * DAY_MS else value

    def topic(self, name):
        return re.sub(r"\d+$", "#", name)  # a topic of one version

    def __call__(self, key, value):
        if key == "TopicId":
            return next((self.topic(topic) for topic, known in self.topic_ids.items() if known == value), value.hex())
        if key == "Records":
            return shown_records(value)
        if key == "SessionId" and value != 0:
            return self.sessions.setdefault(value, f"session#{len(self.sessions)}")
        if key == "Port" and value > 0:
            return "PORT"
        if key in ("Name", "Topic"):
            return self.topic(value)
        if isinstance(value, str):
            return re.sub(r"\d{13}", lambda m: str(self.number(int(m[0]))), value)
        return self.number(value) if isinstance(value, int) and not isinstance(value, bool) else value


class Player(answers.Player):
    """Knows topics, and gathers the versions that give one answer."""

    def __init__(self, address):
        self.names = Names()
        self.started_ms, self.topic_ids = self.names.started_ms, self.names.topic_ids
        super().__init__(address, self.names, ordered=ORDERED)

    # ---- topics
    def create(self, name, partitions=1, **configs):
        """Creates a topic, waits until it is served, and remembers its id."""
        rows = [{"Name": key.replace("_", "."), "Value": str(value)} for key, value in configs.items()]
        topic = {"Name": name, "NumPartitions": partitions, "ReplicationFactor": 1, "Configs": rows}
        for _ in range(200):
            code = self.on().ask(CREATE_TOPICS, 4, {"Topics": [topic], "TimeoutMs": 10000})["Topics"][0]["ErrorCode"]
            if code != EXISTS:  # one that was just deleted is there for a moment yet
                break
            time.sleep(0.05)
        assert code == 0, (name, code)
        asked = {"Name": name, "Partitions": [{"PartitionIndex": i, "Timestamp": -2} for i in range(partitions)]}
        for _ in range(200):
            answer = self.on().ask(LIST_OFFSETS, 1, {"ReplicaId": -1, "Topics": [asked]})
            if all(row["ErrorCode"] == 0 for row in answer["Topics"][0]["Partitions"]):
                break
            time.sleep(0.05)
        known = self.on().ask(METADATA, 12, {"Topics": [{"Name": name}], "AllowAutoTopicCreation": False})["Topics"][0]
        self.topic_ids[name] = known["TopicId"]

    def delete(self, name):
        answer = self.on("admin").ask(DELETE_TOPICS, 1, {"TopicNames": [name], "TimeoutMs": 10000})
        assert answer["Responses"][0]["ErrorCode"] == 0, answer

    def delete_records(self, name, offset, partition=0):
        rows = [{"Name": name, "Partitions": [{"PartitionIndex": partition, "Offset": offset}]}]
        answer = self.on("admin").ask(DELETE_RECORDS, 0, {"Topics": rows, "TimeoutMs": 10000})
        assert answer["Topics"][0]["Partitions"][0]["ErrorCode"] == 0, answer

    def append(self, name, data, partition=0):
        """Appends a batch, acknowledged by all: the high watermark is behind it."""
        answer = self.on("admin").ask(PRODUCE, 9, produce(9, [(name, partition, data)]))
        row = answer["Responses"][0]["PartitionResponses"][0]
        assert row["ErrorCode"] == 0, (name, row)
        return row["BaseOffset"]

    # ---- the answers
    def write(self, what, answer):
        """Takes the answer in: `what` ends with " v" and the version."""
        what, _, version = what.rpartition(" v")
        self.lines[-1][1].setdefault((what, self.shown(answer)), []).append(int(version))

    def shown(self, answer):
        """Fetch rows one by one: how they are put together by topic is the broker's choice."""
        if answer == answers.CLOSED:
            return answer
        shown = self.normal(answer)
        shown.pop("ThrottleTimeMs", None)
        if not any("Partitions" in row for row in shown.get("Responses", [])):
            return json.dumps(shown, sort_keys=True)
        rows = [
            {"Topic": topic.get("Topic", topic.get("TopicId")), **row}
            for topic in shown.pop("Responses")
            for row in topic["Partitions"]
        ]
        rows.sort(key=lambda row: (str(row["Topic"]), row["PartitionIndex"]))
        return " ".join(json.dumps(part, sort_keys=True) for part in [shown, *rows])

    def wait_until_taken(self, on, within_s=20):
        """Waits until the broker has read what was sent. The thread that serves a connection may not have run for a while
        on a busy machine: what is done meanwhile over another connection would come first."""
        end = time.monotonic() + within_s
        while unread_by_peer(self.on(on).socket) > 0:
            assert time.monotonic() < end, f"the broker does not read from {on}"
            time.sleep(0.01)

    def receive_soon(self, what, on, within_s):
        """The answer to what was sent before; later than that is told."""
        begin = time.monotonic()
        answer = self.on(on).receive()
        late = "" if time.monotonic() - begin < within_s else "LATE, "
        self.write(late + what, answer)
        return answer

    def play(self, scenarios):
        for scenario in scenarios:
            self.lines.append((scenario.__name__, {}))
            scenario(self)
        lines = []
        for name, given in self.lines:
            lines.append(f"== {name}")
            lines += [f"{what} v{ranges(versions)}: {line}" for (what, line), versions in given.items()]
        return lines


def unread_by_peer(connection):
    """The bytes that wait in the receive queue of the connection's other end, which is on this machine too."""
    ports = f"{connection.getpeername()[1]:04X}", f"{connection.getsockname()[1]:04X}"
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):  # a JVM's sockets are in the latter
        for line in pathlib.Path(table).read_text(encoding="ascii").splitlines()[1:]:
            local, remote, queues = (line.split()[i] for i in (1, 2, 4))
            if (local.rpartition(":")[2], remote.rpartition(":")[2]) == ports:
                return int(queues.rpartition(":")[2], 16)
    return 0  # it has been closed: the answer tells


def shown_records(value):
    """Length, first offset and digest of the whole batches. Kafka cuts at the byte limit, we before it."""
    if value is None:
        return None
    data, size = value, 0
    while size + 12 <= len(data) and size + 12 + struct.unpack_from(">i", data, size + 8)[0] <= len(data):
        size += 12 + struct.unpack_from(">i", data, size + 8)[0]
    if size == 0:
        return ""
    first = struct.unpack_from(">q", data)[0]
    return f"{size} bytes from {first} {hashlib.sha256(data[:size]).hexdigest()[:12]}"


def ranges(numbers):
    """[0, 1, 2, 5, 5] as "0-2,5,5"."""
    parts = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in parts)


def legacy(magic, value, key=None, offset=0, timestamp=BATCH_TIME_MS, attributes=0, crc=None):
    """A message of magic 0 or 1."""

    def sized(data):
        return struct.pack(">i", -1) if data is None else struct.pack(">i", len(data)) + data

    body = struct.pack(">bb", magic, attributes) + (struct.pack(">q", timestamp) if magic else b"")
    body += sized(key) + sized(value)
    crc = zlib.crc32(body) if crc is None else crc
    return struct.pack(">qiI", offset, len(body) + 4, crc) + body


def batch(made=1, size=20, **fields):
    """A batch of `made` records with a key and a value of `size` bytes; fields as in records.batch()."""
    items = [records.record(b"k%d" % i, b"v" * size, i) for i in range(made)]
    return records.batch(items, **fields)


def by_topic(rows):
    """{topic: [(partition, rest...)]} in order."""
    topics = {}
    for topic, *rest in rows:
        topics.setdefault(topic, []).append(rest)
    return topics


def produce(version, rows, acks=-1, transactional_id=None, **more):
    """rows: (topic, partition, bytes or None)"""
    topics = [
        {
            "Name": topic,
            "PartitionData": [{"Index": p, "Records": data} for p, data in items],
        }
        for topic, items in by_topic(rows).items()
    ]
    fields = {"Acks": acks, "TimeoutMs": 10000, "TopicData": topics, **more}
    if version >= 3:
        fields["TransactionalId"] = transactional_id
    return fields
