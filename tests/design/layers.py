# SPDX-License-Identifier: Apache-2.0
"""Every #include obeys the layer table, and a .c file includes its own header first.

usage: layers.py ROOT"""
import re
import sys

import tree

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
SYSTEM_INCLUDE = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.M)
ANY_INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)
# Headers of the Linux engine: for itself, and for the program that chooses it.
LINUX_USERS = ("src/os/linux/", "src/cli/")


def check_source(path, text, table):
    folder = path.split("/")[1]
    if folder not in table:
        return [f"{path}: the folder {folder} is not in the layer table (top CMakeLists.txt)"]
    problems = []
    for include in INCLUDE.findall(text):
        target = include.split("/")[0]
        if target == "tailrace":
            continue
        if "/" not in include or target not in table:
            problems.append(f'{path}: "{include}" is not written with its folder')
        elif target not in table[folder]:
            problems.append(f'{path}: "{include}": {folder} may use {", ".join(sorted(table[folder] - {folder})) or "nothing"}')
        elif include.startswith("os/linux/") and not path.startswith(LINUX_USERS):
            problems.append(f'{path}: "{include}" is only for {" and ".join(LINUX_USERS)}')
    for include in SYSTEM_INCLUDE.findall(text):
        if "/" in include and include.split("/")[0] in table:
            problems.append(f'{path}: <{include}> is ours: write "{include}"')
    return problems


def check_own_header_first(path, text, headers):
    own = path[:-2] + ".h"
    if not path.endswith(".c") or own not in headers:
        return []
    includes = ANY_INCLUDE.findall(text)
    if includes and includes[0] == own.removeprefix("src/"):
        return []
    return [f"{path}: its own header is not included first"]


def main():
    root = sys.argv[1]
    table = tree.layers(root)
    sources = tree.files(root, ["src"], (".c", ".h"))
    headers = {path for path in sources if path.endswith(".h")}
    problems = []
    for path in sources:
        text = tree.read(root, path)
        problems += check_source(path, text, table)
        problems += check_own_header_first(path, text, headers)
    public = tree.files(root, ["include"], (".h",))
    for path in public:
        for include in INCLUDE.findall(tree.read(root, path)):
            if not include.startswith("tailrace/"):
                problems.append(f'{path}: a public header includes "{include}"')
    tree.end(problems, len(sources) + len(public))


main()
