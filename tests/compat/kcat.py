# SPDX-License-Identifier: Apache-2.0
"""kcat as one more family: it writes whole files as records, and reads every topic.

Happy path: produce() runs kcat once for each codec; consume() runs it once for each topic (assignment) or once for all
(group), and turns its output into the rows that check.py takes. kcat prints headers as text that ends at a NUL byte, so
a header list is compared as text, and stands for the true one if it is what kcat must print. Failure modes: as
check.py; an exit status other than 0 is a complaint.
"""

import re
import subprocess

import check
import dataset

FORMAT = "%t %p %o %T %K %S %h\\n%k%s\\n"
HEAD = re.compile(rb"(\S+) (\d+) (\d+) (-?\d+) (-?\d+) (-?\d+) (.*)")
FILES_A_CODEC = 30
KCAT_LIMIT_S = 120


def headers_of(family, turn):
    """The headers of records that kcat writes."""
    return [("family", family.encode()), ("round", str(turn).encode())]


def topics_of(pack):
    """A topic for each codec. Records have no key and the time of sending."""
    topics = []
    for at, codec in enumerate(("none", "gzip", "snappy", "lz4", "zstd")):
        entries = [entry for entry in pack.entries if entry[2] > 0][at::5][:FILES_A_CODEC]
        topic = dataset.Topic(
            f"kcat.{codec}", "kcat", codec, False, [(None, offset, length, 0, 0) for _, offset, length in entries]
        )
        topic.timestamps_known = False
        topic.headers = headers_of
        topics.append(topic)
    return topics


def produce(address, topics, pack, work):
    """Complaints."""
    complaints = []
    for topic in [topic for topic in topics if topic.family == "kcat"]:
        paths = []
        for index, (_, offset, length, _, _) in enumerate(topic.records):
            paths.append(work / f"{topic.name}.{index}")
            paths[-1].write_bytes(pack.value(offset, length))
        headers = ["-H", "family=kcat", "-H", "round=0"]
        done = subprocess.run(
            ["kcat", "-P", "-b", address, "-t", topic.name, "-z", topic.codec, "-X", "acks=all", *headers, *paths],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        if done.returncode:
            complaints.append(f"{topic.name}: exit status {done.returncode}: {done.stderr[-500:]}")
    return complaints


def printed_headers(headers):
    """What kcat prints for a header list."""
    return b",".join(name.encode() + b"=" + value.split(b"\0")[0] for name, value in headers)


def rows_of(output, by_name):
    """{topic: rows for check.check_topic} and complaints."""
    rows, at = {}, 0
    while at < len(output):
        line_end = output.index(b"\n", at)
        match = HEAD.fullmatch(output, at, line_end)
        if match is None:
            return rows, [f"cannot read kcat's output: {output[at:line_end][:200]!r}"]
        topic = by_name[match.group(1).decode()]
        key_size, value_size = int(match.group(5)), int(match.group(6))
        at = line_end + 1
        key = output[at : at + key_size] if key_size >= 0 else None
        at += max(key_size, 0)
        value = output[at : at + value_size] if value_size >= 0 else None
        at += max(value_size, 0) + 1
        turn = re.search(rb"round=(\d+)", match.group(7))
        headers = topic.headers(topic.family, int(turn.group(1)) if turn else -1)
        if match.group(7) != printed_headers(headers):
            headers = [("as kcat printed them", match.group(7))]
        rows.setdefault(topic.name, []).append(
            (
                int(match.group(2)),
                int(match.group(3)),
                int(match.group(4)),
                dataset.digest(key, headers, value),
                None if key is None else key.decode(),
            )
        )
    return rows, []


def run(words):
    shown = " ".join(map(str, words[:6]))
    try:
        done = subprocess.run(words, capture_output=True, timeout=KCAT_LIMIT_S, check=False)
    except subprocess.TimeoutExpired as late:
        return late.stdout or b"", [f"{shown}: not done after {KCAT_LIMIT_S} s"]
    bad = [f"{shown}: exit status {done.returncode}: {done.stderr[-500:]!r}"] if done.returncode else []
    return done.stdout, bad


def consume(address, mode, topics, digests, ends):
    """Complaints."""
    by_name = {topic.name: topic for topic in topics}
    common = [
        "kcat",
        "-b",
        address,
        "-e",
        "-q",
        "-X",
        "auto.offset.reset=earliest",
        "-X",
        "fetch.wait.max.ms=50",
        "-f",
        FORMAT,
    ]
    complaints = []
    if mode == "group":
        outputs = [(topics, [*common, "-X", "session.timeout.ms=10000", "-G", "compat-kcat", *by_name])]
    else:
        outputs = [([topic], [*common, "-C", "-o", "beginning", "-t", topic.name]) for topic in topics]
    for covered, words in outputs:
        output, bad = run(words)
        rows, unreadable = rows_of(output, by_name)
        complaints += bad + unreadable
        for topic in covered:
            complaints += check.check_topic(topic, digests[topic.name], rows.get(topic.name, []), ends[topic.name])
    return complaints
