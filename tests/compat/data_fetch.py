# SPDX-License-Identifier: Apache-2.0
"""What data_answers asks with Fetch: every version, sessions, and what waits."""

import time

from data_player import FETCH, batch, by_topic

NO_DOWN_CONVERSION = {"message_downconversion_enable": "false"}  # for versions 0 to 3: the converted are not offered
BIG = 1 << 20


def fetch(player, version, rows, **more):
    """rows: (topic, partition, offset[, {field: value}]); a topic that was never created goes by a made-up id."""
    topics = []
    for topic, items in by_topic(rows).items():
        partitions = []
        for index, offset, *extra in items:
            partitions.append({"Partition": index, "FetchOffset": offset, "PartitionMaxBytes": BIG, **(extra[0] if extra else {})})
        topics.append({**named(player, version, topic), "Partitions": partitions})
    return {"MaxWaitMs": 0, "MinBytes": 0, "MaxBytes": 50 * BIG, "Topics": topics, **more}


def named(player, version, topic):
    if version < 13:
        return {"Topic": topic}
    return {"TopicId": player.topic_ids.get(topic, b"\xff" * 16)}


def forgotten(player, version, rows):
    return [{**named(player, version, topic), "Partitions": [p for p, in items]} for topic, items in by_topic(rows).items()]


def start(player, name, partitions=2):
    """Offsets 2 to 9 in four batches, and an empty second partition."""
    player.create(name, partitions, **NO_DOWN_CONVERSION)
    for count in (3, 1, 4, 2):
        player.append(name, batch(count))
    player.delete_records(name, 2)


def plain(player):
    start(player, "fetched")
    player.create("zstd", 1, compression_type="zstd", **NO_DOWN_CONVERSION)
    player.create("second", 1, **NO_DOWN_CONVERSION)
    player.append("second", batch(1))
    for v in player.versions(FETCH):
        for offset in (2, 3, 4, 9, 10, 11, 1, 0, -1, 1 << 40):
            player.ask(f"from {offset}", FETCH, v, **fetch(player, v, [("fetched", 0, offset)]))
        player.ask("the empty one", FETCH, v, **fetch(player, v, [("fetched", 1, 0)]))
        player.ask("beyond the empty one", FETCH, v, **fetch(player, v, [("fetched", 1, 1)]))
        player.ask("not there", FETCH, v, **fetch(player, v, [("fetched", 7, 0), ("nosuch", 0, 0), ("fetched", -1, 0)]))
        player.ask("there and not", FETCH, v, **fetch(player, v, [("nosuch", 0, 0), ("fetched", 0, 4), ("fetched", 9, 0)]))
        player.ask("zstd", FETCH, v, **fetch(player, v, [("zstd", 0, 0)]))
        player.ask("twice", FETCH, v, **fetch(player, v, [("fetched", 0, 2), ("fetched", 0, 8), ("fetched", 1, 0)]))
        player.ask("twice, first one wrong", FETCH, v, **fetch(player, v, [("fetched", 0, 99), ("fetched", 0, 8)]))
        rows = [("fetched", 9, 2), ("fetched", 9, 2), ("nosuch", 0, 2), ("nosuch", 0, 3)]
        player.ask("twice, not there", FETCH, v, **fetch(player, v, rows))
        player.ask("nothing", FETCH, v, **fetch(player, v, []))
        for size in (0, 1, 150, 300):
            rows = [("fetched", 0, 2, {"PartitionMaxBytes": size}), ("fetched", 1, 0)]
            player.ask(f"partition max bytes {size}", FETCH, v, **fetch(player, v, rows))
        if v >= 3:
            for size in (0, 1, 200):
                player.ask(f"max bytes {size}", FETCH, v, **fetch(player, v, [("fetched", 0, 2)], MaxBytes=size))
        for isolation in (0, 1) if v >= 4 else ():
            for size in (0, 1, 1 << 20):
                rows = [("fetched", 0, 2), ("second", 0, 0, {"PartitionMaxBytes": size})]
                player.ask(f"second of {size} bytes in {isolation}", FETCH, v, **fetch(player, v, rows, IsolationLevel=isolation))
        if v >= 4:
            player.ask("committed", FETCH, v, **fetch(player, v, [("fetched", 0, 2)], IsolationLevel=1))
            player.ask("committed, out of range", FETCH, v, **fetch(player, v, [("fetched", 0, 99)], IsolationLevel=1))
            player.ask("committed, not there", FETCH, v, **fetch(player, v, [("nosuch", 0, 99)], IsolationLevel=1))
        if v >= 9:
            for epoch in (0, 1, 7, -1, -2):
                rows = [("fetched", 0, 4, {"CurrentLeaderEpoch": epoch}), ("fetched", 9, 4, {"CurrentLeaderEpoch": epoch})]
                player.ask(f"in epoch {epoch}", FETCH, v, **fetch(player, v, rows))
        if v >= 12:
            for epoch in (0, 1, 7):
                for offset in (4, 10, 11):
                    rows = [("fetched", 0, offset, {"LastFetchedEpoch": epoch})]
                    player.ask(f"from {offset} after epoch {epoch}", FETCH, v, **fetch(player, v, rows))
                    player.ask(f"committed from {offset} after epoch {epoch}", FETCH, v, **fetch(player, v, rows, IsolationLevel=1))
            player.ask("the empty one after an epoch", FETCH, v, **fetch(player, v, [("fetched", 1, 0, {"LastFetchedEpoch": 0})]))
        replica = {"ReplicaState": {"ReplicaId": -2}} if v >= 15 else {"ReplicaId": -2}
        player.ask("a debugger", FETCH, v, **fetch(player, v, [("fetched", 0, 4)], **replica))
        replica = {"ReplicaState": {"ReplicaId": 5}} if v >= 15 else {"ReplicaId": 5}
        player.ask("a follower that is none", FETCH, v, **fetch(player, v, [("fetched", 0, 4), ("nosuch", 0, 0)], **replica))


