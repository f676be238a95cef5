# SPDX-License-Identifier: Apache-2.0
"""An orderly stop, as clients see it: whatever of a pipelining producer took effect has been answered, and it reads all its answers
and then the end of the stream, whether it goes on sending or does not read before the broker is gone. What only waits (a Fetch,
a JoinGroup, a CreateTopics, each for ten minutes; a deletion that has no descriptors) does not hold up the stop. A second
signal does not wait for it: the broker ends at once, as if it had been killed, and what was acknowledged is there at the next start.
"""

import contextlib
import os
import resource
import signal
import socket
import threading
import time

import answers
import broker
import records
import tables
import wire

ROUNDS, FIRST_ANSWERS, BURST = 6, 50, 100
TEN_MINUTES_MS = 600000
GAVE_UP = b"does not wait for its answers"  # the broker's patience ended first: the machine is too slow to show anything
NOT_LEADER, REQUEST_TIMED_OUT, LOAD_IN_PROGRESS, NOT_COORDINATOR, TOPIC_ALREADY_EXISTS = 6, 7, 14, 16, 36
NO_BROKER = 7
DEADLINE_S = 60
BATCH = records.batch(records.records([b"v" * 500]))


def connect(server):
    host, port = server.address.split(":")
    return socket.create_connection((host, int(port)), timeout=60)


def produce(correlation):
    rows = [{"Index": 0, "Records": BATCH}]
    values = {"Acks": -1, "TimeoutMs": 30000, "TopicData": [{"Name": "t", "PartitionData": rows}]}
    return tables.framed(tables.request("Produce", 3, values, correlation))


def offsets_in(data):
    """(correlation, offset) of each answer; every one is whole and says that the record was appended."""
    found = []
    while data:
        size = 4 + int.from_bytes(data[:4], "big")
        assert size <= len(data), "half an answer"
        correlation, answer = tables.decode_response("Produce", 3, data[4:size])
        row = answer["Responses"][0]["PartitionResponses"][0]
        assert row["ErrorCode"] == 0, row
        found.append((correlation, row["BaseOffset"]))
        data = data[size:]
    return found


def received(client):
    """A client that the machine did not let run for a while, and that sends then, is reset; but it has all its answers."""
    try:
        return client.recv(1 << 16)
    except ConnectionResetError:
        return b""


def send_on_and_on(client):
    """Until the broker or the reader has closed."""
    try:
        correlation = 0
        while True:
            client.sendall(produce(correlation))
            correlation += 1
    except OSError:
        pass


def reads_on(server):
    """A producer that sends and reads all the time; gives what it has read."""
    with connect(server) as client:
        sender = threading.Thread(target=send_on_and_on, args=(client,))
        sender.start()
        data, stopped = b"", False
        try:
            while part := received(client):
                data += part
                if not stopped and len(data) > FIRST_ANSWERS * 50:
                    stopped = True
                    server.process.child.terminate()
        finally:
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
            sender.join()
        assert server.process.child.wait(server.stop_timeout_s) == 0
        return data


def reads_late(server):
    """A producer that sends at once, and reads when the broker has ended."""
    with connect(server) as client:
        client.sendall(b"".join(produce(n) for n in range(BURST)))
        data = client.recv(1 << 16)
        assert server.stop() == 0
        while part := received(client):
            data += part
        return data


def log_end(server, topic="t"):
    """Once the started broker has loaded the log."""
    with wire.Connection(server.address) as connection:
        while True:
            try:
                return connection.offsets([(topic, 0)])[topic, 0]
            except wire.WireError as error:
                if error.code != NOT_LEADER:
                    raise


def all_is_answered(server, producer):
    begin, shown = log_end(server.start()), 0
    for _ in range(ROUNDS):
        said = server.log_path.read_bytes().count(GAVE_UP)
        data = producer(server)
        gave_up = server.log_path.read_bytes().count(GAVE_UP) > said
        end = log_end(server.start())
        if not gave_up:
            found = offsets_in(data)
            assert found == [(n, begin + n) for n in range(len(found))], "answers in order, none missing"
            assert begin + len(found) == end, f"{end - begin} records were appended, {len(found)} answered"
            shown += 1
        begin = end
    assert shown > 0, "the broker gave up each time"
    assert server.stop() == 0


def join(member):
    times = {"SessionTimeoutMs": TEN_MINUTES_MS, "RebalanceTimeoutMs": TEN_MINUTES_MS}
    protocol = {"ProtocolType": "consumer", "Protocols": [{"Name": "range", "Metadata": b""}]}
    member.send("JoinGroup", 3, {"GroupId": "g", "MemberId": "", **times, **protocol})


