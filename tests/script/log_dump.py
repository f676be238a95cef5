# SPDX-License-Identifier: Apache-2.0
"""`tailrace log dump` shows the batches and records of a range of offsets or times and no others, keys and values as text, hex
or JSON; it goes on behind a damaged batch, and the exit status says so."""

import json
import pathlib
import subprocess
import tempfile

import broker
import records

HOUR_MS = 3_600_000
FIRST_MS = 1_700_000_000_000  # 2023-11-14T22:13:20Z
LOG_APPEND_TIME = 8


def log(*words):
    """(exit status, output lines, error lines)"""
    command = [broker.tailrace_binary(), "log", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()


def dump(path, *words):
    """({base offset of a batch}, {offset of a record: the record}) of what is shown"""
    status, lines, errors = log("dump", path, "--json", *words)
    assert (status, errors) == (0, []), (words, status, errors)
    rows = [json.loads(line) for line in lines]
    shown = {row["offset"]: row for row in rows if row["type"] == "record"}
    return [row["baseOffset"] for row in rows if row["type"] == "batch"], shown


def batch(base_offset, deltas_ms, **fields):
    """One record for each difference to the first one's time."""
    items = [
        records.record(key=b"k", value=json.dumps({"n": index}).encode(), offset_delta=index, timestamp_delta=delta)
        for index, delta in enumerate(deltas_ms)
    ]
    times = {"base_timestamp": FIRST_MS + base_offset * HOUR_MS}
    times["max_timestamp"] = times["base_timestamp"] + max(deltas_ms)
    return records.batch(items, base_offset=base_offset, leader_epoch=0, **{**times, **fields})


def check_times(segment):
    """Batches begin at hours 0, 10, 20, 30; that of 20 has a record of hour 5 behind its first one; the last one's records all
    have the time of its appending."""
    cases = [
        (("--to-time", FIRST_MS + 4 * HOUR_MS), [0], [0, 1]),
        (("--to-time", FIRST_MS - 1), [], []),
        (("--to-time", "2023-11-14T22:13:20"), [0], [0]),
        (("--from-time", FIRST_MS + 5 * HOUR_MS, "--to-time", FIRST_MS + 5 * HOUR_MS), [20], [21]),
        (("--from-time", FIRST_MS + 10 * HOUR_MS, "--to-time", FIRST_MS + 19 * HOUR_MS), [10], [10, 11]),
        (("--from-time", FIRST_MS + 20 * HOUR_MS), [20, 30], [20, 30, 31]),
        (("--from-time", FIRST_MS + 21 * HOUR_MS, "--to-time", FIRST_MS + 39 * HOUR_MS), [], []),
    ]
    for words, bases, offsets in cases:
        assert dump(segment, *words) == (bases, {}), (words, dump(segment, *words))
        shown = dump(segment, "--records", *words)
        assert (shown[0], list(shown[1])) == (bases, offsets), (words, shown)


def check_offsets(segment):
    assert dump(segment, "--from-offset", 11, "--to-offset", 20)[0] == [10, 20]
    assert list(dump(segment, "--records", "--from-offset", 11, "--to-offset", 20)[1]) == [11, 20]
    assert dump(segment, "--limit", 2)[0] == [0, 10]
    assert list(dump(segment, "--records", "--limit", 3)[1]) == [0, 1, 10]
    assert list(dump(segment.parent, "--records", "--from-offset", 31)[1]) == [31]  # the partition


def check_formats(segment):
    words = ("--records", "--limit", 1)
    assert dump(segment, *words)[1][0]["value"] == '{"n": 0}'
    assert dump(segment, *words, "--value", "json")[1][0]["value"] == {"n": 0}
    record = dump(segment, *words, "--value", "hex", "--key", "hex")[1][0]
    assert (record["key"], record["value"]) == ("6b", b'{"n": 0}'.hex())
    for wrong in (("--value", "base64"), ("--limit", "-1"), ("--to-time", "soon"), ("--from-offset",)):
        assert log("dump", segment, *wrong)[0] == 2, wrong


def check_damage(segment, whole, second):
    """A changed byte of the second batch."""
    changed = bytearray(whole)
    changed[second + 70] ^= 1
    segment.write_bytes(changed)
    status, lines, errors = log("dump", segment)
    assert status == 1 and len(errors) == 1 and f"byte {second}: CRC" in errors[0], errors
    assert [line.split()[1] for line in lines[1:] if line.startswith("batch")] == ["0-1", "20-21", "30-31"], lines
    segment.write_bytes(whole)


def main():
    with tempfile.TemporaryDirectory() as name:
        segment = pathlib.Path(name) / "orders-0" / f"{0:020}.log"
        segment.parent.mkdir()
        first = batch(0, [0, HOUR_MS])
        last = batch(30, [0, 0], attributes=LOG_APPEND_TIME, max_timestamp=FIRST_MS + 40 * HOUR_MS)
        whole = first + batch(10, [0, HOUR_MS]) + batch(20, [0, -15 * HOUR_MS]) + last
        segment.write_bytes(whole)
        check_times(segment)
        check_offsets(segment)
        check_formats(segment)
        check_damage(segment, whole, len(first))
    print("log dump shows what is asked for")


if __name__ == "__main__":
    main()
