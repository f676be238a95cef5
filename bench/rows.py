# SPDX-License-Identifier: Apache-2.0
"""The measurements of bench/compare, each a function of one subject that gives numbers by name.

Memory is taken and given back before each that writes, and what is dirty is written, so that nobody pays for the state in
which the last one left the machine (the first touch of a guest's memory costs more than a produce).
"""

import os
import pathlib
import time

from subjects import cpu_seconds, create_topic, delete_topic, flushing, rss_mb, run_json

PARTITIONS, CONNECTIONS, IN_FLIGHT, RECORD_BYTES, BATCH_BYTES = 12, 4, 5, 1000, 65536


class Bench:
    """What the measurements share: the programs, how much to do, and a counter for names."""

    def __init__(self, load, tailrace, short):
        self.load, self.tailrace = load, tailrace
        self.bulk_bytes = 200_000_000 if short else 1_000_000_000
        self.fetch_bytes = 500_000_000 if short else 10_000_000_000
        self.latency_s, self.latency_warm_s = (3, 1) if short else (15, 3)
        self.settle_s, self.idle_s = (1, 3) if short else (5, 30)
        self.touch_mib = 512 if short else 2048
        self.number = 0

    def new_name(self, what):
        self.number += 1
        return f"{what}-{self.number}"

    def prepare(self):
        os.sync()
        run_quietly([self.load, "touch", str(self.touch_mib)])

    def produce(self, subject, topic, total_bytes):
        words = [PARTITIONS, CONNECTIONS, IN_FLIGHT, RECORD_BYTES, BATCH_BYTES, total_bytes, -1]
        return run_json([self.load, "produce", subject.address, topic, *words])

    def fetch(self, subject, topic, total_bytes):
        return run_json([self.load, "fetch", subject.address, topic, PARTITIONS, CONNECTIONS, 1 << 20, total_bytes])


def run_quietly(command):
    import subprocess

    subprocess.run([str(word) for word in command], check=True)


def machine_busy_seconds():
    """CPU time of everything on the machine that was not idle."""
    fields = pathlib.Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:]
    user, nice, system, _, _, irq, softirq, steal = map(int, fields[:8])
    return (user + nice + system + irq + softirq + steal) / 100


def measure_cpu(subject, client):
    """Runs client(); its result, the subject's CPU, and what others used meanwhile (kernel threads and other programs)."""
    begin, busy, cpu = time.monotonic(), machine_busy_seconds(), cpu_seconds(subject.pid())
    result = client()
    cpu = cpu_seconds(subject.pid()) - cpu
    others = max(0.0, machine_busy_seconds() - busy - cpu - result["client_cpu_seconds"])
    return result, cpu, others / ((time.monotonic() - begin) * os.cpu_count()) * 100


def bulk(bench, subject, flush):
    """12 partitions, 4 connections with 5 requests of 64 KiB in flight each, records of 1,000 bytes, acks=all."""
    topic = bench.new_name("bulk")
    create_topic(subject, topic, PARTITIONS, flushing(subject) if flush else {})
    bench.prepare()
    total_bytes = bench.bulk_bytes // 3 if flush else bench.bulk_bytes
    busy = machine_busy_seconds()
    result, cpu, others = measure_cpu(subject, lambda: bench.produce(subject, topic, total_bytes))
    os.sync()  # what the broker left to the kernel's threads counts for the machine
    machine = machine_busy_seconds() - busy - result["client_cpu_seconds"]
    delete_topic(subject, topic)
    time.sleep(1.5)
    gb = result["bytes"] / 1e9
    return {
        "cpu_s_per_gb": cpu / gb,
        "machine_s_per_gb": machine / gb,
        "mb_per_s": result["bytes"] / result["seconds"] / 1e6,
        "others_percent": others,
    }


def load_warm(bench, subject):
    """The topic that fetch reads."""
    create_topic(subject, "warm", PARTITIONS)
    bench.produce(subject, "warm", bench.bulk_bytes)
    bench.fetch(subject, "warm", bench.bulk_bytes)


def fetch(bench, subject):
    """12 partitions out of the page cache, 4 connections, up to 1 MiB of each partition in a response."""
    result, cpu, others = measure_cpu(subject, lambda: bench.fetch(subject, "warm", bench.fetch_bytes))
    gb = result["bytes"] / 1e9
    return {"cpu_s_per_gb": cpu / gb, "mb_per_s": result["bytes"] / result["seconds"] / 1e6, "others_percent": others}


def latency(bench, subject):
    """tailrace perf producer, open loop, 2,000 records a second of 1,000 bytes, one partition, acks=all, linger.ms=0,
    five requests in flight, a flush before each acknowledgement; from the intended time."""
    topic = bench.new_name("latency")
    create_topic(subject, topic, 1, flushing(subject))
    bench.prepare()
    rate, warm = 2000, 2000 * bench.latency_warm_s
    words = ["--bootstrap-server", subject.address, "--topic", topic, "--rate", rate, "--record-size", RECORD_BYTES]
    words += ["--num-records", rate * bench.latency_s + warm, "--warmup-records", warm, "--json"]
    # As many requests in flight as the Java producer has: what waits for them goes together in the next one.
    words += ["--producer-props", "acks=all", "linger.ms=0", "max.in.flight.requests.per.connection=5"]
    result, cpu, others = measure_cpu(subject, lambda: run_json([bench.tailrace, "perf", "producer", *words]))
    delete_topic(subject, topic)
    found = {key: result["latency_ms"][key] for key in ("p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99", "max")}
    found["requests_per_s"] = result["requests"] / (rate * bench.latency_s + warm) * rate
    cpu_us = cpu / result["requests"] * 1e6
    return {**found, "cpu_percent": cpu / result["seconds"] * 100, "cpu_us_per_request": cpu_us, "others_percent": others}


def start(bench, subject):
    """From starting the process to the first acknowledged record, on a topic that is there; then idle memory and CPU."""
    subject.stop()
    begin = time.monotonic_ns()
    subject.start(wait=False)
    acknowledged = run_json([bench.load, "first-ack", subject.address, "first", 120000])["acknowledged_ns"]
    time.sleep(bench.settle_s)
    cpu, rss = cpu_seconds(subject.pid()), rss_mb(subject.pid())
    time.sleep(bench.idle_s)
    used = cpu_seconds(subject.pid()) - cpu
    return {
        "start_ms": (acknowledged - begin) / 1e6,
        "idle_rss_mb": max(rss, rss_mb(subject.pid())),
        "idle_cpu_percent": used / bench.idle_s * 100,
    }


def partitions(bench, subject, count):
    """Memory after a record was written to each of `count` partitions."""
    topic = bench.new_name("many")
    create_topic(subject, topic, count)
    run_json([bench.load, "produce", subject.address, topic, count, 1, 5, 100, 1, count * 300, -1])
    time.sleep(bench.settle_s)
    rss = rss_mb(subject.pid())
    delete_topic(subject, topic)
    return {"partitions_rss_mb": rss, "partitions": count}
