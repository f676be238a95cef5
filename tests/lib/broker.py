# SPDX-License-Identifier: Apache-2.0
"""Starts, stops and kills a broker for a test: Tailrace, or Apache Kafka 3.9.1 with its ZooKeeper.

Happy path: `with start("tailrace") as broker:` gives a broker that answers ApiVersions at `broker.address`, in a
temporary directory of its own, on ports that the kernel chose; `stop()`, `kill()` and `start()` may follow each other
on the same data; leaving the block kills what still runs and removes the directory. Failure modes: a broker that ends
or does not answer within its time raises BrokerError with the end of its log; `keep=True` (or TAILRACE_TEST_KEEP=1)
leaves the directory.
"""

import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import wire

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = pathlib.Path(os.environ.get("TAILRACE_TEST_CACHE", ROOT / "build" / "compat"))
SKIPPED = 77  # the exit status that ctest reads as "skipped"

# What a single node of either kind needs for tests: one replica of the internal topics, no initial wait for more
# members.
SINGLE_NODE = {
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
}


class BrokerError(Exception):
    """The broker did not start, or did not stop, as it should."""


def free_port():
    """A TCP port of 127.0.0.1 that nobody uses now, from below the range that the kernel gives to outgoing connections:
    one of those could have taken it when a stopped broker comes back."""
    lowest_outgoing = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii").split()[0])
    for _ in range(100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", random.randrange(max(1024, lowest_outgoing - 15000), lowest_outgoing)))
            except OSError:
                continue
            return probe.getsockname()[1]
    raise BrokerError("no free port found in 100 tries")


def tailrace_binary():
    """The binary under test: $TAILRACE_BINARY, or the newest of build/release and build/dev; None if there is none."""
    if os.environ.get("TAILRACE_BINARY"):
        return pathlib.Path(os.environ["TAILRACE_BINARY"]).resolve()
    built = [path for path in (ROOT / "build" / name / "tailrace" for name in ("release", "dev")) if path.exists()]
    return max(built, key=lambda path: path.stat().st_mtime) if built else None


def tailrace_has(command):
    """Whether the binary is there and lists the sub-command in its help. One that $TAILRACE_BINARY names, as ctest does, must: a test that
    is skipped because the binary is broken would let everything pass."""
    binary = tailrace_binary()
    found = False
    if binary is not None and binary.exists():
        shown = subprocess.run([binary, "--help"], capture_output=True, text=True, timeout=10, check=False)
        found = re.search(rf"^\s+{command}\s", shown.stdout + shown.stderr, re.MULTILINE) is not None
    if not found and os.environ.get("TAILRACE_BINARY"):
        raise BrokerError(f"{binary} is not there or has no sub-command {command}")
    return found


def tailrace_has_broker():
    """Whether there is a Tailrace to be tested."""
    return tailrace_has("broker")


def write_properties(path, values):
    """Writes a Java properties file."""
    path.write_text("".join(f"{key}={value}\n" for key, value in values.items()), encoding="utf-8")


class Process:
    """A child in a process group of its own, its output in a file."""

    def __init__(self, command, log_path, env=None, cwd=None):
        self.log_path = log_path
        with open(log_path, "ab") as log:
            self.child = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env, cwd=cwd
            )

    def running(self):
        return self.child.poll() is None

    def end(self, signal_number, timeout_s):
        """Sends the signal and gives the exit status; a child that outlives the time is killed, and that is an error."""
        if self.running():
            self.child.send_signal(signal_number)
        try:
            return self.child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
            raise BrokerError(f"still running {timeout_s} s after signal {signal_number}\n{self.log_tail()}") from None

    def log_tail(self, size=3000):
        return self.log_path.read_bytes()[-size:].decode(errors="replace")


def wait_until_answers(process, address, timeout_s):
    """Waits until the broker answers ApiVersions and knows itself and a controller."""
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        if not process.running():
            raise BrokerError(f"the broker ended with status {process.child.returncode}\n{process.log_tail()}")
        try:
            with wire.Connection(address, timeout_s=5) as connection:
                connection.api_versions()
                live, controller = connection.brokers()
                if live and controller >= 0:
                    return
        except OSError:
            pass  # not yet listening, or not yet serving
        time.sleep(0.02)
    raise BrokerError(f"no answer at {address} within {timeout_s} s\n{process.log_tail()}")


