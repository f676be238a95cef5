# SPDX-License-Identifier: Apache-2.0
"""The real input of the compatibility test, and what each client must read back.

Happy path: choose() picks files, Pack copies their bytes into one file that every client program reads from, lists()
writes for each topic the records in the order in which they are sent. A record is a line `offset TAB length TAB
timestamp TAB round TAB key`: offset and length into the pack (length -1: null value), key `\\N`: null key. expected()
gives the same digest that the programs print. Failure modes: an unreadable file is left out; the copy makes the run
independent of files that change meanwhile.
"""

import hashlib
import os
import struct

ROOTS = ("/usr/include", "/usr/share/doc", "/usr/lib/python3", "/usr/lib/python3.11")
LARGEST_BYTES = 900_000
KEYED_PARTITIONS, KEYED_ROUNDS, KEYED_LARGEST_BYTES = 12, 3, 16_000


def printable(path):
    """Keys go through JSON written by hand: no control characters, valid UTF-8."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return not any(ord(letter) < 32 for letter in path)


def choose(count):
    """Every regular file of the roots, or `count` of them: spread evenly by hash, but always with the largest and some
    empty ones."""
    found = []
    for root in ROOTS:
        for folder, folders, names in os.walk(root):
            folders.sort()
            for name in sorted(names):
                path = os.path.join(folder, name)
                if not os.path.islink(path) and os.path.isfile(path) and printable(path):
                    size = os.path.getsize(path)
                    if size <= LARGEST_BYTES:
                        found.append((path, size))
    if count and count < len(found):
        by_hash = sorted(found, key=lambda item: hashlib.sha256(item[0].encode()).digest())
        special = sorted(found, key=lambda item: -item[1])[:5] + [item for item in found if item[1] == 0][:5]
        found = list(dict.fromkeys(special + by_hash))[:count]
    return sorted(path for path, _ in found)


class Pack:
    """The bytes of the chosen files, one after the other."""

    def __init__(self, path, files):
        self.entries = []
        at = 0
        with open(path, "wb") as pack:
            for name in files:
                try:
                    with open(name, "rb") as source:
                        data = source.read(LARGEST_BYTES + 1)
                except OSError:
                    continue
                pack.write(data)
                self.entries.append((name, at, len(data)))
                at += len(data)
        self.file = os.open(path, os.O_RDONLY)

    def value(self, offset, length):
        """The bytes of one record's value."""
        if length < 0:
            return None
        return os.pread(self.file, length, offset)


def add(parts, data):
    parts.append(struct.pack(">i", -1 if data is None else len(data)))
    if data:
        parts.append(data)


def digest(key, headers, value):
    """SHA-256 of key, headers and value, each with its length in front (-1: null)."""
    parts = []
    add(parts, key)
    parts.append(struct.pack(">i", len(headers)))
    for name, header_value in headers:
        add(parts, name.encode())
        add(parts, header_value)
    add(parts, value)
    return hashlib.sha256(b"".join(parts)).hexdigest()


def headers_of(family, turn):
    """The headers that every program gives a record."""
    return [
        ("family", family.encode()),
        ("round", str(turn).encode()),
        ("twice", b"1"),
        ("twice", b"2"),
        ("empty", b""),
        ("binary", b"\x00\xff\x80\n"),
    ]


class Topic:
    """One topic: who writes it, with which codec, and its records in the order of sending: (key or None, offset,
    length, timestamp, round)."""

    def __init__(self, name, family, codec, keyed, records):
        self.name, self.family, self.codec, self.keyed, self.records = name, family, codec, keyed, records
        self.partitions = KEYED_PARTITIONS if keyed else 1
        self.timestamps_known = True
        self.headers = headers_of

    def write_list(self, path):
        """The file that the client program reads."""
        with open(path, "w", encoding="utf-8") as out:
            for key, offset, length, timestamp_ms, turn in self.records:
                shown = "\\N" if key is None else key
                out.write(f"{offset}\t{length}\t{timestamp_ms}\t{turn}\t{shown}\n")

    def expected(self, pack, blur_empty=False):
        """{digest: [index in the list, ...]} of all records; blur_empty: for a library that reads empty keys and values
        as null."""
        found = {}
        for index, (key, offset, length, _, turn) in enumerate(self.records):
            key_bytes = None if key is None else key.encode()
            value = pack.value(offset, length)
            if blur_empty:
                key_bytes, value = key_bytes or None, value or None
            found.setdefault(digest(key_bytes, self.headers(self.family, turn), value), []).append(index)
        return found


def topics_of(family, number, pack, base_ms, every_codec_keyed):
    """The topics that one family writes: the files shared out over a one-partition topic for each codec, and keyed
    topics in rounds."""
    topics = []
    for at, codec in enumerate(family.codecs):
        entries = pack.entries[at :: len(family.codecs)]
        records = [(name, offset, length, base_ms + index, 0) for index, (name, offset, length) in enumerate(entries)]
        small = next((entry for entry in pack.entries if 0 < entry[2] < 1000), pack.entries[0])
        end_ms = base_ms + len(records)
        records += [
            ("", small[1], small[2], end_ms, 0),
            (None, small[1], small[2], end_ms, 0),
            ("tombstone", 0, -1, end_ms, 0),
        ]
        if family.null_pair:
            records.append((None, 0, -1, end_ms, 0))
        topics.append(Topic(f"{family.name}.{codec}", family.name, codec, False, records))
    keyed = [entry for entry in pack.entries if entry[2] <= KEYED_LARGEST_BYTES][::4]
    codecs = family.codecs if every_codec_keyed else [family.codecs[number % len(family.codecs)]]
    for codec in codecs:
        records = [
            (name, offset, length, base_ms + turn * len(keyed) + index, turn)
            for turn in range(KEYED_ROUNDS)
            for index, (name, offset, length) in enumerate(keyed)
        ]
        topics.append(Topic(f"{family.name}.{codec}.keyed", family.name, codec, True, records))
    return topics
