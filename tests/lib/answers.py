# SPDX-License-Identifier: Apache-2.0
"""Recorded answers: scenarios of requests over plain sockets, each answer a line, compared with the file of lines that
Apache Kafka 3.9.1 gave to the same requests.

Happy path: a test gives main() its scenarios (functions of a Player) and its file; without arguments they are played
against Tailrace and compared, exit status 0 (no JVM, no network: the codec is the binary's own, which another test
compares with Kafka's definitions); `--record` plays them against Kafka 3.9.1 and writes the file. Failure modes: each
answer that differs is shown as a diff, exit status 1; without a broker to test 77. An answer that never comes because the
broker closed the connection is the line "closed"; the next request opens a new one.
"""

import argparse
import difflib
import json
import pathlib
import socket
import struct
import sys
import zlib

import broker
import tables

CLOSED = "closed"


class Api:
    """Requests and answers as Python values on one connection, one at a time."""

    def __init__(self, address, client_id="driver", timeout_s=30):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=timeout_s)
        self.client_id, self.correlation, self.waits = client_id, 0, None

    def send(self, name, version, values):
        """Sends; receive() takes the answer."""
        self.correlation += 1
        self.waits = name, version
        self.socket.sendall(tables.framed(tables.request(name, version, values, self.correlation, self.client_id)))

    def take(self, size):
        data = b""
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                raise ConnectionResetError("the broker closed the connection")
            data += part
        return data

    def receive(self):
        frame = self.take(struct.unpack(">i", self.take(4))[0])
        correlation, values = tables.decode_response(*self.waits, frame)
        if correlation != self.correlation:
            raise ValueError("the answer has another request's correlation id")
        return values

    def ask(self, name, version, values):
        self.send(name, version, values)
        return self.receive()


class Player:
    """Plays requests against one broker and writes down the answers.

    leaf(key, value) gives what is written for a value that is neither a struct nor a list: a name for an id, "PORT" for a
    port. rows(key, list) chooses the rows of a list that count. They are sorted, for brokers give them in any order, unless
    their list's name is in `ordered`. A list of more than `long` rows is written once, a row a line, and then only named.
    """

    def __init__(self, address, leaf=lambda key, value: value, rows=lambda key, rows: rows, ordered=(), long=10**9):
        self.address, self.leaf, self.rows, self.ordered, self.long = address, leaf, rows, ordered, long
        self.lines, self.connections, self.lists = [], {}, {}

    def on(self, name="main"):
        """The connection of that name, which is also its client id unless it is the first one."""
        if name not in self.connections:
            self.connections[name] = Api(self.address)
        return self.connections[name]

    def versions(self, name):
        """Every version that the broker serves by its definitions."""
        return tables.versions(name)

    def normal(self, value, key=""):
        if isinstance(value, dict):
            return {name: self.normal(item, name) for name, item in value.items()}
        if isinstance(value, list):
            rows = [self.normal(item, key) for item in self.rows(key, value)]
            if key not in self.ordered:
                rows.sort(key=lambda item: json.dumps(item, sort_keys=True))
            return self.named(key, rows) if len(rows) > self.long else rows
        value = self.leaf(key, value)
        return value.hex() if isinstance(value, bytes) else value

    def named(self, key, rows):
        shown = tuple(json.dumps(row, sort_keys=True) for row in rows)
        if shown not in self.lists:
            self.lists[shown] = f"{key} list {zlib.crc32(repr(shown).encode()):08x}"
            self.lines += [f"{self.lists[shown]}: {row}" for row in shown]
        return self.lists[shown]

    def write(self, what, answer):
        shown = answer if answer == CLOSED else self.normal(answer)
        if isinstance(shown, dict):
            shown.pop("ThrottleTimeMs", None)
        self.lines.append(f"{what}: {json.dumps(shown, sort_keys=True)}")

    def ask(self, what, name, version, on="main", **values):
        """Asks, writes the answer down and gives it (None if the broker closed the connection)."""
        self.send(name, version, on, **values)
        return self.receive(f"{what} v{version}", on)

    def send(self, name, version, on="main", **values):
        self.on(on).send(name, version, values)

    def receive(self, what, on="main"):
        try:
            answer = self.on(on).receive()
        except ConnectionResetError:
            self.connections.pop(on).socket.close()
            self.write(what, CLOSED)
            return None
        self.write(what, answer)
        return answer

    def play(self, scenarios):
        for scenario in scenarios:
            self.lines.append(f"== {scenario.__name__}")
            scenario(self)
        return self.lines


def main(description, path, play, properties=None):
    """The command of such a test: play(address) gives the lines; path is the file of Kafka's."""
    path = pathlib.Path(path)
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--start", choices=("tailrace", "kafka"), default="tailrace", help="start this one (default)")
    parser.add_argument("--record", action="store_true", help=f"start Kafka 3.9.1 and write {path.name}")
    options = parser.parse_args()
    if not broker.tailrace_has("broker"):  # Kafka is asked with its codec, too
        sys.exit(broker.SKIPPED)
    with broker.start("kafka" if options.record else options.start, properties) as server:
        lines = play(server.address)
    if options.record:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return 0
    expected = path.read_text(encoding="utf-8").splitlines()
    diff = list(difflib.unified_diff(expected, lines, "Kafka 3.9.1", "here", n=0, lineterm=""))
    print("\n".join(diff))
    print(f"{len(lines)} lines, {sum(line.startswith('+') for line in diff[2:])} differ")
    return 1 if diff else 0
