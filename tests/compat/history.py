# SPDX-License-Identifier: Apache-2.0
"""What the members of one group did, and whether at-least-once delivery allows it.

Happy path: every acknowledged record was taken by some member, with the value that was sent; a record that comes twice
comes to a member that got the partition before any commit beyond that record was acknowledged. Failure modes: each
breach is one line.
"""

import bisect
import json

MOST_COMPLAINTS = 8


class Events:
    """The lines of one program's output, read as they come. keeps_positions: the library goes on from its own position
    in a partition that it held before a rebalance and holds after it; if it missed a generation in between, in which
    another member held the partition, what that one took comes again."""

    def __init__(self, path, started_ns=0, keeps_positions=False):
        self.keeps_positions = keeps_positions
        self.path, self.started_ns, self.rows, self._at, self._rest = path, started_ns, [], 0, b""

    def refresh(self):
        """Reads what is new; a last line that was cut by SIGKILL stays unread."""
        with open(self.path, "rb") as source:
            source.seek(self._at)
            data = source.read()
        self._at += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            try:
                self.rows.append(json.loads(line))
            except ValueError:
                self.rows.append({"e": "unreadable", "at": 0, "p": [], "line": line.decode(errors="replace")})
        return self.rows

    def of(self, event):
        return [row for row in self.rows if row["e"] == event]


def taken(members):
    """{(partition, offset)} that any member printed."""
    return {(row["p"], row["o"]) for events in members for row in events.of("record")}


class Commits:
    """For each partition, the highest offset whose commit was acknowledged before a moment."""

    def __init__(self, members):
        self.times, self.highest = {}, {}
        rows = sorted(
            (row["at"], partition, offset)
            for events in members
            for row in events.of("committed")
            for partition, offset in row["p"]
        )
        for at, partition, offset in rows:
            times, highest = self.times.setdefault(partition, []), self.highest.setdefault(partition, [])
            times.append(at)
            highest.append(max(offset, highest[-1] if highest else -1))

    def before(self, partition, at):
        index = bisect.bisect_left(self.times.get(partition, []), at)
        return self.highest[partition][index - 1] if index else -1


def owned_since(events):
    """For each record of a member: (at, partition, offset, value, when the member got the partition last)."""
    since, held, rows = {}, set(), []
    for row in events.rows:
        if row["e"] == "assigned":
            kept = held if events.keeps_positions else set()
            held = {partition for partition, _ in row["p"]}
            since.update({partition: row["at"] for partition in held - kept})
        elif row["e"] == "record":
            rows.append((row["at"], row["p"], row["o"], row["v"], since.get(row["p"], events.started_ns)))
    return rows


def check(members, acked):
    """members: [(name, Events)]; acked: {(partition, offset): value}. Gives (complaints, number of repeated records)."""
    complaints = [
        f"{name}: cannot read {row['line'][:100]!r}" for name, events in members for row in events.of("unreadable")
    ]
    everyone = [events for _, events in members]
    commits = Commits(everyone)
    delivered = sorted((*row, name) for name, events in members for row in owned_since(events))
    seen, repeated = {}, 0
    for at, partition, offset, value, since, name in delivered:
        if acked.get((partition, offset)) != value:
            complaints.append(
                f"{name}: {partition}@{offset} has value {value!r}, sent {acked.get((partition, offset))!r}"
            )
        if (partition, offset) in seen:
            repeated += 1
        if commits.before(partition, since) > offset:
            complaints.append(
                f"{name}: {partition}@{offset} comes again although {commits.before(partition, since)} was committed before the "
                f"partition was assigned (first to {seen.get((partition, offset))})"
            )
        seen.setdefault((partition, offset), name)
    lost = sorted(set(acked) - set(seen))
    if lost:
        complaints.append(
            f"{len(lost)} of {len(acked)} acknowledged records came to no member, first {lost[0][0]}@{lost[0][1]}"
        )
    return complaints[:MOST_COMPLAINTS], repeated


def check_order(name, events):
    """Within one ownership of a partition offsets rise by one."""
    complaints, last = [], {}
    if not events.of("assigned"):
        return []  # a client that does not tell of assignments
    for row in events.rows:
        if row["e"] in ("assigned", "revoked", "lost"):
            for partition, _ in row["p"]:
                last.pop(partition, None)
        elif row["e"] == "record":
            before = last.get(row["p"])
            if before is not None and row["o"] != before + 1:
                complaints.append(f"{name}: {row['p']}@{row['o']} follows offset {before}")
            last[row["p"]] = row["o"]
    return complaints[:3]
