# SPDX-License-Identifier: Apache-2.0
"""Compares what a client read with what was written.

Happy path: check_topic() finds nothing to say. Failure modes: each complaint is one line that names topic, partition,
offset and what differs; the number of lines for a topic is bounded.
"""

import json

MOST_COMPLAINTS = 5


def read_lines(path):
    """({topic: [(partition, offset, timestamp, digest, key)]}, {(topic, partition): committed offset}, complaints)."""
    by_topic, committed, complaints = {}, {}, []
    with open(path, "rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
            except ValueError:
                complaints.append(f"{path}:{number}: not JSON: {line[:120]!r}")
                continue
            if "h" in row:
                by_topic.setdefault(row["t"], []).append((row["p"], row["o"], row["ts"], row["h"], row["k"]))
            elif "committed" in row:
                committed.update({(topic, partition): offset for topic, partition, offset in row["committed"]})
    return by_topic, committed, complaints


def check_topic(topic, expected, rows, ends):
    """topic: dataset.Topic; expected: its digests; rows: what was read, in the order of reading; ends: {partition: end
    offset}."""
    complaints = []
    next_offset = dict.fromkeys(ends, 0)
    last_index = {}  # by key in keyed topics, by partition otherwise: the order of sending must be kept
    home = {}
    seen = set()
    for partition, offset, timestamp_ms, digest, key in rows:
        where = f"{topic.name}-{partition}@{offset}"
        if partition not in next_offset:
            complaints.append(f"{where}: no such partition")
            continue
        if offset != next_offset[partition]:
            complaints.append(f"{where}: expected offset {next_offset[partition]} next")
        next_offset[partition] = offset + 1
        indexes = expected.get(digest)
        if indexes is None:
            complaints.append(f"{where}: key {key!r}: digest {digest[:16]}... is of no record that was sent")
            continue
        index = next((item for item in indexes if item not in seen), None)
        if index is None:
            complaints.append(f"{where}: key {key!r} comes more often than it was sent")
            continue
        seen.add(index)
        sent_key, _, _, sent_timestamp_ms, _ = topic.records[index]
        if topic.timestamps_known and timestamp_ms != sent_timestamp_ms:
            complaints.append(f"{where}: timestamp {timestamp_ms}, sent {sent_timestamp_ms}")
        if (sent_key or None) != (key or None):  # the digest tells null from empty
            complaints.append(f"{where}: key {key!r}, sent {sent_key!r}")
        order = key if topic.keyed else partition
        if index < last_index.get(order, -1):
            complaints.append(f"{where}: key {key!r}: out of order")
        last_index[order] = index
        if home.setdefault(key, partition) != partition:
            complaints.append(f"{where}: key {key!r} is in partition {home[key]} too")
    for partition, end in ends.items():
        if next_offset[partition] != end:
            complaints.append(f"{topic.name}-{partition}: read up to {next_offset[partition]}, the end is {end}")
    if len(seen) != len(topic.records):
        missing = next(index for index in range(len(topic.records)) if index not in seen)
        complaints.append(
            f"{topic.name}: {len(topic.records) - len(seen)} records missing, first key {topic.records[missing][0]!r}"
        )
    return complaints[:MOST_COMPLAINTS] + (
        [f"{topic.name}: {len(complaints) - MOST_COMPLAINTS} more"] if len(complaints) > MOST_COMPLAINTS else []
    )


def check_codecs(topic, lines):
    """lines: JSON of the topic's log. librdkafka sends a batch that grows when it is compressed as it is."""
    batches = [row for row in map(json.loads, lines) if row["type"] == "batch"]
    found = {row["codec"] for row in batches if not row["isControl"]}
    if topic.codec in found and found <= {topic.codec, "none"}:
        return []
    return [f"{topic.name}: codecs {sorted(found)} in the log, sent with {topic.codec}"]
