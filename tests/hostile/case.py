# SPDX-License-Identifier: Apache-2.0
"""A case of bad input: what is sent, and what exactly must come back.

case(group, name, what to send, what is expected, ...): the bytes are sent on a fresh connection, in one write or in
the parts of a list. Beside the expectation every case demands that the broker lives, that the log segments of the
partition keep their size (unless writes=True), that memory grows by at most 1 MiB, that a probing client is served,
and that a closed connection is one line in the log. quick: also in the quick subset. kafka: what Kafka 3.9.1 answers
where that differs, and why (`run --start kafka` compares); None: Kafka is not asked.
"""

import dataclasses

from encoded import raw
from judge import Answer

SAME = object()


@dataclasses.dataclass
class Case:
    group: str
    name: str
    send: object  # bytes, a list of them, or a function of no arguments that makes either
    expect: object
    quick: bool = True
    writes: bool = False
    pause_s: float = 0
    kafka: object = SAME

    def parts(self):
        sent = self.send() if callable(self.send) else self.send
        return sent if isinstance(sent, list) else [sent]


CASES = []


def case(group, name, send, expect, **more):
    CASES.append(Case(group, name, send, expect, **more))


def produced(code, **more):
    """A Produce answer of version 9 whose only row has this code."""
    row = "Responses.0.PartitionResponses.0."
    return Answer("Produce", 9, {row + "ErrorCode": code, **{row + name: value for name, value in more.items()}})


def fetched(code, version=12, **more):
    return Answer("Fetch", version, {"Responses.0.Partitions.0.ErrorCode": code, **more})


OK_VERSIONS = Answer("ApiVersions", 0, ErrorCode=0)
API_VERSIONS = raw(18, 0, b"")
FRAME_MAX = 100 << 20
