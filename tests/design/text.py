# SPDX-License-Identifier: Apache-2.0
"""How files look: no line over 140 columns; sources open with the licence and then say what they are (a .c file may leave that to its
header); no goto; each folder of src/ has a README.

usage: text.py ROOT"""
import os
import re
import sys

import tree

COLUMNS_MAX = 140
FOLDERS = ["src", "include", "tests", "bench", "tools", "docs", "cmake", ".ci"]
ENDINGS = (".c", ".h", ".def", ".py", ".cmake", "CMakeLists.txt", ".md", ".sh", ".java", ".go", ".js")
TOP = ["CMakeLists.txt", "CMakePresets.json", "README.md"]
LICENCE = "SPDX-License-Identifier: Apache-2.0"


def check_columns(path, lines):
    # A row of a Markdown table cannot be broken.
    is_row = path.endswith(".md")
    return [
        f"{path}:{number}: {len(line)} columns, {COLUMNS_MAX} are allowed"
        for number, line in enumerate(lines, 1)
        if len(line) > COLUMNS_MAX and not (is_row and line.startswith("|"))
    ]


def check_opening(path, lines, paths):
    if not lines or LICENCE not in lines[0]:
        return [f"{path}: does not open with {LICENCE}"]
    if path.endswith(".c") and path[:-2] + ".h" in paths:
        return []  # its header says it
    if len(lines) < 2 or not lines[1].startswith("// ") or len(lines[1]) < 20:
        return [f"{path}: does not say, after the licence, what it is for"]
    return []


def check_goto(path, text):
    code = re.sub(r'//.*|/\*.*?\*/|"(?:\\.|[^"\\])*"', "", text, flags=re.S if "/*" in text else 0)
    return [f"{path}: goto"] if re.search(r"\bgoto\b", code) else []


def check_readmes(root):
    folders = {path.split("/")[1] for path in tree.files(root, ["src"], (".c", ".h"))}
    return [f"src/{f}: has no README.md" for f in sorted(folders) if not os.path.exists(os.path.join(root, "src", f, "README.md"))]


def main():
    root = sys.argv[1]
    paths = tree.files(root, FOLDERS, ENDINGS) + tree.scripts(root, FOLDERS) + TOP
    problems = check_readmes(root)
    for path in paths:
        text = tree.read(root, path)
        lines = text.split("\n")
        problems += check_columns(path, lines)
        if path.startswith(("src/", "include/")) and path.endswith((".c", ".h")):
            problems += check_opening(path, lines, paths) + check_goto(path, text)
    tree.end(problems, len(paths))


main()