def sessions(player):
    for v in range(7, 18):
        one, two = f"one{v}", f"two{v}"
        start(player, one)
        start(player, two)
        rows = [(one, 0, 2), (one, 1, 0), (two, 0, 10), ("nosuch", 0, 0), (two, 5, 0)]
        answer = player.ask("begin", FETCH, v, **fetch(player, v, rows, SessionEpoch=0))
        known = {"SessionId": answer["SessionId"]}
        player.ask("nothing new", FETCH, v, **fetch(player, v, [], SessionEpoch=1, **known))
        player.ask("read on", FETCH, v, **fetch(player, v, [(one, 0, 10)], SessionEpoch=2, **known))
        player.append(two, batch(2))
        player.ask("new data", FETCH, v, **fetch(player, v, [], SessionEpoch=3, **known))
        player.ask("the same again", FETCH, v, **fetch(player, v, [], SessionEpoch=4, **known))
        player.ask("twice", FETCH, v, **fetch(player, v, [(one, 0, 4), (one, 0, 8)], SessionEpoch=5, **known))
        player.ask("after twice", FETCH, v, **fetch(player, v, [], SessionEpoch=6, **known))
        gone = forgotten(player, v, [(one, 0), (two, 5), ("nosuch", 0), (two, 77)])
        player.ask("forget", FETCH, v, **fetch(player, v, [], SessionEpoch=7, ForgottenTopicsData=gone, **known))
        again = forgotten(player, v, [(two, 0)])
        player.ask("forget and name", FETCH, v, **fetch(player, v, [(two, 0, 11)], SessionEpoch=8, ForgottenTopicsData=again, **known))
        player.ask("out of range", FETCH, v, **fetch(player, v, [(two, 0, 99)], SessionEpoch=9, **known))
        player.ask("still out of range", FETCH, v, **fetch(player, v, [], SessionEpoch=10, **known))
        player.ask("in range", FETCH, v, **fetch(player, v, [(two, 0, 12)], SessionEpoch=11, **known))
        player.delete_records(two, 11)
        player.ask("the start moved", FETCH, v, **fetch(player, v, [], SessionEpoch=12, **known))
        player.ask("a wrong epoch", FETCH, v, **fetch(player, v, [], SessionEpoch=12, **known))
        other = 12 if v >= 13 else 13
        player.ask("by the other kind of name", FETCH, other, **fetch(player, other, [], SessionEpoch=13, **known))
        player.ask("an unknown session", FETCH, v, **fetch(player, v, [], SessionEpoch=13, SessionId=1))
        player.ask("no session", FETCH, v, **fetch(player, v, [], SessionEpoch=13, SessionId=0))
        player.ask("a new one", FETCH, v, **fetch(player, v, [(one, 0, 2), (one, 0, 8)], SessionEpoch=0, **known))
        player.ask("the end of no session", FETCH, v, **fetch(player, v, [(one, 0, 8)], SessionEpoch=-1, SessionId=0))
        player.ask("the old one", FETCH, v, **fetch(player, v, [], SessionEpoch=13, **known))
        answer = player.ask("begin with nothing", FETCH, v, **fetch(player, v, [], SessionEpoch=0))
        player.ask("and go on", FETCH, v, **fetch(player, v, [(one, 0, 8)], SessionEpoch=1, SessionId=answer["SessionId"]))


