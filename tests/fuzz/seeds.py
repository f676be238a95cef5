#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes first inputs for the fuzz targets from the golden bytes.

usage: seeds.py SOURCE_DIRECTORY OUTPUT_DIRECTORY
"""
import pathlib
import re
import sys

source, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
golden = source / "tests" / "golden" / "data"
apis = re.findall(r'API_ROW\(\w+_API, "(\w+)"', (source / "src" / "protocol" / "apis.c").read_text())


def write(target, name, data):
    folder = out / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


for line in (golden / "messages.txt").read_text(encoding="utf-8").splitlines():
    name, version, data, _ = line.split(" ", 3)
    if match := re.fullmatch(r"(\w+)(Request|Response)", name):
        head = bytes([apis.index(match[1]), int(version), int(match[2] == "Response")])
        write("fuzz_messages", f"{name}-{version}", head + (bytes.fromhex(data) if data != "-" else b""))

for number, line in enumerate((golden / "batches.txt").read_text().splitlines()):
    label, magic, codec, count, data = line.split()
    data = bytes.fromhex(data)
    write("fuzz_batches", f"{number}-{label}", bytes([8, 11 if magic == "2" else 2]) + data)
    if magic == "2" and codec != "0":
        write("fuzz_decompress", f"{number}-{label}", bytes([int(codec) - 1]) + data[61:])

def be(size, *values):
    return b"".join((value % (1 << 8 * size)).to_bytes(size, "big") for value in values)


snapshot_entry = be(8, 5) + be(2, 1) + be(4, 9) + be(8, 100) + be(4, 3) + be(8, 1000) + be(4, -1) + be(8, 98)
log_files = {
    "epochs": b"\0000\n2\n0 0\n3 100\n",
    "checkpoint": b"\0010\n2\norders 0 5\na.b-c 1 7\n",
    "snapshot": b"\2" + be(2, 1) + be(4, 0) + be(4, 1) + snapshot_entry,
    "index": b"\3" + be(4, 10, 4200, 20, 8400),
    "timeindex": b"\3" + be(8, 1000) + be(4, 10) + be(8, 2000) + be(4, 20),
    "txnindex": b"\3" + be(2, 0) + be(8, 5, 1, 9, 10),
    "directory": b"\4orders-7.0123456789abcdef0123456789abcdef-delete",
    "file": b"\00400000000000000000042.log.swap",
    "partition": b"\6version: 0\ntopic_id: AQIDAAAAAAAAAAAAAAAAAA",
    "meta": b"\7#\nversion=0\nbroker.id=1\ncluster.id=AQIDAAAAAAAAAAAAAAAAAA\n",
}
for name, data in log_files.items():
    write("fuzz_log_files", name, data)

segment = b""
for number, line in enumerate((golden / "batches.txt").read_text().splitlines()):
    label, magic, codec, count, data = line.split()
    data = bytes.fromhex(data)
    write("fuzz_segment", f"{number}-{label}", b"\4" + be(2, len(data)) + data)
    write("fuzz_log_files", f"marker-{number}-{label}", b"\5" + data)
    if magic == "2" and len(segment) + len(data) < 4000:
        segment += be(8, 1000 * len(segment)) + data[8:]
write("fuzz_segment", "several", b"\4" + be(2, len(segment)) + segment + be(4, 10, 200))

# The header of an empty metadata file; checksums are made right by the target.
write("fuzz_metafile", "header", b"\1TAILMETA" + be(4, 1, 0) + be(8, 7, 0))
