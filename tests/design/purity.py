# SPDX-License-Identifier: Apache-2.0
"""Above the seam there is no writable global state and no way round os/os.h: the archives have empty data sections and import only what
computes, by a list: nothing that reaches the system, a clock, randomness, a thread or a stream. os/linux and cli/ are outside the rule.

usage: purity.py ROOT BUILD"""
import glob
import os
import re
import subprocess
import sys

import tree

FREE = {"os_linux", "os_sim", "cli"}
# Listed files of third-party code with threads or clocks of their own: {object: symbols that it may import}.
EXCEPTIONS = {}

WRITABLE = re.compile(r"^\.(data|bss|tdata|tbss)(?!\.rel\.ro)")

# What may be imported: C on memory alone, and what computes in the libraries. Whatever else there is in them (files, streams,
# the system, clocks, randomness, threads, static state) is missing here, and so is what nobody has thought of.
ALLOWED = set("""
malloc calloc realloc free aligned_alloc qsort bsearch
memchr memcmp memcpy memmem memmove mempcpy memrchr memset
stpcpy strcat strchr strchrnul strcmp strcpy strcspn strdup strlen strncasecmp strncmp strncpy strndup strnlen strpbrk strrchr strspn
strstr strtod strtol strtoll strtoul strtoull snprintf sprintf vsnprintf sscanf vsscanf
crc32 crc32_z crc32_iscsi compressBound deflate deflateEnd deflateInit2_ deflateReset inflate inflateEnd inflateInit2_ inflateReset
snappy_compress snappy_max_compressed_length snappy_uncompress snappy_uncompressed_length
__stack_chk_fail __errno_location _GLOBAL_OFFSET_TABLE_
""".split())
ALLOWED_SHAPES = re.compile(r"""
    XXH(32|64|3_\w+|128\w*)$
  | LZ4_\w+$ | LZ4F_(?!read|write)\w+$ | ZSTD_(?!.*Thread)\w+$
  | json_(?!(load|dump)(_file|f|fd|_callback)$|object_seed$|set_alloc)\w+$
  | __[a-z]+[dt]i[2-5]$  # arithmetic of wide integers
""", re.X)
# Fortified names and those of another C standard.
VARIANTS = re.compile(r"^__(?:isoc\d\d_)?(?P<name>\w+?)(?:_chk)?$")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def is_allowed(symbol):
    variant = VARIANTS.match(symbol)
    return symbol in ALLOWED or ALLOWED_SHAPES.match(symbol) is not None or (variant is not None and variant.group("name") in ALLOWED)


def definitions(archives):
    return {row.split()[-1] for archive in archives for row in run("nm", "--defined-only", archive).splitlines()
            if re.match(r"^[0-9a-f]+ [A-Z] \S+$", row)}


def writable_sections(archive):
    found, member = [], "?"
    for line in run("size", "-A", archive).splitlines():
        head = re.match(r"^(\S+)\s+\(ex ", line)
        if head:
            member = head.group(1)
        row = re.match(r"^(\.\S+)\s+(\d+)\s", line)
        if row and int(row.group(2)) > 0 and WRITABLE.match(row.group(1)):
            found.append((member, row.group(1), int(row.group(2))))
    return found


def writable_names(archive, member):
    """Which variables they are, for the message."""
    names, here = [], False
    for line in run("nm", archive).splitlines():
        if line.endswith(":"):
            here = line[:-1] == member
        row = re.match(r"^[0-9a-f]+ [bBdDuC] (\S+)$", line)
        if here and row:
            names.append(row.group(1))
    return ", ".join(names)


def imports(archive):
    member = "?"
    for line in run("nm", "-u", archive).splitlines():
        if line.endswith(":"):
            member = line[:-1]
        row = re.match(r"^\s+[Uw] (\S+)$", line)
        if row:
            yield member, row.group(1).split("@")[0]


def check_archive(archive, name, ours):
    problems = []
    for member, section, size in writable_sections(archive):
        names = writable_names(archive, member)
        problems.append(f"{name}: {member}: {size} bytes in {section} ({names}): no writable globals or statics above the seam")
    for member, symbol in imports(archive):
        if symbol not in ours and not is_allowed(symbol) and symbol not in EXCEPTIONS.get(member, ()):
            problems.append(f"{name}: {member}: uses {symbol}: everything goes through os/os.h (what only computes: ALLOWED in purity.py)")
    return problems


def main():
    build = sys.argv[2]
    archives = sorted(glob.glob(os.path.join(build, "**", "libtr_*.a"), recursive=True))
    ours = definitions(archive for archive in archives if not archive.endswith("libtr_cli.a"))
    problems, checked = [], 0
    for archive in archives:
        name = os.path.basename(archive)[len("libtr_"):-2]
        if name in FREE:
            continue
        checked += 1
        problems += check_archive(archive, name, ours)
    if checked == 0:
        problems.append(f"no archive in {build}: build first")
    tree.end(problems, checked)


main()
