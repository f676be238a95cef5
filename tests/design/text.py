# SPDX-License-Identifier: Apache-2.0
"""How files look: no line over 140 columns; sources open with the licence and then say what they are (a .c file may leave that to its
header); no goto; each folder of src/, however deep, has a README that names no file that is gone.

usage: text.py ROOT"""
import os
import re
import sys

import tree

COLUMNS_MAX = 140
README_LINES_MAX = 50
FOLDERS = ["src", "include", "tests", "bench", "tools", "docs", "cmake", ".ci"]
ENDINGS = (".c", ".h", ".def", ".py", ".cmake", "CMakeLists.txt", ".md", ".sh", ".java", ".go", ".js", ".xml", ".json")
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


def names_of(text):
    """Files that a README names: `x.c`, `folder/x.h`. Patterns (NAME.c, <api>.h) are none."""
    return [n for n in re.findall(r"`([\w./-]+\.(?:c|h|def|py|md))`", text) if not re.search(r"\bNAME\b", n)]


def is_there(root, folder, name, paths):
    """A file of the folder, or of a folder below src/, include/ or the root; a test may be named without its folder."""
    places = (folder, "src", "include", "")
    if any(os.path.exists(os.path.join(root, place, name)) for place in places):
        return True
    return any(path.startswith("tests/") and path.endswith("/" + name) for path in paths)


def check_readmes(root, paths):
    """Each folder of src/ has one that fits on a screen, opens with the folder's name and names no file that is not there."""
    folders, problems = {"src"}, []
    for path in tree.files(root, ["src"], (".c", ".h", ".def")):
        parts = path.split("/")[:-1]
        folders |= {"/".join(parts[:count]) for count in range(1, len(parts) + 1)}
    for folder in sorted(folders):
        path = folder + "/README.md"
        if not os.path.exists(os.path.join(root, path)):
            problems.append(f"{folder}: has no README.md")
            continue
        text = tree.read(root, path)
        title = "# " + (folder.removeprefix("src/")) + "/"
        if text.split("\n")[0] != title:
            problems.append(f"{path}: does not open with '{title}'")
        if text.count("\n") > README_LINES_MAX:
            problems.append(f"{path}: {text.count(chr(10))} lines, {README_LINES_MAX} are allowed")
        problems += [f"{path}: names {n}, which is not there" for n in names_of(text) if not is_there(root, folder, n, paths)]
    return problems


def main():
    root = sys.argv[1]
    paths = tree.files(root, FOLDERS, ENDINGS) + tree.scripts(root, FOLDERS) + TOP
    problems = check_readmes(root, paths)
    for path in paths:
        text = tree.read(root, path)
        lines = text.split("\n")
        problems += check_columns(path, lines)
        if path.startswith(("src/", "include/")) and path.endswith((".c", ".h")):
            problems += check_opening(path, lines, paths) + check_goto(path, text)
    tree.end(problems, len(paths))


main()