def is_there(api, name):
    asked = {"Topics": [{"Name": name, "NumPartitions": 1, "ReplicationFactor": 1}], "ValidateOnly": True}
    return api.ask("CreateTopics", 4, {"TimeoutMs": 10000, **asked})["Topics"][0]["ErrorCode"] == TOPIC_ALREADY_EXISTS


def what_waits(server):
    assert log_end(server.start(), "empty") == 0
    waiter, first, second, admin = (answers.Api(server.address, timeout_s=60) for _ in range(4))
    partition = {"Partition": 0, "FetchOffset": 0, "PartitionMaxBytes": 1 << 20}
    topics = [{"Topic": "empty", "Partitions": [partition]}]
    waiter.send("Fetch", 11, {"MaxWaitMs": TEN_MINUTES_MS, "MinBytes": 1 << 20, "Topics": topics})
    nobody = {"Name": "late", "NumPartitions": -1, "ReplicationFactor": -1}
    nobody["Assignments"] = [{"PartitionIndex": 0, "BrokerIds": [NO_BROKER]}]
    admin.send("CreateTopics", 4, {"Topics": [nobody], "TimeoutMs": TEN_MINUTES_MS})
    while not is_there(first, "late"):
        pass
    with wire.Connection(server.address) as connection:
        while connection.find_coordinator("g") != 0:
            pass
        join(first)
        while (code := first.receive()["ErrorCode"]) in (NOT_COORDINATOR, LOAD_IN_PROGRESS):
            join(first)
        assert code == 0, code
        join(second)
        while connection.group_state("g")[0] != "PreparingRebalance":
            pass
    assert server.stop() == 0
    assert second.receive()["ErrorCode"] == NOT_COORDINATOR
    assert admin.receive()["Topics"][0]["ErrorCode"] == REQUEST_TIMED_OUT
    try:
        row = waiter.receive()["Responses"][0]["Partitions"][0]
        assert row["ErrorCode"] == 0 and not row["Records"], row
    except ConnectionResetError:
        pass  # the Fetch had not been looked at yet
    for api in (waiter, first, second, admin):
        assert api.socket.recv(1) == b""


def asked_twice(server):
    """Both signals are there before the broker runs again (two of one kind would be one), so the first stop is always still busy."""
    begin = log_end(server.start())
    child = server.process.child
    with connect(server) as client:
        client.sendall(produce(0))
        assert len(offsets_in(client.recv(1 << 16))) == 1
        child.send_signal(signal.SIGSTOP)
        _, status = os.waitpid(child.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status), status
        client.sendall(produce(1)[:20])  # a stop waits until a client has been quiet for a while
        said = len(server.log_path.read_bytes())
        child.send_signal(signal.SIGINT)
        child.send_signal(signal.SIGTERM)
        child.send_signal(signal.SIGCONT)
        assert child.wait(server.stop_timeout_s) == 1
    log = server.log_path.read_bytes()[said:]
    assert b"stopped_at_once" in log and b" stopped status=" not in log and b" ERROR " not in log, log.decode()
    assert log.count(b" stopping ") == 1, log.decode()
    assert not (server.data / ".kafka_cleanshutdown").exists()
    assert log_end(server.start()) == begin + 1
    assert server.stop() == 0


def deletes(client):
    """Asks for a deletion that may take ten minutes."""
    with contextlib.suppress(OSError, wire.WireError):
        client.delete_topic("empty", TEN_MINUTES_MS)


def out_of_descriptors(server):
    """A deletion waits for descriptors, and its client for the deletion: neither holds up the stop."""
    said = server.log_path.stat().st_size
    server.start()
    with wire.Connection(server.address, timeout_s=60) as client:
        _, most = resource.prlimit(server.pid(), resource.RLIMIT_NOFILE)
        resource.prlimit(server.pid(), resource.RLIMIT_NOFILE, (3, most))
        asker = threading.Thread(target=deletes, args=(client,))
        asker.start()
        try:
            end = time.monotonic() + DEADLINE_S
            while b" checkpoint_delayed " not in server.log_path.read_bytes()[said:]:
                assert time.monotonic() < end, server.process.log_tail()
                time.sleep(0.02)
            assert server.stop() == 0
        finally:
            if server.process.running():
                server.kill()
            asker.join()
    server.start()
    assert server.stop() == 0


def main():
    properties = {"tailrace.cores": 2, "offsets.topic.num.partitions": 4, "log.retention.ms": -1}
    with broker.Tailrace(properties) as server:
        server.start()
        with wire.Connection(server.address) as connection:
            connection.create_topics({"t": 1, "empty": 1})
        assert server.stop() == 0
        all_is_answered(server, reads_on)
        all_is_answered(server, reads_late)
        what_waits(server)
        asked_twice(server)
        out_of_descriptors(server)
    print("what took effect was answered; what waited held up nothing, nor did the stop itself")


if __name__ == "__main__":
    main()