def wait(player, what, version, values, event, within_s=8):
    """A request that waits up to 20 s, and what ends it."""
    player.send(FETCH, version, "waiter", **{"MaxWaitMs": 20000, "MinBytes": BIG, **values})
    player.wait_until_taken("waiter")
    time.sleep(0.3)  # it is parked; if it were not, its answer would tell
    event()
    player.receive_soon(f"{what} v{version}", "waiter", within_s)


def waiting(player):
    """What ends a wait for more data."""
    for v in (4, 6, 12, 13, 17):
        name, rolled, other = f"wait{v}", f"rolled{v}", f"other{v}"
        parked = {"MaxWaitMs": 20000, "MinBytes": BIG}
        start(player, name)
        player.create(rolled, 1, segment_bytes=400)
        start(player, other)

        def append(times, rolled=rolled):
            for _ in range(times):
                player.append(rolled, batch(1, 150))

        wait(player, "the segment is older", v, fetch(player, v, [(rolled, 0, 0)], **parked), lambda: append(4))
        wait(player, "the next segment begins", v, fetch(player, v, [(rolled, 0, 4)], **parked), lambda: append(1))
        rows = [(name, 0, 10), (other, 0, 10)]
        wait(player, "the start passes", v, fetch(player, v, [(name, 1, 0), (name, 0, 10)], MaxWaitMs=1500, MinBytes=BIG), lambda: None)
        short = {"MaxWaitMs": 1500, "MinBytes": BIG}

        def move(name=name):
            player.append(name, batch(2))
            player.delete_records(name, 12)

        # At the end of its time for Kafka; on a slow disk the two writes before take more than `short`.
        wait(player, "the start passed it", v, fetch(player, v, rows, MaxWaitMs=6000, MinBytes=BIG), move)
        wait(player, "enough", v, fetch(player, v, [(name, 0, 12)], MaxWaitMs=20000, MinBytes=50), lambda: player.append(name, batch(1)))
        rows = [(name, 0, 13), ("nosuch", 0, 0)]
        wait(player, "not there beside it", v, fetch(player, v, rows, **short), lambda: None)
        answers = [(name, 0, 13), (other, 0, 99)]
        wait(player, "out of range beside it", v, fetch(player, v, answers, **parked), lambda: None)
        wait(player, "deleted", v, fetch(player, v, [(name, 0, 13)], **parked), lambda: player.delete(name))
        wait(player, "deleted before", v, fetch(player, v, [(name, 0, 13)], **parked), lambda: None)
        wait(player, "one of two deleted", v, fetch(player, v, [(other, 0, 10), (rolled, 0, 5)], **parked), lambda: player.delete(other))


def deleted_in_session(player):
    for v in (7, 12, 13, 17):
        name = f"dies{v}"
        start(player, name)
        start(player, f"lives{v}")
        answer = player.ask("begin", FETCH, v, **fetch(player, v, [(name, 0, 10), (f"lives{v}", 0, 10)], SessionEpoch=0))
        known = {"SessionId": answer["SessionId"]}
        player.delete(name)
        player.ask("deleted", FETCH, v, **fetch(player, v, [], SessionEpoch=1, **known))
        player.ask("still deleted", FETCH, v, **fetch(player, v, [], SessionEpoch=2, **known))


def recreated_in_session(player):
    """The name stands for another topic now: an error of reading, which ends the wait of the row beside it."""
    for v in (12, 13, 17):
        name, beside = f"again{v}", f"beside{v}"
        start(player, name)
        start(player, beside)
        answer = player.ask("begin", FETCH, v, **fetch(player, v, [(name, 0, 10), (beside, 0, 10)], SessionEpoch=0))
        player.topic_ids[f"first{v}"] = player.topic_ids[name]
        player.delete(name)
        player.create(name)
        for epoch, isolation in ((1, 0), (2, 1)):
            known = {"SessionId": answer["SessionId"], "SessionEpoch": epoch, "IsolationLevel": isolation}
            values = {**fetch(player, v, []), "MaxWaitMs": 20000, "MinBytes": BIG, **known}
            player.send(FETCH, v, "main", **values)
            player.receive_soon(f"recreated, isolation {isolation} v{v}", "main", 8)


SCENARIOS = [plain, sessions, waiting, deleted_in_session, recreated_in_session]
