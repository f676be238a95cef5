#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What others wait while one client sends batches that take long to check.

One data core. A client asks ApiVersions and produces one small record, in turns, for some seconds; beside it another
one sends batches of less than 1 MiB that unfold to 120 MiB (or 8 MiB of the least records that there are), one after
the other. A line for each kind of batch: the
first client's latencies, and how many batches the second one got through.

    TAILRACE_BINARY=build/release/tailrace python3 bench/long_batches.py [SECONDS]
"""

import pathlib
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "lib"))

import broker  # noqa: E402
import long_batch  # noqa: E402
import wire  # noqa: E402

UNFOLDED = 120 << 20


def send_long(address, batch, stop, answers):
    """Produces the batch again and again until told to stop."""
    with wire.Connection(address, timeout_s=120) as connection:
        while not stop.is_set():
            answers.append(long_batch.produce(connection, "long", 0, batch))


def measure(address, seconds):
    """Seconds that every request took, of both kinds."""
    asked, produced = [], []
    small = long_batch.small()
    with wire.Connection(address, timeout_s=120) as connection:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            begin = time.monotonic()
            connection.api_versions()
            between = time.monotonic()
            code, _ = long_batch.produce(connection, "small", 0, small)
            assert code == 0, code
            asked.append(between - begin)
            produced.append(time.monotonic() - between)
    return asked, produced


def show(times):
    """Median, 99th percentile and worst in ms."""
    times = sorted(times)
    return " ".join(f"{1e3 * times[min(len(times) - 1, int(len(times) * part))]:8.2f}" for part in (0.5, 0.99, 1))


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10
    kinds = {
        "nothing": None,
        "zstd, one record": long_batch.zstd_one_record(UNFOLDED),
        "gzip, one record": long_batch.gzip_one_record(UNFOLDED),
        "gzip, least records": long_batch.gzip_least_records(UNFOLDED >> 4),
        "lz4, one record": long_batch.lz4_one_record(UNFOLDED),
    }
    print(f"{'sent beside':20} {'ApiVersions p50 p99 worst, ms':>27} {'Produce p50 p99 worst, ms':>27} {'long batches':>13}")
    for name, batch in kinds.items():
        configs = {"tailrace.cores": 1, "tailrace.durability": "replicated"}
        with broker.Tailrace(configs) as server:
            server.start()
            with wire.Connection(server.address) as connection:
                connection.create_topics({"long": 1, "small": 1})
                while any(code for _, code, _ in connection.partitions(["long", "small"])["small"]):
                    pass
            stop, answers = threading.Event(), []
            thread = threading.Thread(target=send_long, args=(server.address, batch, stop, answers))
            if batch:
                thread.start()
            asked, produced = measure(server.address, seconds)
            stop.set()
            if batch:
                thread.join()
            assert all(code == 0 for code, _ in answers), answers[:3]
            print(f"{name:20} {show(asked):>27} {show(produced):>27} {len(answers):13}", flush=True)


if __name__ == "__main__":
    main()
