# SPDX-License-Identifier: Apache-2.0
"""What the tests of this folder share: the files of the project, the layer table, and how a violation is reported."""
import os
import re
import sys

SKIPPED = {".git", "build", "build-sim", "__pycache__", "node_modules"}


def files(root, folders, endings):
    """Paths relative to root, sorted."""
    found = []
    for folder in folders:
        for place, names, entries in os.walk(os.path.join(root, folder)):
            names[:] = [n for n in names if n not in SKIPPED]
            found += [os.path.relpath(os.path.join(place, e), root) for e in entries if e.endswith(endings)]
    return sorted(found)


def scripts(root, folders):
    """Programs whose names have no ending: the first line names who runs them. Relative to root, sorted."""
    found = []
    for folder in folders:
        for place, names, entries in os.walk(os.path.join(root, folder)):
            names[:] = [n for n in names if n not in SKIPPED]
            for path in (os.path.join(place, entry) for entry in entries if "." not in entry):
                with open(path, "rb") as file:
                    if file.read(2) == b"#!":
                        found.append(os.path.relpath(path, root))
    return sorted(found)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def layers(root):
    """{folder: every folder whose headers it may include}, from the DEPS of the top CMakeLists.txt."""
    text = re.sub(r"#.*", "", read(root, "CMakeLists.txt"))
    direct = {"os": ["base"]}
    for name, rest in re.findall(r"tailrace_layer\(\s*(\w+)([^)]*)\)", text):
        deps = re.search(r"\bDEPS\b((?:\s+(?!LIBS\b)[\w]+)*)", rest)
        direct[name] = deps.group(1).split() if deps else []
    closed = {}

    def close(name):
        if name not in closed:
            closed[name] = {name}
            for dep in direct[name]:
                closed[name] |= close(dep)
        return closed[name]

    for name in direct:
        close(name)
    return closed


def end(problems, checked):
    """One line a violation; the exit status says whether there were any."""
    for problem in problems:
        print(problem)
    print(f"{checked} checked, {len(problems)} violation(s)")
    sys.exit(1 if problems else 0)
