# SPDX-License-Identifier: Apache-2.0
"""Kafka 3.9.1's tools in one JVM, and their output with everything taken out that two brokers may say differently.

Happy path: Tools.call() gives exit status, standard output and standard error. Failure modes: a tool that does not end
within its time is an answer too (status "none"); the JVM is then started afresh.
"""

import pathlib
import re
import select
import subprocess

import peers

HERE = pathlib.Path(__file__).resolve().parent
CALL_LIMIT_S = 60
OPTIONS = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")


class Tools:
    """A JVM that runs one tool after another."""

    def __init__(self, work):
        self.work, self.jvm = work, None
        jars = peers.kafka_jars("3.9.1")
        source = HERE / "Launcher.java"
        classes = peers.once(
            "tools39-launcher",
            [source],
            lambda folder: peers.run(["javac", "-Xlint:all", "-Werror", "-cp", f"{jars}/*", "-d", folder, source]),
        )
        log4j = work / "log4j.properties"
        log4j.write_text("log4j.rootLogger=OFF\n", encoding="utf-8")
        self.command = [
            "java",
            *OPTIONS,
            f"-Dlog4j.configuration=file:{log4j}",
            "-cp",
            f"{classes}:{jars}/*",
            "Launcher",
        ]

    def call(self, class_name, arguments, stdin="-"):
        """(exit status, standard output, standard error)."""
        if self.jvm is None:
            with open(self.work / "launcher.err", "ab") as err:
                self.jvm = subprocess.Popen(
                    self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err, text=True
                )
        out, err = self.work / "out", self.work / "err"
        self.jvm.stdin.write("\t".join([str(out), str(err), str(stdin), class_name, *arguments]) + "\n")
        self.jvm.stdin.flush()
        if select.select([self.jvm.stdout], [], [], CALL_LIMIT_S)[0]:
            answer = self.jvm.stdout.readline().strip()
        else:
            answer = f"status none, after {CALL_LIMIT_S} s"
        if not re.fullmatch(r"status -?\d+", answer):
            self.close()
            answer = answer or "status none, the JVM ended"
        shown = [path.read_text(encoding="utf-8", errors="replace") for path in (out, err)]
        return answer.removeprefix("status "), *shown

    def close(self):
        if self.jvm is not None:
            self.jvm.kill()
            self.jvm.wait()
            self.jvm = None


def replacements(address, data):
    """(pattern, text) pairs, applied in this order."""
    host, port = address.split(":")
    return [
        (re.escape(str(data)), "DATA"),
        (re.escape(address), "BROKER"),
        (rf"\b{port}\b", "PORT"),
        (r"\b[\w.-]*?-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "MEMBER"),
        (r"TopicId: [\w-]{22}", "TopicId: ID"),
        (r"Cluster ID: \S+", "Cluster ID: ID"),
        (r"\[20\d\d-\d\d-\d\d \d\d:\d\d:\d\d,\d+\]", "[TIME]"),
        (r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d:\d+", "TIME"),
        (r"\b1[5-9]\d{11}\b", "MILLISECONDS"),
        (r'"size":[1-9]\d*', '"size":N'),
        (r"console-consumer-\d+", "console-consumer-N"),
        (r"perf:(\d):\d+", r"perf:\1:N"),
        (r"zookeeper\.(connect|session\.timeout\.ms)=.*", ""),
        # Ours: keys of our own, and internal topics that default to one replica on a standalone broker.
        (r"tailrace\.[a-z.]+=.*", ""),
        (r"(DEFAULT_CONFIG:(?:offsets\.topic|transaction\.state\.log)\.(?:replication\.factor|min\.isr))=\d", r"\1=N"),
    ]


def figures(text):
    """Measured figures become N; what was counted stays."""
    text = re.sub(r"\d+\.\d+", "N", text)
    text = re.sub(r"N records/sec|N MB/sec", "N /s", text)
    text = re.sub(r"(\d+|N)th = \d+", "Nth = N", text)
    text = re.sub(r"(TIME, TIME, N, N, \d+, N), \d+, \d+,", r"\1, N, N,", text)
    return re.sub(r"\b\d+ ms\b", "N ms", text)


MEASURING = {"producer-perf", "consumer-perf", "end-to-end"}


# Tools that print in the order of a hash map.
UNORDERED = {"topics", "configs", "groups", "log-dirs", "offsets", "transactions", "delete-records"}


def sorted_configs(line):
    """A topic's line with its overrides in alphabetical order."""
    head, found, configs = line.partition(" Configs: ")
    return head + found + ",".join(sorted(configs.split(","))) if found else line


def normal(tool, text, pairs):
    """The output as it is compared."""
    for pattern, replacement in pairs:
        text = re.sub(pattern, replacement, text)
    if tool in MEASURING:
        text = figures(text)
    lines = [re.sub(r"[ \t]+", " ", line).strip() for line in text.splitlines()]
    # A stack trace's lines are about the tool, not the broker; EXITED is the launcher's.
    lines = [line for line in lines if line and not re.match(r"at [\w.$]+[(/]|\.\.\. \d+ more|EXITED$", line)]
    return sorted(map(sorted_configs, lines)) if tool in UNORDERED else lines
