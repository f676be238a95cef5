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
