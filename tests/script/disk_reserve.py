# SPDX-License-Identifier: Apache-2.0
"""Too little free space in a log directory (tailrace.disk.reserve.bytes): records are refused, and a line says why, once."""

import time

import answers
import broker
import records

DEADLINE_S = 30


def produce(api):
    topic = {"Name": "t", "PartitionData": [{"Index": 0, "Records": records.batch(records.records([b"v"]))}]}
    answer = api.ask("Produce", 8, {"TransactionalId": None, "Acks": -1, "TimeoutMs": 5000, "TopicData": [topic]})
    return answer["Responses"][0]["PartitionResponses"][0]["ErrorCode"]


def main():
    settings = {"tailrace.disk.reserve.bytes": "1000000T", "replica.high.watermark.checkpoint.interval.ms": 20}
    settings["log.retention.ms"] = -1
    with broker.Tailrace(settings) as server:
        server.start()
        api = answers.Api(server.address)
        topic = {"Name": "t", "NumPartitions": 1, "ReplicationFactor": 1}
        assert api.ask("CreateTopics", 4, {"Topics": [topic], "TimeoutMs": 10000})["Topics"][0]["ErrorCode"] == 0
        end = time.monotonic() + DEADLINE_S
        while produce(api) != 56:
            assert time.monotonic() < end, "records are still taken"
        assert server.stop() == 0
        said = [line for line in server.log_path.read_text().splitlines() if " space_below_reserve " in line]
        assert len(said) == 1 and " WARN " in said[0] and str(server.data) in said[0], said
        # Known from the start on, not only from the first checkpoint.
        server.properties["replica.high.watermark.checkpoint.interval.ms"] = 3600000
        server.start()
        assert server.log_path.read_text().count(" space_below_reserve ") == 2
        api = answers.Api(server.address)
        while (code := produce(api)) != 56:
            assert code in (5, 6) and time.monotonic() < end, code  # it still loads
        assert server.stop() == 0
    print("a full directory is named")


if __name__ == "__main__":
    main()
