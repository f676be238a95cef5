# SPDX-License-Identifier: Apache-2.0
"""What was acknowledged, what is in the log, and whether the two agree.

Happy path: judge() gives an empty list. Failure modes: one line for each kind of breach, with its first witness:
  lost      an acknowledged record is not there, or another record is at its offset
  twice     one record at two offsets (idempotent producers)
  order     a producer's records of one partition are not in the order in which it sent them
  changed   an offset that was read before now holds another record, or none
  gap       offsets are not dense
"""


def whole_lines(path, columns):
    """The lines of numbers in a file that may still be written to: one that is not whole is left out."""
    if not path.exists():
        return []
    text = path.read_text()
    rows = []
    for line in text[: text.rfind("\n") + 1].splitlines():
        row = tuple(map(int, line.split()))
        if len(row) == columns:
            rows.append(row)
    return rows


class Ledger:
    """All histories and readings of one topic."""

    def __init__(self, idempotent=True):
        self.idempotent = idempotent
        self.seen = {}  # (partition, offset) -> (producer, number), by any reader, ever

    def judge(self, acknowledged, log, complete=True):
        """acknowledged: [(producer, partition, number, offset)]; log: [(partition, offset, producer, number)], all of it;
        complete: nothing is being written any more."""
        problems = []

        def tell(kind, text):
            if not any(problem.startswith(kind) for problem in problems):
                problems.append(f"{kind}: {text}")

        now = {(partition, offset): (producer, number) for partition, offset, producer, number in log}
        ends = {partition: offset + 1 for partition, offset, _, _ in log}
        for producer, partition, number, offset in acknowledged:
            if not self.idempotent and offset >= ends.get(partition, 0) and not complete:
                continue  # acks=1 is answered before the flush, and nobody reads what is not flushed
            if now.get((partition, offset)) != (producer, number):
                tell(
                    "lost",
                    f"producer {producer} record {number}, acknowledged at partition {partition} offset {offset}, "
                    f"where now is {now.get((partition, offset))}",
                )
        for place, record in self.seen.items():
            if now.get(place) != record:
                tell("changed", f"partition {place[0]} offset {place[1]} was {record}, is {now.get(place)}")
        last_number, last_offset = {}, {}
        for partition, offset, producer, number in log:
            if offset != last_offset.get(partition, -1) + 1:
                tell("gap", f"partition {partition}: offset {offset} after {last_offset.get(partition)}")
            last_offset[partition] = offset
            if not self.idempotent:
                continue
            before = last_number.get((partition, producer), -1)
            if number <= before:
                kind = "twice" if number == before else "order"
                tell(kind, f"producer {producer} partition {partition}: {number} after {before} at offset {offset}")
            last_number[partition, producer] = max(number, before)
        self.seen.update(now)
        return problems

    def followed(self, rows):
        """What a reader saw while the broker ran: it must be there for ever."""
        problems = []
        for partition, offset, producer, number in rows:
            known = self.seen.setdefault((partition, offset), (producer, number))
            if known != (producer, number):
                problems.append(f"changed: a reader saw {(producer, number)} at partition {partition} offset {offset}, "
                                f"which is {known}")
        return problems[:1]
