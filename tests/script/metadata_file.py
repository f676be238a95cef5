# SPDX-License-Identifier: Apache-2.0
"""`tailrace log` on the file of the embedded metadata store: dump shows its nodes; verify is content with it while the
broker runs and after the stop, notes what a crash left at its end, and finds a byte that has changed."""

import json
import subprocess

import broker
import wire

FILE = "tailrace.metadata"


def log(*words):
    """(exit status, lines)"""
    command = [broker.tailrace_binary(), "log", *map(str, words)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
    return done.returncode, done.stdout.splitlines()


def check_dump(path):
    status, lines = log("dump", path, "--json", "--value", "json")
    assert status == 0, lines
    nodes = {node["path"]: node for node in map(json.loads, lines)}
    assert list(nodes) == sorted(nodes)
    assert set(nodes["/brokers/topics/t"]["data"]["partitions"]) == {"0", "1"}, nodes["/brokers/topics/t"]
    assert nodes["/feature"]["data"] == {"features": {}, "version": 2, "status": 1} and nodes["/feature"]["version"] == 0
    status, lines = log("dump", path)
    assert status == 0 and len(lines) == len(nodes), lines
    assert any(line.startswith('"/brokers/topics/t" version 0 zxid ') for line in lines), lines
    assert len(log("dump", path, "--limit", "3")[1]) == 3


def check_damage(data, whole):
    path = data / FILE
    # Whoever was killed may leave that; whoever stopped in order does not.
    path.write_bytes(whole + b"torn")
    status, lines = log("verify", data)
    assert status == 1 and any(f"DAMAGED: {path} byte {len(whole)}: 4 bytes" in line for line in lines), lines
    (data / ".kafka_cleanshutdown").unlink()
    status, lines = log("verify", data)
    assert status == 0 and any(f"note: {path} byte {len(whole)}: 4 bytes" in line for line in lines), lines
    changed = bytearray(whole)
    changed[len(whole) // 2] ^= 1
    path.write_bytes(changed)
    status, lines = log("verify", data, "--json")
    found = [row for row in map(json.loads, lines) if row["type"] == "damage"]
    assert status == 1 and [row["file"] for row in found] == [FILE], lines
    status, lines = log("dump", path)
    assert status == 1 and "is damaged: byte " in lines[-1], lines
    path.write_bytes(whole)


def main():
    with broker.Tailrace() as server:
        server.start()
        with wire.Connection(server.address) as connection:
            connection.create_topics({"t": 2})
        status, lines = log("verify", server.data)
        assert status == 0 and "0 damaged places" in lines[-1], lines
        check_dump(server.data / FILE)
        assert server.stop() == 0
        status, lines = log("verify", server.data)
        assert status == 0 and "0 damaged places, 0 notes" in lines[-1], lines
        check_damage(server.data, (server.data / FILE).read_bytes())
    print("the metadata file is shown and verified")


if __name__ == "__main__":
    main()
