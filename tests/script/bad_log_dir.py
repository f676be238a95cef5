# SPDX-License-Identifier: Apache-2.0
"""A log directory that cannot be used at the start: if it is not the first, only its partitions are offline, a line says what to do,
and when it is repaired all is there again. A mistake in the configuration still stops the start.
"""

import shutil
import time

import answers
import broker
import records

STORAGE_ERROR = 56
DEADLINE_S = 30


def produce(api, partition):
    data = {"Index": partition, "Records": records.batch(records.records([b"v"]))}
    topic = {"Name": "t", "PartitionData": [data]}
    answer = api.ask("Produce", 8, {"TransactionalId": None, "Acks": -1, "TimeoutMs": 5000, "TopicData": [topic]})
    answer = answer["Responses"][0]["PartitionResponses"][0]
    return answer["ErrorCode"], answer["BaseOffset"]


def ends(api):
    topic = {"Name": "t", "Partitions": [{"PartitionIndex": index, "Timestamp": -1} for index in (0, 1)]}
    answer = api.ask("ListOffsets", 3, {"ReplicaId": -1, "IsolationLevel": 0, "Topics": [topic]})
    return [(row["ErrorCode"], row["Offset"]) for row in sorted(answer["Topics"][0]["Partitions"], key=lambda row: row["PartitionIndex"])]


def directories(api):
    answer = api.ask("DescribeLogDirs", 1, {"Topics": None})
    return {row["LogDir"]: row["ErrorCode"] for row in answer["Results"]}


def create(api, name):
    topic = {"Name": name, "NumPartitions": 2, "ReplicationFactor": 1}
    return api.ask("CreateTopics", 4, {"Topics": [topic], "TimeoutMs": 10000})["Topics"][0]["ErrorCode"]


def said(server, event, start):
    return [line for line in server.log_path.read_text()[start:].splitlines() if f" {event} " in line]


def start(server):
    before = len(server.log_path.read_text()) if server.log_path.exists() else 0
    server.start()
    return answers.Api(server.address), before


def becomes(ask, wanted):
    """After a start partitions load, and deletions come to their end."""
    end = time.monotonic() + DEADLINE_S
    while (found := ask()) != wanted:
        assert time.monotonic() < end, found


def goes_offline(server, one, two, spoil, mend):
    """t-0 lies in one of the directories, t-1 in the other."""
    bad = [index for index in (0, 1) if (two / f"t-{index}").exists()][0]
    good = 1 - bad
    spoil()
    api, before = start(server)
    assert produce(api, bad)[0] == STORAGE_ERROR
    assert produce(api, good)[0] == 0
    assert ends(api)[bad][0] == STORAGE_ERROR, ends(api)
    assert directories(api) == {str(one): 0, str(two): STORAGE_ERROR}, directories(api)
    assert create(api, "new") == 0, "a topic in the directory that works"
    assert (one / "new-0").exists() and (one / "new-1").exists()
    assert api.ask("DeleteTopics", 3, {"TopicNames": ["new"], "TimeoutMs": 10000})["Responses"][0]["ErrorCode"] == 0
    lines = said(server, "directory_failed", before)
    assert len(lines) == 1 and " ERROR " in lines[0] and str(two) in lines[0] and "restart" in lines[0], lines
    assert server.stop() == 0
    mend()
    api, _ = start(server)
    becomes(lambda: [error for error, _ in ends(api)], [0, 0])
    assert directories(api) == {str(one): 0, str(two): 0}
    assert produce(api, bad)[0] == 0
    assert server.stop() == 0


def refuses(server, *words):
    """The start ends with status 1 and a line that has the words."""
    before = len(server.log_path.read_text())
    server.start(wait=False)
    assert server.process.child.wait(20) != 0
    text = server.log_path.read_text()[before:]
    assert all(word in text for word in words), text


def replaced_by_a_file(server, one, two, aside):
    def spoil():
        two.rename(aside)
        two.write_text("not a directory")

    def mend():
        two.unlink()
        aside.rename(two)

    goes_offline(server, one, two, spoil, mend)


def damaged_meta(server, one, two):
    meta = two / "meta.properties"
    text = meta.read_text()
    goes_offline(server, one, two, lambda: meta.write_text("version=0\nbroker.id=x\n"), lambda: meta.write_text(text))
    meta.write_text(text.replace("broker.id=0", "broker.id=7"))
    refuses(server, "cannot_start", str(two), "belongs to broker 7")
    meta.write_text(text.replace("cluster.id=", "cluster.id=x"))
    refuses(server, "cannot_start", str(two), "belongs to cluster x")
    meta.write_text("version=1\nnode.id=0\n")
    refuses(server, "cannot_start", str(two), "KRaft")
    meta.write_text(text)


def deleted_meanwhile(server, two, aside):
    """A topic of the bad directory is deleted: it goes when the directory is there again."""
    two.rename(aside)
    two.write_text("not a directory")
    api, before = start(server)
    api.ask("DeleteTopics", 3, {"TopicNames": ["t"], "TimeoutMs": 3000})
    assert server.stop() == 0
    lines = said(server, "deletion_stuck", before)
    assert len(lines) == 1 and " ERROR " in lines[0] and "restart" in lines[0], lines
    two.unlink()
    aside.rename(two)
    api, _ = start(server)
    becomes(lambda: create(api, "t"), 0)
    becomes(lambda: ends(api), [(0, 0), (0, 0)])
    assert server.stop() == 0


def main():
    with broker.Tailrace({"log.retention.ms": -1}) as server:
        one, two, aside = (server.directory / name for name in ("one", "two", "aside"))
        server.properties["log.dirs"] = f"{one},{two}"
        api, _ = start(server)
        assert create(api, "t") == 0
        assert [produce(api, index) for index in (0, 1)] == [(0, 0), (0, 0)]
        assert server.stop() == 0
        replaced_by_a_file(server, one, two, aside)
        damaged_meta(server, one, two)
        deleted_meanwhile(server, two, aside)
        shutil.move(one, aside)
        one.write_text("not a directory")
        refuses(server, "cannot_start", str(one))
        server.properties["log.dirs"] = f"{two},{two}/"
        refuses(server, "names a directory twice")
        server.properties["log.dirs"] = f"{two},{two}/x"
        refuses(server, "one directory lies in the other")
    print("a bad directory is offline, the others are served")


if __name__ == "__main__":
    main()
