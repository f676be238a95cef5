# SPDX-License-Identifier: Apache-2.0
"""What data_answers asks with ListOffsets and OffsetForLeaderEpoch."""

import records
from data_player import BATCH_TIME_MS, DAY_MS, LIST_OFFSETS, OFFSET_FOR_LEADER_EPOCH, batch, by_topic


def lookup(rows, replica=-1, **more):
    """rows: (topic, partition, time[, {field: value}])"""
    topics = [
        {
            "Name": topic,
            "Partitions": [
                {"PartitionIndex": index, "Timestamp": when, **(extra[0] if extra else {})} for index, when, *extra in items
            ],
        }
        for topic, items in by_topic(rows).items()
    ]
    return {"ReplicaId": replica, "Topics": topics, **more}


def start(player):
    """Three partitions: times that rise, fall and repeat; many segments; nothing."""
    player.create("listed", 3, segment_bytes=200)
    for step in (0, 10, 5, 10, 3):
        items = [records.record(b"k", b"v", i, i) for i in range(3)]
        first = BATCH_TIME_MS + step
        player.append("listed", records.batch(items, base_timestamp=first, max_timestamp=first + 2), 0)
    for _ in range(5):
        player.append("listed", batch(2, 40), 1)
    player.create("nothing", 1)
    player.create("late", 2)
    rising = [records.record(b"k", b"v", i, i) for i in range(5)]
    player.append("late", records.batch(rising, max_timestamp=BATCH_TIME_MS + 4))
    player.delete_records("late", 3)
    player.append("late", batch(1, base_timestamp=-1, max_timestamp=-1), 1)


def list_offsets(player):
    start(player)
    times = [-1, -2, -3, -4, -5, -6, -100, 0, 1, BATCH_TIME_MS, player.started_ms + DAY_MS]
    times += [BATCH_TIME_MS + i for i in (-1, 1, 4, 5, 8, 10, 12, 13)]
    for v in player.versions(LIST_OFFSETS):
        for when in times:
            logs = [("listed", 0), ("listed", 1), ("listed", 2), ("nothing", 0), ("late", 0), ("late", 1)]
            rows = [(*log, when) for log in logs]
            player.ask(f"at {player.names.number(when)}", LIST_OFFSETS, v, **lookup(rows))
            if v >= 2:
                player.ask(f"committed at {player.names.number(when)}", LIST_OFFSETS, v, **lookup(rows, IsolationLevel=1))
        rows = [("nosuch", 0, -1), ("listed", 9, -1), ("listed", -1, -2), ("", 0, -1), ("a b", 0, -1)]
        player.ask("not there", LIST_OFFSETS, v, **lookup(rows))
        player.ask("not there, by no known time", LIST_OFFSETS, v, **lookup([(t, p, -77) for t, p, _ in rows]))
        rows = [("listed", 0, -1), ("listed", 0, -2), ("listed", 1, -1), ("nosuch", 0, -1), ("nosuch", 0, -1)]
        player.ask("twice", LIST_OFFSETS, v, **lookup(rows))
        player.ask("nothing", LIST_OFFSETS, v, **lookup([]))
        for replica in (-2, 5, 0):
            rows = [("listed", 0, -1), ("listed", 1, -2), ("nosuch", 0, -1), ("listed", 0, BATCH_TIME_MS)]
            player.ask(f"for replica {replica}", LIST_OFFSETS, v, **lookup(rows[:3], replica))
            player.ask(f"a time for replica {replica}", LIST_OFFSETS, v, **lookup(rows[3:], replica))
        if v >= 4:
            for epoch in (0, 1, -1, -2):
                rows = [("listed", 0, when, {"CurrentLeaderEpoch": epoch}) for when in (-1,)]
                player.ask(f"in epoch {epoch}", LIST_OFFSETS, v, **lookup(rows + [("listed", 9, -1, {"CurrentLeaderEpoch": epoch})]))
                rows = [("listed", 1, BATCH_TIME_MS, {"CurrentLeaderEpoch": epoch})]
                player.ask(f"a time in epoch {epoch}", LIST_OFFSETS, v, **lookup(rows))


def hidden(player):
    """The record with the largest time is below the log's start."""
    player.create("hidden", 1)
    for step in (9, 5, 7):
        player.append("hidden", batch(1, base_timestamp=BATCH_TIME_MS + step, max_timestamp=BATCH_TIME_MS + step))
    player.delete_records("hidden", 1)
    for v in player.versions(LIST_OFFSETS):
        for when in [-1, -2, -3, -4] + [BATCH_TIME_MS + i for i in (0, 5, 6, 7, 8, 9)]:
            player.ask(f"hidden at {player.names.number(when)}", LIST_OFFSETS, v, **lookup([("hidden", 0, when)]))


def old_lists(player):
    """Version 0 lists the ends of segments."""
    far = player.started_ms + DAY_MS
    for count in (-1, 0, 1, 2, 3, 100, 1 << 30):
        for when in (-1, -2, far, 0, BATCH_TIME_MS):
            for topic, partition in (("listed", 0), ("listed", 1), ("listed", 2), ("nothing", 0), ("late", 0)):
                row = (topic, partition, when, {"MaxNumOffsets": count})
                player.ask(f"{count} of {topic}-{partition} before {player.names.number(when)}", LIST_OFFSETS, 0, **lookup([row]))
    player.ask("for a debugger", LIST_OFFSETS, 0, **lookup([("listed", 1, far, {"MaxNumOffsets": 100})], -2))
    player.delete_records("listed", 1, 1)
    player.ask("a start inside a segment", LIST_OFFSETS, 0, **lookup([("listed", 1, far, {"MaxNumOffsets": 100})]))


def epochs(rows, **more):
    """rows: (topic, partition, epoch[, current epoch])"""
    topics = [
        {
            "Topic": topic,
            "Partitions": [
                {"Partition": index, "LeaderEpoch": epoch, **({"CurrentLeaderEpoch": more_[0]} if more_ else {})}
                for index, epoch, *more_ in items
            ],
        }
        for topic, items in by_topic(rows).items()
    ]
    return {"Topics": topics, **more}


def leader_epochs(player):
    for v in player.versions(OFFSET_FOR_LEADER_EPOCH):
        for epoch in (-2, -1, 0, 1, 9):
            rows = [("listed", 0, epoch), ("listed", 2, epoch), ("nothing", 0, epoch), ("late", 0, epoch)]
            player.ask(f"epoch {epoch}", OFFSET_FOR_LEADER_EPOCH, v, **epochs(rows))
            if v >= 2:
                for current in (-2, -1, 0, 1):
                    rows = [("late", 0, epoch, current), ("late", 9, epoch, current)]
                    player.ask(f"epoch {epoch} in {current}", OFFSET_FOR_LEADER_EPOCH, v, **epochs(rows))
        rows = [("listed", 9, 0), ("nosuch", 0, 0), ("listed", -1, 0), ("", 0, 0), ("a b", 0, 0)]
        player.ask("not there", OFFSET_FOR_LEADER_EPOCH, v, **epochs(rows))
        player.ask("twice", OFFSET_FOR_LEADER_EPOCH, v, **epochs([("late", 0, 0), ("late", 0, 1), ("late", 0, 0)]))
        player.ask("nothing", OFFSET_FOR_LEADER_EPOCH, v, **epochs([]))
        if v >= 3:
            for replica in (-1, 5):
                player.ask(f"for replica {replica}", OFFSET_FOR_LEADER_EPOCH, v, **epochs([("late", 0, 0)], ReplicaId=replica))


SCENARIOS = [list_offsets, hidden, old_lists, leader_epochs]
