#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The ledger itself: what is in order passes, and each kind of breach is told by its name. Exit status 0, or 1 with what it missed."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import ledger as ledgers  # noqa: E402

# Producer 1 has sent its numbers 0 to 4 to partition 0, and all were acknowledged at the offsets 0 to 4.
LOG = [(0, offset, 1, offset) for offset in range(5)]
ACKNOWLEDGED = [(1, 0, number, number) for number in range(5)]
BREACHES = {
    "nothing is wrong": (ACKNOWLEDGED, LOG, {}, []),
    "the last acknowledged record is missing": (ACKNOWLEDGED, LOG[:-1], {}, ["lost"]),
    "an empty log": (ACKNOWLEDGED, [], {}, ["lost"]),
    "another record lies at an acknowledged offset": ([(1, 0, 7, 2)], LOG, {}, ["lost"]),
    "a record again, right behind itself": (ACKNOWLEDGED, [*LOG, (0, 5, 1, 4)], {}, ["twice"]),
    "a record again, later": (ACKNOWLEDGED, [*LOG, (0, 5, 1, 2)], {}, ["order"]),
    "two records have changed places": ([], [(0, 0, 1, 1), (0, 1, 1, 0)], {}, ["order"]),
    "an offset is missing": ([], [(0, 0, 1, 0), (0, 2, 1, 1)], {}, ["gap"]),
    "an offset was read as another record": (ACKNOWLEDGED, LOG, {(0, 2): (9, 9)}, ["changed"]),
    "an offset was read, and is gone": (ACKNOWLEDGED, LOG, {(0, 7): (1, 7)}, ["changed"]),
}
# With acks=1 what nobody can have read yet may be missing while the producers run, and nothing else.
PLAIN = {
    "acks=1, behind the end of a log that is read while it grows": ([(1, 0, 5, 5)], False, []),
    "acks=1, behind the end when all is done": ([(1, 0, 5, 5)], True, ["lost"]),
    "acks=1, before the end": ([(1, 0, 9, 3)], False, ["lost"]),
}


def kinds(problems):
    return [problem.split(":")[0] for problem in problems]


def main():
    found = []
    for what, (acknowledged, log, seen, wanted) in BREACHES.items():
        ledger = ledgers.Ledger()
        ledger.seen.update(seen)
        found.append((what, kinds(ledger.judge(acknowledged, log)), wanted))
    for what, (acknowledged, complete, wanted) in PLAIN.items():
        found.append((what, kinds(ledgers.Ledger(idempotent=False).judge(acknowledged, LOG, complete)), wanted))
    followed = ledgers.Ledger().followed([(0, 0, 1, 0), (0, 0, 1, 1)])
    found.append(("a reader saw two records at one offset", kinds(followed), ["changed"]))
    wrong = [f"{what}: the ledger says {got}, expected {wanted}" for what, got, wanted in found if got != wanted]
    print("\n".join(wrong) or f"{len(found)} cases, each told as it should be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
