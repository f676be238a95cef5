# SPDX-License-Identifier: Apache-2.0
"""A configuration key that `tailrace config` says works is read somewhere: its CONFIG_ name stands in a source file that
is not the table, or it is a topic key's stand-in. What the key then does is for other tests to show.

usage: keys.py ROOT
"""
import re
import sys

import tree

root = sys.argv[1]
table = tree.read(root, "src/config/broker_keys.def")
sources = "".join(tree.read(root, path) for path in tree.files(root, ["src"], (".c", ".h")))
stand_ins = tree.read(root, "src/config/topic_keys.def")
# KEY(id, "name", type, default, rule, importance, visibility, mode, effect, "documentation"): the effect is the last word before a text.
rows = re.findall(r'^KEY\((\w+),[^;]*?,\s*(WORKS|NO_EFFECT|NOT_YET\(\w+\)|REFUSED\(\w+\)),\s*"', table, re.MULTILINE)
working = [key for key, effect in rows if effect == "WORKS"]
problems = [f"src/config/broker_keys.def: {key} is said to work, but nothing reads it" for key in working
            if not re.search(rf"\bCONFIG_{key}\b", sources) and not re.search(rf"\({key}, |, {key}, ", stand_ins)]
if len(rows) != len(re.findall(r"^KEY\(", table, re.MULTILINE)):
    problems.append(f"src/config/broker_keys.def: {len(rows)} rows read, there are more: this test no longer knows their form")
tree.end(problems, len(working))
