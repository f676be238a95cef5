# SPDX-License-Identifier: Apache-2.0
"""tailrace perf without a broker says at once that the connection was refused, although it goes on trying for a while."""

import subprocess
import time

import broker

AT_ONCE_S = 8  # each gives up after 15 s or more


def main():
    address = f"127.0.0.1:{broker.free_port()}"
    records = ["--topic", "t", "--num-records", "1", "--record-size", "1", "--throughput", "-1"]
    for words in (
        ["producer", "--bootstrap-server", address, *records],
        ["consumer", "--bootstrap-server", address, "--topic", "t", "--messages", "1"],
        ["e2e", address, "t", "1", "all", "1"],
    ):
        began = time.monotonic()
        command = [broker.tailrace_binary(), "perf", *words]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as child:
            try:
                said = child.stderr.readline()
                assert "refused" in said and address in said, said
                assert time.monotonic() - began < AT_ONCE_S, words
            finally:
                child.kill()
    print("a refused connection is told")


if __name__ == "__main__":
    main()