class Broker:
    """What the two kinds share: one address, one directory, start and stop."""

    kind = ""
    start_timeout_s = 60
    stop_timeout_s = 60

    def __init__(self, properties=None, keep=False, directory=None):
        self.keep = keep or bool(os.environ.get("TAILRACE_TEST_KEEP"))
        self.directory = pathlib.Path(directory or tempfile.mkdtemp(prefix=f"tailrace-test-{self.kind}-"))
        self.data = self.directory / "data"
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.log_path = self.directory / "broker.log"
        self.config_path = self.directory / "server.properties"
        self.process = None
        values = {"broker.id": "0", "listeners": f"PLAINTEXT://{self.address}", "log.dirs": self.data, **SINGLE_NODE}
        self.properties = {**values, **(properties or {})}

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def command(self):
        raise NotImplementedError

    def start(self, wait=True):
        """Starts the broker on the data that is there."""
        write_properties(self.config_path, self.properties)
        self.process = Process(self.command(), self.log_path, cwd=self.directory)
        if wait:
            wait_until_answers(self.process, self.address, self.start_timeout_s)
        return self

    def stop(self):
        """SIGTERM; gives the exit status."""
        return self.process.end(signal.SIGTERM, self.stop_timeout_s)

    def kill(self):
        """SIGKILL: nothing is flushed or said."""
        return self.process.end(signal.SIGKILL, 10)

    def pid(self):
        return self.process.child.pid

    def close(self):
        """Ends what runs and removes the directory."""
        if self.process is not None and self.process.running():
            self.process.end(signal.SIGKILL, 10)
        if self.keep:
            print(f"kept: {self.directory}")
        else:
            shutil.rmtree(self.directory, ignore_errors=True)


class Tailrace(Broker):
    """`tailrace broker server.properties --standalone`."""

    kind = "tailrace"
    start_timeout_s = 20
    stop_timeout_s = 20

    def command(self):
        return [tailrace_binary(), "broker", self.config_path, "--standalone"]


class Kafka(Broker):
    """Apache Kafka 3.9.1 in ZooKeeper mode, with a ZooKeeper of its own that lives until close()."""

    kind = "kafka"

    def __init__(self, properties=None, keep=False, directory=None):
        super().__init__(properties, keep, directory)
        self.zookeeper = None
        self.zookeeper_port = free_port()
        self.properties.update(
            {"zookeeper.connect": f"127.0.0.1:{self.zookeeper_port}", "zookeeper.session.timeout.ms": "6000"}
        )
        self.was_killed = False

    def java(self, heap, *words):
        import peers  # only Kafka needs the jars

        options = [
            "-Xmx" + heap,
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=4",
            "-Xshare:auto",
            f"-Dlog4j.configuration=file:{self.log4j()}",
        ]
        return ["java", *options, "-cp", f"{peers.kafka_jars('3.9.1')}/*", *words]

    def log4j(self):
        path = self.directory / "log4j.properties"
        write_properties(
            path,
            {
                "log4j.rootLogger": "INFO, out",
                "log4j.appender.out": "org.apache.log4j.ConsoleAppender",
                "log4j.appender.out.layout": "org.apache.log4j.PatternLayout",
                "log4j.appender.out.layout.ConversionPattern": "%d %p %m (%c)%n",
            },
        )
        return path

    def command(self):
        return self.java("768m", "kafka.Kafka", self.config_path)

    def start(self, wait=True):
        if self.zookeeper is None:
            config = self.directory / "zookeeper.properties"
            write_properties(
                config,
                {
                    "dataDir": self.directory / "zookeeper",
                    "clientPort": self.zookeeper_port,
                    "clientPortAddress": "127.0.0.1",
                    "admin.enableServer": "false",
                    "tickTime": "1000",
                },
            )
            command = self.java("256m", "org.apache.zookeeper.server.quorum.QuorumPeerMain", config)
            self.zookeeper = Process(command, self.directory / "zookeeper.log", cwd=self.directory)
        if self.was_killed:
            # The killed broker's session still holds its znode; Kafka does not start before it has expired.
            time.sleep(int(self.properties["zookeeper.session.timeout.ms"]) / 1000 + 2)
            self.was_killed = False
        return super().start(wait)

    def kill(self):
        self.was_killed = True
        return super().kill()

    def close(self):
        if self.zookeeper is not None and self.zookeeper.running():
            self.zookeeper.end(signal.SIGKILL, 10)
        super().close()


def start(kind, properties=None, keep=False):
    """A started broker of the kind `tailrace` or `kafka`; use it in a with statement."""
    broker = {"tailrace": Tailrace, "kafka": Kafka}[kind](properties, keep)
    try:
        return broker.start()
    except BaseException:
        broker.close()
        raise
