# SPDX-License-Identifier: Apache-2.0
"""What is measured: Tailrace, Kafka 3.9.1 and the floor, each a process with an address.

Happy path: start(), then pid and address; the same client talks to all three. Kafka runs with the heap and the collector
that its own start script gives it. Failure modes: those of tests/lib/broker.py.
"""

import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "lib"))

import broker  # noqa: E402
import peers  # noqa: E402
import wire  # noqa: E402

# The defaults of Kafka's bin/kafka-server-start.sh and kafka-run-class.sh.
KAFKA_JVM = (
    "-Xmx1G -Xms1G -server -XX:+UseG1GC -XX:MaxGCPauseMillis=20 -XX:InitiatingHeapOccupancyPercent=35 "
    "-XX:+ExplicitGCInvokesConcurrent -Djava.awt.headless=true"
).split()
# Deleted topics go soon, so that a run does not write behind the next one's back.
COMMON = {"log.segment.delete.delay.ms": "1000", "auto.create.topics.enable": "false"}


def cpu_seconds(pid):
    """User and system time of all threads of a process, io_uring's workers among them."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def rss_mb(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise OSError(f"process {pid} has no VmRSS")


class Tailrace(broker.Tailrace):
    """With tailrace.durability=fsync (the default) or replicated."""

    name = "Tailrace"

    def __init__(self, directory, durability="fsync"):
        super().__init__({**COMMON, "tailrace.durability": durability}, directory=directory)


class Kafka(broker.Kafka):
    """Flushes before each acknowledgement where the topic says flush.messages=1."""

    name = "Kafka 3.9.1"

    def __init__(self, directory):
        super().__init__(COMMON, directory=directory)

    def command(self):
        jars = peers.kafka_jars("3.9.1")
        return ["java", *KAFKA_JVM, f"-Dlog4j.configuration=file:{self.log4j()}", "-cp", f"{jars}/*", "kafka.Kafka", self.config_path]


class Floor:
    """bench_load floor: receives, checks and appends, and nothing else."""

    name = "floor"

    def __init__(self, directory, load):
        self.directory, self.load, self.process = directory, load, None
        self.port = broker.free_port()
        self.address = f"127.0.0.1:{self.port}"

    def start(self):
        self.directory.mkdir(parents=True, exist_ok=True)
        self.process = broker.Process(
            [self.load, "floor", str(self.port), self.directory], self.directory / "floor.log"
        )
        time.sleep(0.3)
        return self

    def pid(self):
        return self.process.child.pid

    def close(self):
        if self.process is not None and self.process.running():
            self.process.end(9, 10)
        shutil.rmtree(self.directory, ignore_errors=True)

    def empty(self):
        """Its files go; it makes new ones for new connections."""
        for path in self.directory.glob("floor-*"):
            path.unlink()


def create_topic(subject, name, partitions, configs=None):
    """Returns when every partition has its leader."""
    if isinstance(subject, Floor):
        return
    with wire.Connection(subject.address, timeout_s=120) as connection:
        connection.create_topics({name: partitions}, configs, timeout_ms=110000)
        for _ in range(1000):
            rows = connection.partitions([name])[name]
            if len(rows) == partitions and all(code == 0 and leader >= 0 for _, code, leader in rows):
                return
            time.sleep(0.05)
    raise broker.BrokerError(f"{name}: not every partition has a leader")


def delete_topic(subject, name):
    if isinstance(subject, Floor):
        subject.empty()
        return
    with wire.Connection(subject.address) as connection:
        answer = connection.ask(
            wire.DELETE_TOPICS, 1, wire.array([wire.text(name)]) + (30000).to_bytes(4, "big")
        )
        answer.i32()
        for topic, code in answer.array(lambda: (answer.text(), answer.i16())):
            if code:
                raise wire.WireError(f"DeleteTopics {topic}", code)


def flushing(subject):
    """The topic settings with which a broker flushes before it acknowledges."""
    return {"flush.messages": "1"} if isinstance(subject, Kafka) else {}


def run_json(command, timeout_s=600):
    """The last line of a client's output, as JSON."""
    import json

    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=timeout_s, check=False)
    if done.returncode:
        raise broker.BrokerError(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])
