# SPDX-License-Identifier: Apache-2.0
"""producer.id.expiration.ms changed while the broker runs, as Kafka: in force for partitions that are there already, and idle producers
go at the next producer.id.expiration.check.interval.ms, which has nothing to do with that of retention.
"""

import time

import answers
import broker
import records

DEADLINE_S = 30


def produce(api):
    now_ms = int(time.time() * 1000)
    batch = records.batch(records.records([b"v"]), producer_id=9, producer_epoch=0, base_sequence=0, base_timestamp=now_ms,
                          max_timestamp=now_ms)
    topic = {"Name": "idle", "PartitionData": [{"Index": 0, "Records": batch}]}
    answer = api.ask("Produce", 8, {"TransactionalId": None, "Acks": -1, "TimeoutMs": 5000, "TopicData": [topic]})
    row = answer["Responses"][0]["PartitionResponses"][0]
    assert row["ErrorCode"] == 0, row
    return row["BaseOffset"]


def producers(api):
    answer = api.ask("DescribeProducers", 0, {"Topics": [{"Name": "idle", "PartitionIndexes": [0]}]})
    return answer["Topics"][0]["Partitions"][0]["ActiveProducers"]


def expire_after(api, value):
    change = {"Name": "producer.id.expiration.ms", "ConfigOperation": 0, "Value": value}
    resource = {"ResourceType": 4, "ResourceName": "", "Configs": [change]}
    answer = api.ask("IncrementalAlterConfigs", 0, {"Resources": [resource], "ValidateOnly": False})
    assert answer["Responses"][0]["ErrorCode"] == 0, answer


def main():
    with broker.Tailrace({"producer.id.expiration.check.interval.ms": 20}) as server:
        server.start()
        api = answers.Api(server.address)
        topic = {"Name": "idle", "NumPartitions": 1, "ReplicationFactor": 1}
        created = api.ask("CreateTopics", 4, {"Topics": [topic], "TimeoutMs": 10000})
        assert created["Topics"][0]["ErrorCode"] == 0, created
        assert produce(api) == 0
        assert produce(api) == 0, "a duplicate is not known"
        assert len(producers(api)) == 1
        expire_after(api, "1")
        end = time.monotonic() + DEADLINE_S
        while producers(api):
            assert time.monotonic() < end, "the producer is not forgotten"
        expire_after(api, "86400000")
        assert produce(api) == 1, "a forgotten producer's batch is taken for a duplicate"
        assert produce(api) == 1
        assert server.stop() == 0
    print("idle producers are forgotten when it is said so")


if __name__ == "__main__":
    main()
