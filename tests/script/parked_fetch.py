# SPDX-License-Identifier: Apache-2.0
"""What ends the wait of a Fetch that wants more bytes than ever come: records deleted up to beyond its offset, the topic
deleted, a roll behind its offset. Each would otherwise wait a minute. Whether the fetch is parked when the event comes, or
reads after it, the answer is the same.
"""

import time

import answers
import broker
import records

WAIT_MS, SOON_S = 60000, 30
OFFSET_OUT_OF_RANGE, UNKNOWN_TOPIC = 1, 3


def create(api, name, **configs):
    rows = [{"Name": key.replace("_", "."), "Value": str(value)} for key, value in configs.items()]
    topic = {"Name": name, "NumPartitions": 1, "ReplicationFactor": 1, "Configs": rows}
    assert api.ask("CreateTopics", 4, {"Topics": [topic], "TimeoutMs": 10000})["Topics"][0]["ErrorCode"] == 0


def append(api, name):
    data = records.batch(records.records([b"v" * 150]))
    topic = {"Name": name, "PartitionData": [{"Index": 0, "Records": data}]}
    row = api.ask("Produce", 9, {"Acks": -1, "TimeoutMs": 10000, "TopicData": [topic]})["Responses"][0]["PartitionResponses"][0]
    assert row["ErrorCode"] == 0, row


def answered(address, name, offset, event):
    """The row that a fetch from the offset gets after the event."""
    waiter = answers.Api(address, timeout_s=120)
    partition = {"Partition": 0, "FetchOffset": offset, "PartitionMaxBytes": 1 << 20}
    asked = {"MaxWaitMs": WAIT_MS, "MinBytes": 1 << 20, "Topics": [{"Topic": name, "Partitions": [partition]}]}
    begin = time.monotonic()
    waiter.send("Fetch", 11, asked)
    event()
    row = waiter.receive()["Responses"][0]["Partitions"][0]
    assert time.monotonic() - begin < SOON_S, f"{name}: the wait went on"
    return row


def main():
    with broker.Tailrace({"log.retention.ms": -1}) as server:
        server.start()
        api = answers.Api(server.address)
        create(api, "shrinks")
        for _ in range(6):
            append(api, "shrinks")
        asked = {"Name": "shrinks", "Partitions": [{"PartitionIndex": 0, "Offset": 4}]}
        row = answered(
            server.address, "shrinks", 2, lambda: api.ask("DeleteRecords", 1, {"Topics": [asked], "TimeoutMs": 10000})
        )
        assert row["ErrorCode"] == OFFSET_OUT_OF_RANGE, row

        create(api, "rolls", segment_bytes=300)
        append(api, "rolls")
        row = answered(server.address, "rolls", 1, lambda: [append(api, "rolls") for _ in range(2)])
        assert row["ErrorCode"] == 0 and row["Records"], row

        create(api, "goes")
        gone = {"TopicNames": ["goes"], "TimeoutMs": 10000}
        row = answered(server.address, "goes", 0, lambda: api.ask("DeleteTopics", 1, gone))
        assert row["ErrorCode"] == UNKNOWN_TOPIC, row
        assert server.stop() == 0
    print("what waits in vain is answered")


if __name__ == "__main__":
    main()
