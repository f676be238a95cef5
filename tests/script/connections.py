# SPDX-License-Identifier: Apache-2.0
"""Clients that end their stream: what they sent before is handled, and answered if they still read. When it is the broker that ends
it, because a Produce with acks=0 has failed, nothing behind that one is appended. The limits on connections, from the file and changed
at run time.
"""

import socket

import answers
import broker
import records
import tables
import wire

BURST = 500


def connect(server):
    host, port = server.address.split(":")
    return socket.create_connection((host, int(port)), timeout=20)


def produce(acks, correlation, topic="t", **fields):
    rows = [{"Index": 0, "Records": records.batch(records.records([b"%d" % correlation]), **fields)}]
    values = {"Acks": acks, "TimeoutMs": 10000, "TopicData": [{"Name": topic, "PartitionData": rows}]}
    return tables.framed(tables.request("Produce", 3, values, correlation))


def read_all(client):
    data = b""
    while part := client.recv(1 << 16):
        data += part
    return data


def records_when(server, count):
    """Waits until the partition has that many records."""
    with wire.Connection(server.address) as connection:
        while (end := connection.offsets([("t", 0)])["t", 0]) < count:
            pass
    return end


def fire_and_close(server):
    """A producer with acks=0 that closes at once, its requests still on the way."""
    with connect(server) as client:
        client.sendall(b"".join(produce(0, n) for n in range(BURST)))
    assert records_when(server, BURST) == BURST


def failed_without_acknowledgement(server):
    """What is refused before the log, by the checks of the batch, by the log itself; alone and behind requests with other acks."""
    sequence = {"producer_id": 1, "producer_epoch": 0}
    bad = {"no such topic": {"topic": "nosuch"}, "checksum": {"crc": 1}, "sequence": {"base_sequence": 7, **sequence}}
    for what, fields in bad.items():
        topic, first = "failed-" + what.replace(" ", "-"), {"base_sequence": 0, **sequence}
        with wire.Connection(server.address) as connection:
            connection.create_topics({topic: 1})
            while any(code for rows in connection.partitions([topic]).values() for _, code, _ in rows):
                pass
        for acks in (0, 1):
            with connect(server) as client:
                before, _ = produce(acks, 0, topic, **first), first.update(base_sequence=1)
                behind = b"".join(produce(acks, n, topic) for n in range(2, 100) for acks in (0, 1))
                try:
                    client.sendall(before + produce(0, 1, **{"topic": topic, **fields}) + behind)
                    data = read_all(client)
                except (ConnectionResetError, BrokenPipeError):  # perhaps before the last of it is sent
                    data = b""
            assert len(data) < 100, f"{what}: something behind it was answered"
        with connect(server) as client:
            client.sendall(produce(1, 5, topic))
            size = int.from_bytes(client.recv(4, socket.MSG_WAITALL), "big")
            _, answer = tables.decode_response("Produce", 3, client.recv(size, socket.MSG_WAITALL))
        row = answer["Responses"][0]["PartitionResponses"][0]
        assert (row["ErrorCode"], row["BaseOffset"]) == (0, 2), f"{what}: {row}, expected the two that came before the failures"


def half_closed(server):
    with connect(server) as client:
        client.sendall(b"".join(produce(-1, n) for n in range(5)))
        client.shutdown(socket.SHUT_WR)
        data, found = read_all(client), []
        while data:
            size = 4 + int.from_bytes(data[:4], "big")
            correlation, answer = tables.decode_response("Produce", 3, data[4:size])
            row = answer["Responses"][0]["PartitionResponses"][0]
            found.append((correlation, row["ErrorCode"], row["BaseOffset"]))
            data = data[size:]
    assert found == [(n, 0, BURST + n) for n in range(5)], found


def alter(api, name, value):
    configs = [{"Name": name, "ConfigOperation": 0, "Value": value}]
    resources = [{"ResourceType": 4, "ResourceName": "", "Configs": configs}]
    answer = api.ask("IncrementalAlterConfigs", 1, {"Resources": resources, "ValidateOnly": False})
    assert answer["Responses"][0]["ErrorCode"] == 0, answer


def is_served(client, timeout_s=20):
    """None: no answer within the time."""
    try:
        client.settimeout(timeout_s)
        client.sendall(tables.framed(tables.request("ApiVersions", 0, {})))
        return bool(client.recv(1))
    except TimeoutError:
        return None
    except ConnectionError:
        return False


def fill(server, count):
    """That many connections which are served; the ends of earlier ones may not have been seen yet."""
    clients = []
    while len(clients) < count:
        clients.append(connect(server))
        if not is_served(clients[-1]):
            clients.pop().close()
    return clients


def close_all(clients):
    for client in clients:
        client.close()


def limits_at_run_time(server):
    api = answers.Api(server.address)  # it has a place of its own
    alter(api, "max.connections.per.ip", "4")
    clients = fill(server, 3)
    with connect(server) as another:
        assert is_served(another) is False
    close_all(clients)
    alter(api, "max.connections.per.ip", "1000")
    clients = fill(server, 3)
    alter(api, "max.connections", "4")
    with connect(server) as another:
        assert is_served(another, 0.3) is None
        clients.pop().close()
        another.settimeout(20)
        assert another.recv(1), "it has a place now"
    close_all(clients)


def limits_of_the_file(server):
    server.properties["max.connections.per.ip"] = 0
    server.properties["max.connections.per.ip.overrides"] = "127.0.0.1:5"
    server.start()
    clients = fill(server, 5)
    with connect(server) as another:
        assert is_served(another) is False
    close_all(clients)


def main():
    with broker.Tailrace({"tailrace.cores": 2, "log.retention.ms": -1}) as server:
        server.start()
        with wire.Connection(server.address) as connection:
            connection.create_topics({"t": 1})
        fire_and_close(server)
        half_closed(server)
        failed_without_acknowledgement(server)
        limits_at_run_time(server)
        assert server.stop() == 0
    with broker.Tailrace() as server:
        limits_of_the_file(server)
        assert server.stop() == 0
    print("what was sent is handled; limits on connections hold")


if __name__ == "__main__":
    main()
