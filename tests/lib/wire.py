# SPDX-License-Identifier: Apache-2.0
"""The few Kafka requests that a test driver itself needs, over a plain socket, in their oldest convenient versions.

Happy path: one Connection, one request at a time: create topics, list a topic's partitions, end offsets, a group's
committed offsets, the coordinator's view of a group, the removal of its static members. Failure modes: an error code in
an answer raises WireError with its number; a closed or silent connection raises OSError.
"""

import socket
import struct

PRODUCE, FETCH, LIST_OFFSETS, METADATA, OFFSET_FETCH, FIND_COORDINATOR = 0, 1, 2, 3, 9, 10
LEAVE_GROUP, DESCRIBE_GROUPS, API_VERSIONS, CREATE_TOPICS, DELETE_TOPICS = 13, 15, 18, 19, 20
NOT_COORDINATOR, UNKNOWN_MEMBER_ID = 16, 25


class WireError(Exception):
    """An error code in an answer."""

    def __init__(self, what, code):
        super().__init__(f"{what}: error code {code}")
        self.code = code


class Reader:
    """Takes values off the front of a response."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        value = struct.unpack_from(">" + form, self.data, self.at)[0]
        self.at += struct.calcsize(">" + form)
        return value

    def i16(self):
        return self.take("h")

    def i32(self):
        return self.take("i")

    def i64(self):
        return self.take("q")

    def text(self):
        size = self.i16()
        if size < 0:
            return None
        self.at += size
        return self.data[self.at - size : self.at].decode()

    def blob(self):
        size = self.i32()
        if size < 0:
            return None
        self.at += size
        return self.data[self.at - size : self.at]

    def array(self, element):
        return [element() for _ in range(self.i32())]


def text(value):
    """A nullable string as the old versions write it."""
    if value is None:
        return struct.pack(">h", -1)
    data = value.encode()
    return struct.pack(">h", len(data)) + data


def array(items):
    """An array of encoded items."""
    return struct.pack(">i", len(items)) + b"".join(items)


class Connection:
    """One connection to one broker."""

    def __init__(self, address, timeout_s=30):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=timeout_s)
        self.correlation = 0

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.socket.close()

    def _receive(self, size):
        data = b""
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                raise OSError("the broker closed the connection")
            data += part
        return data

    def ask(self, key, version, body):
        """Sends a request with header version 1 and gives the body of its answer."""
        self.correlation += 1
        frame = struct.pack(">hhi", key, version, self.correlation) + text("driver") + body
        self.socket.sendall(struct.pack(">i", len(frame)) + frame)
        answer = Reader(self._receive(struct.unpack(">i", self._receive(4))[0]))
        if answer.i32() != self.correlation:
            raise OSError("the answer has another request's correlation id")
        return answer

    def api_versions(self):
        """{key: (lowest, highest)} as the broker advertises them."""
        answer = self.ask(API_VERSIONS, 0, b"")
        code = answer.i16()
        if code:
            raise WireError("ApiVersions", code)
        return {key: (low, high) for key, low, high in answer.array(lambda: (answer.i16(), answer.i16(), answer.i16()))}

    def brokers(self):
        """[(node id, host, port)] of the live brokers, and the controller's node id."""
        answer = self.ask(METADATA, 1, array([]))
        found = answer.array(lambda: (answer.i32(), answer.text(), answer.i32(), answer.text())[:3])
        return found, answer.i32()

    def create_topics(self, topics, configs=None, timeout_ms=30000):
        """topics: {name: partitions}. A topic that is there already is an error."""
        settings = [text(key) + text(value) for key, value in (configs or {}).items()]
        rows = [
            text(name) + struct.pack(">ih", count, 1) + array([]) + array(settings) for name, count in topics.items()
        ]
        answer = self.ask(CREATE_TOPICS, 2, array(rows) + struct.pack(">i?", timeout_ms, False))
        answer.i32()
        for name, code, message in answer.array(lambda: (answer.text(), answer.i16(), answer.text())):
            if code:
                raise WireError(f"CreateTopics {name}: {message}", code)

    def delete_topic(self, name, timeout_ms=30000):
        """DeleteTopics v1; raises unless the topic is gone."""
        answer = self.ask(DELETE_TOPICS, 1, array([text(name)]) + struct.pack(">i", timeout_ms))
        answer.i32()  # throttle time
        for _, code in answer.array(lambda: (answer.text(), answer.i16())):
            if code:
                raise WireError(f"delete {name}", code)

    def partitions(self, names):
        """{topic: [(partition, error, leader)]} of the named topics."""
        answer = self.ask(METADATA, 1, array([text(name) for name in names]))
        answer.array(lambda: (answer.i32(), answer.text(), answer.i32(), answer.text()))
        answer.i32()

        def partition():
            code, index, leader = answer.i16(), answer.i32(), answer.i32()
            answer.array(answer.i32)
            answer.array(answer.i32)
            return index, code, leader

        def topic():
            code, name = answer.i16(), answer.text()
            answer.take("?")
            rows = sorted(answer.array(partition))
            if code:
                raise WireError(f"Metadata {name}", code)
            return name, rows

        return dict(answer.array(topic))

    def offsets(self, partitions, when=-1):
        """{(topic, partition): offset} at the end (-1) or at the start (-2) of each of the (topic, partition) pairs."""
        by_topic = {}
        for topic, partition in partitions:
            by_topic.setdefault(topic, []).append(struct.pack(">iq", partition, when))
        rows = [text(topic) + array(items) for topic, items in by_topic.items()]
        answer = self.ask(LIST_OFFSETS, 1, struct.pack(">i", -1) + array(rows))
        found = {}
        for topic, items in answer.array(
            lambda: (answer.text(), answer.array(lambda: (answer.i32(), answer.i16(), answer.i64(), answer.i64())))
        ):
            for partition, code, _, offset in items:
                if code:
                    raise WireError(f"ListOffsets {topic}-{partition}", code)
                found[topic, partition] = offset
        return found

    def find_coordinator(self, group):
        """Error code of FindCoordinator; waits for nobody."""
        return self.ask(FIND_COORDINATOR, 0, text(group)).i16()

    def committed(self, group, partitions):
        """{(topic, partition): committed offset or -1}."""
        by_topic = {}
        for topic, partition in partitions:
            by_topic.setdefault(topic, []).append(struct.pack(">i", partition))
        rows = [text(topic) + array(items) for topic, items in by_topic.items()]
        answer = self.ask(OFFSET_FETCH, 1, text(group) + array(rows))
        found = {}
        for topic, items in answer.array(
            lambda: (answer.text(), answer.array(lambda: (answer.i32(), answer.i64(), answer.text(), answer.i16())))
        ):
            for partition, offset, _, code in items:
                if code:
                    raise WireError(f"OffsetFetch {topic}-{partition}", code)
                found[topic, partition] = offset
        if set(found) != set(partitions):
            raise WireError("OffsetFetch: not every partition is answered", NOT_COORDINATOR)
        return found

    def group_state(self, group):
        """(state, protocol, [(member id, client id)]) from DescribeGroups v0."""
        answer = self.ask(DESCRIBE_GROUPS, 0, array([text(group)]))
        answer.i32()
        code, _, state, _, protocol = answer.i16(), answer.text(), answer.text(), answer.text(), answer.text()
        if code:
            raise WireError(f"DescribeGroups {group}", code)

        def member():
            row = answer.text(), answer.text()
            answer.text(), answer.blob(), answer.blob()
            return row

        return state, protocol, answer.array(member)

    def remove_instances(self, group, instance_ids):
        """Removes static members from a group, as an administrator does: LeaveGroup v3 names them by instance. One that
        is not there any more is no error."""
        rows = [text("") + text(instance) for instance in instance_ids]
        answer = self.ask(LEAVE_GROUP, 3, text(group) + array(rows))
        answer.i32()
        codes = [answer.i16()] + [code for _, _, code in answer.array(lambda: (answer.text(), answer.text(), answer.i16()))]
        if set(codes) - {0, UNKNOWN_MEMBER_ID}:
            raise WireError(f"LeaveGroup {group} {instance_ids}: {codes}", max(codes))
