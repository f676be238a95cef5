# SPDX-License-Identifier: Apache-2.0
"""What a case may expect of the broker, each a small class with check(conversation).

Happy path: check() returns None. Failure modes: it returns one line that says what came instead.
"""

import socket
import struct
import time

import tables

ANSWER_LIMIT_S = 10


class Conversation:
    """One connection on which a case says what it has to say."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=ANSWER_LIMIT_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.port = self.socket.getsockname()[1]

    def say(self, parts, pause_s=0):
        """Sends the parts, each by a write of its own; a broker that has closed meanwhile is not an error here."""
        try:
            for part in parts:
                self.socket.sendall(part)
                if pause_s:
                    time.sleep(pause_s)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def take(self, size):
        """Exactly size bytes; None when the broker closed before the first, TimeoutError when it stays silent."""
        data = bytearray()
        while len(data) < size:
            try:
                part = self.socket.recv(size - len(data))
            except ConnectionResetError:
                part = b""
            if not part:
                if data:
                    raise ValueError(f"closed in the middle of an answer ({len(data)} of {size} bytes)")
                return None
            data += part
        return bytes(data)

    def answer(self):
        """The next response frame, or None when the connection was closed."""
        size = self.take(4)
        return None if size is None else self.take(struct.unpack(">i", size)[0])

    def close(self):
        self.socket.close()


class Closed:
    """The connection is closed without an answer, with one line in the log that gives the reason."""

    def __init__(self, reason=""):
        self.reason = reason

    def check(self, conversation):
        try:
            answer = conversation.answer()
        except TimeoutError:
            return f"no end of the connection within {ANSWER_LIMIT_S} s"
        return None if answer is None else f"answered {answer[:60].hex()}, should have closed"


class Answer:
    """An answer of this API and version, in which every path of `wanted` has its value (or one of a set)."""

    reason = None

    def __init__(self, api, version, wanted=None, correlation=1, **paths):
        self.api, self.version, self.correlation = api, version, correlation
        self.wanted = {**(wanted or {}), **paths}

    def check(self, conversation):
        try:
            frame = conversation.answer()
        except TimeoutError:
            return f"no answer within {ANSWER_LIMIT_S} s"
        if frame is None:
            return "closed the connection, should have answered"
        correlation, values = tables.decode_response(self.api, self.version, frame)
        if correlation != self.correlation:
            return f"correlation id {correlation} in place of {self.correlation}"
        return self.compare(values)

    def compare(self, values):
        for path, value in self.wanted.items():
            at = values
            try:
                for word in path.split("."):
                    at = len(at) if word == "#" else at[int(word)] if word.isdigit() else at[word]
            except (IndexError, TypeError):
                return f"{path} is not there: {str(values)[:300]}"
            if at != value and not (isinstance(value, set) and at in value):
                return f"{path} is {str(at)[:200]} in place of {value}"
        return None


class AnswersInOrder:
    """`count` answers of ApiVersions with correlation ids 0, 1, 2..."""

    reason = None

    def __init__(self, count):
        self.count = count

    def check(self, conversation):
        for number in range(self.count):
            frame = conversation.answer()
            if frame is None or struct.unpack_from(">i", frame)[0] != number:
                return f"answer {number} is missing or out of order"
        return None


class Each:
    """`count` answers, each as this one."""

    reason = None

    def __init__(self, count, answer):
        self.count, self.answer = count, answer

    def check(self, conversation):
        for number in range(self.count):
            problem = self.answer.check(conversation)
            if problem:
                return f"answer {number}: {problem}"
        return None


class Silent:
    """Neither an answer nor an end of the connection within the time."""

    reason = None

    def __init__(self, seconds=1):
        self.seconds = seconds

    def check(self, conversation):
        conversation.socket.settimeout(self.seconds)
        try:
            data = conversation.socket.recv(100)
        except TimeoutError:
            return None
        return f"got {data.hex()}" if data else "closed the connection, should have waited"


class AnyOf:
    """One of these: where Kafka and we may differ within what the issue allows."""

    def __init__(self, *choices):
        self.choices = choices
        self.reason = next((choice.reason for choice in choices if choice.reason is not None), None)

    def check(self, conversation):
        closed = next((choice for choice in self.choices if isinstance(choice, Closed)), None)
        frame = conversation.answer()
        if frame is None:
            return None if closed else "closed the connection, should have answered"
        problems = []
        for choice in self.choices:
            if isinstance(choice, Answer):
                problem = choice.compare(tables.decode_response(choice.api, choice.version, frame)[1])
                if problem is None:
                    self.reason = None
                    return None
                problems.append(problem)
        return "; or ".join(problems) or f"answered {frame[:60].hex()}, should have closed"
