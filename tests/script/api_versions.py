# SPDX-License-Identifier: Apache-2.0
"""ApiVersions lists exactly what is served, with all versions of Kafka 3.9; a version that it does not know is answered in v0."""

import socket
import struct

import broker

# key: (lowest, highest) version. Transactions, TLS, quotas, reassignments and inter-broker requests are not served yet.
SERVED = {
    0: (0, 11), 1: (0, 17), 2: (0, 9), 3: (0, 12), 8: (0, 9), 9: (0, 9), 10: (0, 6), 11: (0, 9), 12: (0, 4), 13: (0, 5), 14: (0, 5),
    15: (0, 5), 16: (0, 5), 18: (0, 4), 19: (0, 7), 20: (0, 6), 21: (0, 2), 22: (0, 5), 23: (0, 4), 29: (0, 3), 30: (0, 3), 31: (0, 3),
    32: (0, 4), 33: (0, 2), 35: (0, 4), 37: (0, 3), 42: (0, 2), 44: (0, 1), 46: (0, 0), 47: (0, 0), 60: (0, 1), 61: (0, 0),
}  # fmt: skip


def ask(address, version, body=b""):
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), timeout=10) as client:
        header = struct.pack(">hhih", 18, version, 7, -1) + (b"\0" if version >= 3 else b"")
        request = header + body
        client.sendall(struct.pack(">i", len(request)) + request)
        size = struct.unpack(">i", receive(client, 4))[0]
        return receive(client, size)


def receive(client, size):
    data = b""
    while len(data) < size:
        part = client.recv(size - len(data))
        assert part, "the connection was closed"
        data += part
    return data


def rows_of_v0(answer):
    correlation, error, count = struct.unpack_from(">ihi", answer)
    assert correlation == 7
    rows = [struct.unpack_from(">hhh", answer, 10 + 6 * i) for i in range(count)]
    return error, {key: (low, high) for key, low, high in rows}, [row[0] for row in rows]


def main():
    with broker.Tailrace() as server:
        server.start()
        error, rows, keys = rows_of_v0(ask(server.address, 0))
        assert error == 0
        assert rows == SERVED, f"missing {SERVED.items() - rows.items()}, too much {rows.items() - SERVED.items()}"
        assert keys == sorted(set(keys)), "rows are sorted and unique"
        for version in (5, 99, -1):
            error, rows, _ = rows_of_v0(ask(server.address, version, b"\xff" * 20))
            assert (error, rows) == (35, {18: (0, 4)}), (version, error, rows)
        named = b"\x05test\x041.0\0"
        answer = ask(server.address, 3, named)
        assert struct.unpack_from(">ih", answer) == (7, 0) and answer[6] == len(SERVED) + 1
        assert struct.unpack_from(">ih", ask(server.address, 3, b"\x05te t\x041.0\0")) == (7, 42)
    print(f"{len(SERVED)} APIs")


if __name__ == "__main__":
    main()
