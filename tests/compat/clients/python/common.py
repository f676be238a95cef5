# SPDX-License-Identifier: Apache-2.0
"""What the two Python clients of the compatibility test share: command line, input lists, output lines.
tests/compat/README.md describes them."""

import argparse
import hashlib
import json
import signal
import struct
import sys
import time

NO_PROGRESS_S = 60
COMMIT_EVERY_RECORDS, COMMIT_EVERY_S = 20, 0.2


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["produce", "consume", "member"])
    for name in ("broker", "pack", "jobs", "topics", "group", "instance-id", "family"):
        parser.add_argument("--" + name)
    parser.add_argument("--mode", default="assign")
    parser.add_argument("--assignor", default="range")
    parser.add_argument("--idempotent", default="1")
    parser.add_argument("--session-timeout-ms", type=int, default=10000)
    return parser.parse_args()


def jobs(path):
    """(topic, codec, list path) of each line."""
    with open(path, encoding="utf-8") as lines:
        return [line.rstrip("\n").split("\t") for line in lines]


def records(list_path, pack_path):
    """(key, value, timestamp in ms, round) of each line of a list; the values lie in the pack."""
    with open(list_path, encoding="utf-8") as lines, open(pack_path, "rb") as pack:
        for line in lines:
            offset, length, timestamp_ms, turn, key = line.rstrip("\n").split("\t")
            value = None
            if int(length) >= 0:
                pack.seek(int(offset))
                value = pack.read(int(length))
            yield None if key == "\\N" else key.encode(), value, int(timestamp_ms), turn


def headers(family, turn):
    return [
        ("family", family.encode()),
        ("round", turn.encode()),
        ("twice", b"1"),
        ("twice", b"2"),
        ("empty", b""),
        ("binary", b"\x00\xff\x80\n"),
    ]


def digest(key, header_list, value):
    """SHA-256 of key, headers and value, each with its length in front (-1: null)."""
    parts = []

    def add(data):
        parts.append(struct.pack(">i", -1 if data is None else len(data)))
        if data:
            parts.append(data)

    add(key)
    parts.append(struct.pack(">i", len(header_list)))
    for name, header_value in header_list:
        add(name.encode())
        add(header_value)
    add(value)
    return hashlib.sha256(b"".join(parts)).hexdigest()


def print_record(mode, topic, partition, offset, timestamp_ms, key, header_list, value):
    print(
        json.dumps(
            {
                "m": mode,
                "t": topic,
                "p": partition,
                "o": offset,
                "ts": timestamp_ms,
                "h": digest(key, header_list or [], value),
                "k": None if key is None else key.decode(),
            }
        )
    )


def print_event(event, partitions):
    print(json.dumps({"e": event, "at": time.time_ns(), "p": [list(pair) for pair in partitions]}), flush=True)


def print_member_record(partition, offset, value):
    print(
        json.dumps({"e": "record", "at": time.time_ns(), "p": partition, "o": offset, "v": value.decode()}), flush=True
    )


def stop_at_sigterm():
    """A list that is empty until SIGTERM comes."""
    stopping = []
    signal.signal(signal.SIGTERM, lambda *_: stopping.append(1))
    return stopping


def member_loop(stopping, consumer, poll, commit_position, leave_group=lambda consumer: None):
    """Commits every so often what poll() has read and printed (it gives how many records that were), until stopping;
    then leaves the group: by close(), unless the library needs something before it."""
    since_commit, last_commit = 0, time.monotonic()
    while not stopping:
        since_commit += poll()
        if since_commit >= COMMIT_EVERY_RECORDS or since_commit and time.monotonic() - last_commit > COMMIT_EVERY_S:
            commit_position(consumer)
            since_commit, last_commit = 0, time.monotonic()
    commit_position(consumer)
    leave_group(consumer)
    consumer.close()
    print_event("left", [])


def fail(why):
    print(f"{sys.argv[0]}: {why}", file=sys.stderr)
    sys.stdout.flush()
    sys.exit(1)


class Progress:
    """Counts down the partitions that are not at their end; ends the program if nothing comes for a minute."""

    def __init__(self, ends):
        self.ends = ends
        self.open = {key for key, end in ends.items() if end > 0}
        self.last = time.monotonic()

    def took(self, topic, partition, offset):
        self.last = time.monotonic()
        if offset + 1 >= self.ends[topic, partition]:
            self.open.discard((topic, partition))

    def check(self):
        if time.monotonic() - self.last > NO_PROGRESS_S:
            print(
                f"{sys.argv[0]}: no progress for {NO_PROGRESS_S} s, not at their end: {sorted(self.open)[:20]}",
                file=sys.stderr,
            )
            sys.stdout.flush()
            sys.exit(3)
