# SPDX-License-Identifier: Apache-2.0
"""Every header compiles alone, without a warning.

usage: headers.py ROOT COMPILER"""
import concurrent.futures
import os
import subprocess
import sys

import tree

FLAGS = "-std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -Wno-unused -fsyntax-only -x c -".split()


def compile_alone(root, compiler, path):
    folder, name = os.path.split(path)
    places = ["src", "include"]
    if folder.split("/")[0] in places:
        name = path.split("/", 1)[1]
    else:
        places += [folder, "tests/sim"]  # a test's own, and those of the simulator, are named without their folder
    directories = ["-I" + os.path.join(root, place) for place in places]
    result = subprocess.run([compiler, *directories, *FLAGS], input=f'#include "{name}"\n', capture_output=True, text=True)
    return [] if result.returncode == 0 else [f"{path} does not compile alone:\n{result.stderr}"]


def main():
    root, compiler = sys.argv[1], sys.argv[2]
    paths = tree.files(root, ["src", "include", "tests", "bench"], (".h",))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        problems = sum(pool.map(lambda path: compile_alone(root, compiler, path), paths), [])
    tree.end(problems, len(paths))


main()
