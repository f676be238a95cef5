# SPDX-License-Identifier: Apache-2.0
"""The layout is clang-format's (version 14; without it nothing is checked).

usage: format.py ROOT"""
import concurrent.futures
import os
import shutil
import subprocess
import sys

import tree

FORMATTER = "clang-format-14"


def differs(root, path):
    result = subprocess.run([FORMATTER, "--dry-run", "-Werror", os.path.join(root, path)], capture_output=True)
    return [] if result.returncode == 0 else [f"{path}: run {FORMATTER} -i"]


def main():
    root = sys.argv[1]
    if not shutil.which(FORMATTER):
        print(f"{FORMATTER} is missing: not checked")
        return
    paths = tree.files(root, ["src", "include", "tests", "bench"], (".c", ".h"))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        problems = sum(pool.map(lambda path: differs(root, path), paths), [])
    tree.end(problems, len(paths))


main()
