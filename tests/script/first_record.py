# SPDX-License-Identifier: Apache-2.0
"""kcat writes 10,000 records over the partitions of both cores; after kill -9 every acknowledged one is there.

And while they are read again, strace sees the records leave by sendfile: no read of record bytes.
"""

import re
import signal
import subprocess
import sys
import time

import broker

RECORDS = 10000
PARTITIONS = 4


def kcat(address, *arguments, text=None):
    command = ["kcat", "-b", address, "-q", *arguments]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return done.stdout


def check_nothing_is_lost(server):
    values = "\n".join(str(i) for i in range(RECORDS)) + "\n"
    # Fails unless all are acknowledged.
    kcat(server.address, "-P", "-t", "first", "-X", "acks=all", "-X", "sticky.partitioning.linger.ms=0", text=values)
    check_both_cores_append(server)
    server.kill()
    server.start()
    read = kcat(server.address, "-C", "-t", "first", "-o", "beginning", "-e", "-f", "%p %o %s\n")
    rows = [line.split() for line in read.splitlines()]
    assert sorted(int(row[2]) for row in rows) == list(range(RECORDS)), "not every record is there exactly once"
    for partition in range(PARTITIONS):
        offsets = [int(row[1]) for row in rows if int(row[0]) == partition]
        assert offsets == list(range(len(offsets))) and offsets, f"offsets of partition {partition} are not dense"


def check_both_cores_append(server):
    """By what each core says of its own steps; asked again until both have answered."""

    def appending():
        counts = re.findall(r" steps core=(\d+) append counted .*?\brelease=(\d+)/", server.process.log_tail(100_000))
        return {core for core, count in counts if int(count) > 0}

    end = time.monotonic() + 30
    while appending() != {"0", "1"}:
        assert server.process.running() and time.monotonic() < end, f"records are appended by cores {appending()} only"
        server.process.child.send_signal(signal.SIGUSR1)
        time.sleep(0.01)


def check_zero_copy(server):
    trace = server.directory / "strace"
    calls = "trace=sendfile,read,readv,pread64,preadv,preadv2,splice"
    tracer = subprocess.Popen(["strace", "-f", "-e", calls, "-o", trace, "-p", str(server.pid())], stderr=subprocess.PIPE, text=True)
    while "attached" not in tracer.stderr.readline():
        pass
    kcat(server.address, "-C", "-t", "first", "-o", "beginning", "-e")
    tracer.terminate()
    tracer.wait(timeout=10)
    sent, read = 0, 0
    for line in trace.read_text().splitlines():
        call = re.search(r"(\w+)\((?:.*)\)\s+= (\d+)$", line)
        if call and call[1] == "sendfile":
            sent += int(call[2])
        elif call and call[1] in ("pread64", "preadv", "preadv2", "read", "readv") and int(call[2]) > 61:
            read += int(call[2])  # more than a batch header, or a probe of one byte
    size = sum(path.stat().st_size for path in server.data.glob("first-*/*.log"))
    assert sent >= size, f"{sent} bytes by sendfile, the log has {size}"
    assert read == 0, f"{read} bytes were read into memory"


def main():
    if subprocess.run(["sh", "-c", "command -v kcat strace"], capture_output=True, check=False).returncode != 0:
        sys.exit("kcat and strace are needed: apt-get install kcat strace")
    started = time.monotonic()
    with broker.Tailrace({"num.partitions": PARTITIONS, "tailrace.cores": 2}) as server:
        server.start()
        check_nothing_is_lost(server)
        check_zero_copy(server)
        assert server.stop() == 0
        errors = [line for line in server.log_path.read_text().splitlines() if " ERROR " in line]
        assert not errors, errors
    print(f"{RECORDS} records over {PARTITIONS} partitions survived kill -9; {time.monotonic() - started:.1f} s")


if __name__ == "__main__":
    main()
