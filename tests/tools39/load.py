# SPDX-License-Identifier: Apache-2.0
"""The load of `dump` and `verify`: small segments, every codec, a group, and a feeder that runs into a kill.

Happy path: topics(), records(), ends(), feed(). Failure modes: a tool that fails raises BrokerError with what it said; a
broker that has just started is asked again while it answers that it does not lead, or still loads.
"""

import json
import subprocess
import time

import broker as brokers
import families
import tools
import wire

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
PARTITIONS, FED_PARTITIONS, RECORDS = 2, 12, 3000
RATE_PER_S, FEED_S = 2000, 2
SETTLE_LIMIT_S = 20
STARTING = (3, 6, 14, 15, 16)  # unknown topic, not leader, coordinator loading, not available, not coordinator
PERF = "org.apache.kafka.tools.ProducerPerformance"
READ = "org.apache.kafka.tools.ConsumerPerformance"


def patiently(ask):
    """Asks again while a broker that has just started answers that it does not lead yet, or loads yet."""
    end = time.monotonic() + SETTLE_LIMIT_S
    while True:
        try:
            return ask()
        except wire.WireError as error:
            if error.code not in STARTING or time.monotonic() > end:
                raise
        time.sleep(0.1)


class Load:
    """The load on one broker."""

    def __init__(self, broker, work):
        self.broker, self.work, self.tools = broker, work, tools.Tools(work)

    def close(self):
        self.tools.close()

    def tool(self, class_name, words):
        status, out, err = self.tools.call(class_name, [str(word) for word in words])
        if status != "0":
            raise brokers.BrokerError(f"{class_name}: exit status {status}: {out[-300:]} {err[-500:]}")

    def topics(self):
        with wire.Connection(self.broker.address) as connection:
            names = {f"dump-{codec}": PARTITIONS for codec in CODECS}
            configs = {"segment.bytes": "200000", "index.interval.bytes": "1024"}
            connection.create_topics({**names, "fed": FED_PARTITIONS}, configs)
            end = time.monotonic() + 30
            while any(leader < 0 for rows in connection.partitions([*names, "fed"]).values() for _, _, leader in rows):
                if time.monotonic() > end:
                    raise brokers.BrokerError("partitions without a leader 30 s after CreateTopics")
                time.sleep(0.1)

    def records(self):
        """Records in every codec, and a group that reads them."""
        for codec in CODECS:
            words = ["--topic", f"dump-{codec}", "--num-records", RECORDS, "--record-size", 300, "--throughput", -1]
            props = [f"bootstrap.servers={self.broker.address}", "acks=all", f"compression.type={codec}"]
            self.tool(PERF, [*words, "--producer-props", *props, "batch.size=4000"])
        words = ["--bootstrap-server", self.broker.address, "--topic", "dump-lz4", "--messages", RECORDS]
        self.tool(READ, [*words, "--group", "dump"])

    def feed(self):
        """A producer that writes until it is killed."""
        command = [*families.FAMILIES["rdkafka"].provide(), "feed", "--broker", self.broker.address, "--topics", "fed"]
        command += ["--rate-per-s", str(RATE_PER_S)]
        with open(self.work / "feed", "wb") as out, open(self.work / "feed.err", "wb") as err:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)

    def acknowledged(self):
        """{("fed", partition): offset after the last acknowledged record}."""
        ends = {}
        for line in (self.work / "feed").read_text(encoding="utf-8").splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                break  # the last line, cut by SIGKILL
            ends["fed", row["p"]] = max(ends.get(("fed", row["p"]), 0), row["o"] + 1)
        return ends

    def ends(self):
        """({(topic, partition): end offset}, {(group, topic, partition): committed offset})."""
        with wire.Connection(self.broker.address) as connection:
            keys = [(f"dump-{codec}", partition) for codec in CODECS for partition in range(PARTITIONS)]
            read = [key for key in keys if key[0] == "dump-lz4"]
            keys += [("fed", partition) for partition in range(FED_PARTITIONS)]
            offsets = patiently(lambda: connection.offsets(keys))
            committed = patiently(lambda: connection.committed("dump", read))
            return offsets, {("dump", *key): offset for key, offset in committed.items()}
