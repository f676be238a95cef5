# SPDX-License-Identifier: Apache-2.0
"""A topic that is deleted and made again under its name, and the broker killed right after: the checkpoint lines of the old partition
(recovery point, log start, high watermark) must not be applied to the new one.
"""

import subprocess

import broker
import wire

RECORDS = 3000


def kcat(address, *arguments, text=None):
    command = ["kcat", "-b", address, "-q", *arguments]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return done.stdout


def produce(server, first, count):
    kcat(server.address, "-P", "-t", "again", "-X", "acks=all", text="".join(f"{first + i}\n" for i in range(count)))


def read(server):
    return [int(line) for line in kcat(server.address, "-C", "-t", "again", "-o", "beginning", "-e").splitlines()]


def main():
    # A checkpoint round every 100 ms, so that the old partition has lines in every file.
    fast = {"replica.high.watermark.checkpoint.interval.ms": 100, "log.flush.offset.checkpoint.interval.ms": 100}
    fast["log.initial.task.delay.ms"] = 100
    with broker.Tailrace(fast) as server:
        server.start()
        produce(server, 0, RECORDS)
        server.stop()
        server.start()  # the recovery point of the old partition is its end
        point = (server.data / "recovery-point-offset-checkpoint").read_text()
        assert f"again 0 {RECORDS}" in point, point
        with wire.Connection(server.address) as connection:
            connection.delete_topic("again")
        assert "again 0" not in (server.data / "recovery-point-offset-checkpoint").read_text(), "the line outlived the topic"
        produce(server, 10000, 10)
        server.kill()
        server.start()
        assert read(server) == list(range(10000, 10010)), "the new topic's records are not all there"
        assert server.stop() == 0
        assert " ERROR " not in server.log_path.read_text()
    print("a new topic is not taken for the old one")


if __name__ == "__main__":
    main()
