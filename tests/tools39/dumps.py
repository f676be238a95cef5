# SPDX-License-Identifier: Apache-2.0
"""Reads what DumpLogSegments prints. It exits with 0 whatever it finds, so its output is judged line by line.

Happy path: every line is of a known harmless form, offsets follow one another without a hole. Failure modes: every
other line is a complaint, named with the file that was being dumped.
"""

import json
import pathlib
import re

TOOL = "kafka.tools.DumpLogSegments"
FILES_A_CALL = 200
MOST_COMPLAINTS = 10

BATCH = re.compile(
    r"baseOffset: (\d+) lastOffset: (\d+) count: (\d+) baseSequence: -?\d+ lastSequence: -?\d+ producerId: -?\d+ producerEpoch: -?\d+ "
    r"partitionLeaderEpoch: \d+ isTransactional: (?:true|false) isControl: (?:true|false) deleteHorizonMs: \S+ position: \d+ "
    r"(?:CreateTime|LogAppendTime): -?\d+ size: \d+ magic: 2 compresscodec: \w+ crc: \d+ isvalid: true"
)
HARMLESS = [
    re.compile(r"Log starting offset: \d+"),
    re.compile(r"\| offset: \d+ (?:CreateTime|LogAppendTime): .*"),
    re.compile(r"offset: \d+ position: \d+"),
    re.compile(r"timestamp: -?\d+ offset: \d+"),
    re.compile(r"\S+index is empty\."),
    re.compile(r"\S+ passed sanity check\."),
    re.compile(r"producerId: \d+ producerEpoch: -?\d+ coordinatorEpoch: -?\d+ .*"),
]
DECODED = re.compile(r"\| offset: (\d+) .*? key: (\{.*?\}) payload: (.*)")


class Dump:
    """One call's output by file."""

    def __init__(self):
        self.batches = {}  # file: [(base offset, last offset)]
        self.records = []  # (file, offset, key, payload) of the offsets decoder
        self.complaints = []

    def line(self, file, line):
        batch = BATCH.fullmatch(line)
        if batch:
            base, last, count = map(int, batch.groups())
            self.batches[file].append((base, last))
            if count != last - base + 1:
                self.complaints.append(f"{file}: batch {base} to {last} has {count} records")
        elif not any(form.fullmatch(line) for form in HARMLESS):
            self.complaints.append(f"{file}: {line[:300]}")
        decoded = DECODED.fullmatch(line)
        if decoded and decoded.group(2).startswith('{"type"'):
            payload = None if decoded.group(3) in ("null", "<DELETE>") else json.loads(decoded.group(3))
            self.records.append((file, int(decoded.group(1)), json.loads(decoded.group(2)), payload))

    def read(self, status, out, err):
        file = None
        for line in out.splitlines():
            if line.startswith("Dumping "):
                file = line.removeprefix("Dumping ").strip()
                self.batches.setdefault(file, [])
            elif line.strip():
                self.line(file, line.rstrip())
        if status != "0" or err.strip():
            self.complaints.append(f"{file}: exit status {status}: {err.strip()[:400]}")


def dump(tools, files, *options):
    """One Dump over all the files."""
    result, files = Dump(), sorted(map(str, files))
    for at in range(0, len(files), FILES_A_CALL):
        result.read(*tools.call(TOOL, [*options, "--files", ",".join(files[at : at + FILES_A_CALL])]))
    missing = set(files) - set(result.batches)
    if missing and not result.complaints:
        result.complaints.append(f"nothing said about {sorted(missing)[:3]}")
    return result


def partitions(data):
    """{(topic, partition): folder} of a log directory."""
    found = {}
    for folder in pathlib.Path(data).iterdir():
        match = re.fullmatch(r"(.+)-(\d+)", folder.name)
        if folder.is_dir() and match:
            found[match.group(1), int(match.group(2))] = folder
    return found


def continuity(folder, batches):
    """(end offset, complaints) of one partition's batches over all of its segments."""
    expected, complaints = None, []
    for segment in sorted(folder.glob("*.log")):
        for base, last in batches.get(str(segment), []):
            if expected is not None and base != expected:
                complaints.append(f"{segment}: batch at {base}, {expected} is next")
            if base < int(segment.stem):
                complaints.append(f"{segment}: batch at {base} lies before the segment")
            expected = last + 1
    return expected or 0, complaints


def committed(records):
    """{(group, topic, partition): offset} and {group: last group record} as the offsets decoder shows them, in log
    order."""
    offsets, groups = {}, {}
    for _, _, key, payload in sorted(records, key=lambda row: (row[0], row[1])):
        kind, data = str(key["type"]), key["data"]
        value = None if payload is None else payload["data"]
        if kind == "2":
            groups[data["group"]] = value
        elif value is None:
            offsets.pop((data["group"], data["topic"], data["partition"]), None)
        else:
            offsets[data["group"], data["topic"], data["partition"]] = value["offset"]
    return offsets, groups
