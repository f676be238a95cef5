# SPDX-License-Identifier: Apache-2.0
"""SIGUSR1: each data core says how often the steps of produce, append and fetch ran; the broker goes on, and a stop
after it is in order."""

import re
import signal
import struct
import time

import broker
import records
import wire

PRODUCES = 7


def counted(server):
    """{flow: {step: [count of each line]}} of all that the log says."""
    found = {}
    for name, details in re.findall(r"INFO  steps core=[01] (\w+) counted (.*)", server.process.log_tail(100_000)):
        for step, count in re.findall(r"(\w+)=(\d+)/\d+us", details):
            found.setdefault(name, {}).setdefault(step, []).append(int(count))
    return found


def asked(server):
    """As counted(), with what one more SIGUSR1 brought. One that comes while a core still answers an earlier one is
    nothing, so it is sent until there are new lines of both flows, which may run on different cores."""

    def lines():
        return [len(counted(server).get(name, {}).get("release", [])) for name in ("produce", "append")]

    before, end = lines(), time.monotonic() + 30
    while any(now == then for now, then in zip(lines(), before)):
        assert server.process.running() and time.monotonic() < end, server.process.log_tail()
        server.process.child.send_signal(signal.SIGUSR1)
        time.sleep(0.01)
    return counted(server)


def main():
    with broker.Tailrace({"tailrace.cores": 2, "log.retention.ms": -1}) as server:
        server.start()
        with wire.Connection(server.address) as connection:
            connection.create_topics({"t": 1})
            while any(code for _, code, _ in connection.partitions(["t"])["t"]):
                pass
            batch = records.batch([records.record(b"k", b"v")])
            rows = wire.array([struct.pack(">ii", 0, len(batch)) + batch])
            for _ in range(PRODUCES):
                body = wire.text(None) + struct.pack(">hi", -1, 10000) + wire.array([wire.text("t") + rows])
                connection.ask(wire.PRODUCE, 3, body)
            assert set(asked(server)["append"]["release"]) == {PRODUCES}
            connection.api_versions()  # it goes on
        found = asked(server)
        assert set(found["append"]["release"]) == set(found["produce"]["release"]) == {PRODUCES}, found
        assert server.stop() == 0, server.process.log_tail()
    print("SIGUSR1 shows the steps")


if __name__ == "__main__":
    main()
