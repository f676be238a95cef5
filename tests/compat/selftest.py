#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows that the judges of these tests find what they are for: each planted fault must be named.

Happy path: every test below passes within a second; no broker is needed. Failure modes: unittest's.
"""

import json
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "lib"), str(HERE.parent / "tools39")]
sys.dont_write_bytecode = True
import check  # noqa: E402
import dataset  # noqa: E402
import dumps  # noqa: E402
import families  # noqa: E402
import history  # noqa: E402


class Toolchain(unittest.TestCase):
    """families.py: whether the machine's Go is new enough."""

    def test_versions(self):
        wanted = families.version_of((families.CLIENTS / "go" / "go.mod").read_text(encoding="utf-8"))
        self.assertEqual(wanted, (1, 26, 0))
        self.assertLess(families.version_of("go version go1.19 linux/amd64"), wanted)
        self.assertLess(families.version_of("go version go1.9.7 linux/amd64"), wanted)
        self.assertGreater(families.version_of("go version go1.26.8 linux/amd64"), wanted)
        self.assertLess(families.version_of("no such thing"), wanted)


class ReadBack(unittest.TestCase):
    """check.py: one keyed topic of four records over two partitions."""

    def setUp(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "input"
            source.write_bytes(b"hello")
            self.pack = dataset.Pack(pathlib.Path(folder) / "pack", [str(source)])
        records = [("a", 0, 5, 100, 0), ("b", 0, 5, 101, 0), ("a", 0, 5, 102, 1), ("b", 0, -1, 103, 1)]
        self.topic = dataset.Topic("t", "f", "none", True, records)
        self.expected = self.topic.expected(self.pack)
        by_index = {index: text for text, indexes in self.expected.items() for index in indexes}
        self.rows = [
            (0, 0, 100, by_index[0], "a"),
            (1, 0, 101, by_index[1], "b"),
            (0, 1, 102, by_index[2], "a"),
            (1, 1, 103, by_index[3], "b"),
        ]
        self.ends = {0: 2, 1: 2}

    def judge(self, rows):
        return "\n".join(check.check_topic(self.topic, self.expected, rows, self.ends))

    def test_all_is_well(self):
        self.assertEqual(self.judge(self.rows), "")

    def test_lost(self):
        self.assertIn("records missing", self.judge(self.rows[:3]))

    def test_twice(self):
        self.assertIn("more often", self.judge(self.rows + [(0, 2, 102, self.rows[2][3], "a")]))

    def test_changed_bytes(self):
        self.assertIn("of no record", self.judge([*self.rows[:3], (1, 1, 103, "0" * 64, "b")]))

    def test_null_is_not_empty(self):
        empty = dataset.digest(b"b", dataset.headers_of("f", 1), b"")
        self.assertIn("of no record", self.judge([*self.rows[:3], (1, 1, 103, empty, "b")]))

    def test_out_of_order(self):
        first, second, third, fourth = self.rows
        swapped = [(0, 0, *third[2:]), second, (0, 1, *first[2:]), fourth]
        self.assertIn("out of order", self.judge(swapped))

    def test_hole(self):
        self.assertIn(
            "expected offset 1", self.judge([self.rows[0], self.rows[1], (0, 2, *self.rows[2][2:]), self.rows[3]])
        )

    def test_timestamp(self):
        self.assertIn("timestamp 7", self.judge([(0, 0, 7, *self.rows[0][3:]), *self.rows[1:]]))

    def test_key_in_two_partitions(self):
        moved = [self.rows[0], self.rows[1], (1, 1, *self.rows[2][2:]), (1, 2, *self.rows[3][2:])]
        self.assertIn("is in partition 0 too", self.judge(moved))


class Codecs(unittest.TestCase):
    """check.py: the codecs of a topic's batches."""

    def judge(self, *codecs):
        batches = [{"type": "batch", "codec": codec, "isControl": False} for codec in codecs]
        topic = dataset.Topic("t", "f", "lz4", False, [])
        return check.check_codecs(topic, [json.dumps(row) for row in [{"type": "file"}, *batches]])

    def test_codecs(self):
        self.assertEqual(self.judge("lz4", "none", "lz4"), [])
        for codecs in (["none"], ["gzip"], ["lz4", "gzip"], []):
            self.assertTrue(self.judge(*codecs), codecs)


def events(*rows):
    found = history.Events("/nowhere")
    found.rows = list(rows)
    return found


def record(at, offset):
    return {"e": "record", "at": at, "p": 0, "o": offset, "v": str(offset)}


def change(event, at, offset=-1):
    return {"e": event, "at": at, "p": [[0, offset]]}


ACKED = {(0, 0): "0", (0, 1): "1"}


class Delivery(unittest.TestCase):
    """history.py: two members, one partition."""

    def judge(self, *members):
        complaints, repeated = history.check([(f"m{n}", rows) for n, rows in enumerate(members)], ACKED)
        return "\n".join(complaints), repeated

    def test_allowed_repeat(self):
        first = events(change("assigned", 1), record(2, 0), change("committed", 3, 1), record(4, 1))
        second = events(change("assigned", 10), record(11, 1))
        self.assertEqual(self.judge(first, second), ("", 1))

    def test_repeat_after_commit(self):
        first = events(change("assigned", 1), record(2, 0), record(3, 1), change("committed", 4, 2))
        second = events(change("assigned", 10), record(11, 1))
        self.assertIn("comes again although 2 was committed", self.judge(first, second)[0])

    def test_repeat_from_a_kept_position(self):
        first = events(change("assigned", 1), record(2, 0), change("revoked", 3), change("assigned", 10), record(11, 1))
        second = events(change("assigned", 4), record(5, 1), change("committed", 6, 2))
        self.assertIn("comes again although 2 was committed", self.judge(first, second)[0])
        first.keeps_positions = True
        self.assertEqual(self.judge(first, second), ("", 1))

    def test_repeat_after_a_generation_without_it(self):
        first = events(change("assigned", 1), record(2, 0), {"e": "assigned", "at": 3, "p": [[7, -1]]})
        first.rows += [change("assigned", 10), record(11, 1)]
        second = events(change("assigned", 4), record(5, 1), change("committed", 6, 2))
        first.keeps_positions = True
        self.assertIn("comes again although 2 was committed", self.judge(first, second)[0])

    def test_lost(self):
        self.assertIn("came to no member", self.judge(events(change("assigned", 1), record(2, 0)))[0])

    def test_other_value(self):
        changed = {**record(3, 1), "v": "9"}
        self.assertIn("has value '9'", self.judge(events(change("assigned", 1), record(2, 0), changed))[0])

    def test_hole_within_an_ownership(self):
        rows = events(change("assigned", 1), record(2, 0), record(3, 2))
        self.assertTrue(history.check_order("m", rows))


BATCH = (
    "baseOffset: {0} lastOffset: {1} count: {2} baseSequence: -1 lastSequence: -1 producerId: -1 producerEpoch: -1 "
    "partitionLeaderEpoch: 0 isTransactional: false isControl: false deleteHorizonMs: OptionalLong.empty position: 0 "
    "CreateTime: 1 size: 99 magic: 2 compresscodec: none crc: 5 isvalid: {3}"
)


class DumpOutput(unittest.TestCase):
    """dumps.py: lines of DumpLogSegments."""

    def judge(self, *lines, status="0", err=""):
        result = dumps.Dump()
        result.read(status, "\n".join(["Dumping f", *lines]), err)
        return result

    def test_clean(self):
        result = self.judge("Log starting offset: 0", BATCH.format(0, 4, 5, "true"))
        self.assertEqual((result.complaints, result.batches), ([], {"f": [(0, 4)]}))

    def test_faults(self):
        planted = [
            BATCH.format(0, 4, 5, "false"),
            BATCH.format(0, 4, 4, "true"),
            "Mismatches in :/x/0.index",
            "  Index offset: 3, log offset: 2",
            "Non-consecutive offsets in /x/0.log",
            "Found timestamp mismatch in :/x/0.timeindex",
            "Found 12 invalid bytes at the end of 0.log",
        ]
        for line in planted:
            self.assertTrue(self.judge(line).complaints, line)
        self.assertTrue(self.judge(status="1", err="Exception").complaints)

    def test_hole(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            segments = [folder / "00000000000000000000.log", folder / "00000000000000000005.log"]
            for segment in segments:
                segment.touch()
            whole = {str(segments[0]): [(0, 4)], str(segments[1]): [(5, 9)]}
            self.assertEqual(dumps.continuity(folder, whole), (10, []))
            self.assertTrue(dumps.continuity(folder, {**whole, str(segments[1]): [(6, 9)]})[1])


if __name__ == "__main__":
    unittest.main()
