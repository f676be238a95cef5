# SPDX-License-Identifier: Apache-2.0
"""What data_answers asks with Produce and DescribeProducers."""

import struct
import zlib

import records
from data_player import BATCH_TIME_MS, DESCRIBE_PRODUCERS, PRODUCE, batch, legacy, produce

TRANSACTIONAL, CONTROL, LOG_APPEND_TIME = 0x10, 0x20, 0x08


def start(player, name, **configs):
    """A topic whose log starts at 2, so that a log start offset tells itself from 0 and -1."""
    player.create(name, 2, **configs)
    player.append(name, batch(3, base_timestamp=player.started_ms, max_timestamp=player.started_ms))
    if configs.get("cleanup_policy") != "compact":  # those give nothing away
        player.delete_records(name, 2)


def good(player):
    for v in player.versions(PRODUCE):
        name = f"good{v}"
        start(player, name)
        for acks in (-1, 1):
            player.ask(f"acks {acks}", PRODUCE, v, **produce(v, [(name, 0, batch(3)), (name, 1, batch(2))], acks))
        player.ask("nobody's", PRODUCE, v, **produce(v, []))
        twice = produce(v, [(name, 0, batch(3)), (name, 0, batch(1))])
        player.ask("a partition twice", PRODUCE, v, **twice)
        player.ask("after it", PRODUCE, v, **produce(v, [(name, 0, batch(1))]))
        player.ask("a cut batch behind", PRODUCE, v, **produce(v, [(name, 0, batch(1) + batch(2)[:70])]))
        player.ask("gzip", PRODUCE, v, **produce(v, [(name, 0, gzip_batch(3))]))


def gzip_batch(count, **fields):
    packer = zlib.compressobj(wbits=31)
    payload = packer.compress(b"".join(records.records([b"v"] * count))) + packer.flush()
    return records.batch(payload=payload, **{"attributes": 1, "count": count, **fields})


def old_formats(player):
    start(player, "old")
    start(player, "oldcompact", cleanup_policy="compact")
    messages = {
        "magic 0": legacy(0, b"v", b"k"),
        "magic 1": legacy(1, b"v", b"k"),
        "magic 0 and 1": legacy(0, b"v", b"k") + legacy(1, b"v", b"k"),
        "two of magic 1": legacy(1, b"v", b"k") + legacy(1, b"v", b"k", timestamp=BATCH_TIME_MS + 1),
        "magic 1 without a key": legacy(1, b"v"),
        "magic 1 with a wrong checksum": legacy(1, b"v", b"k", crc=1),
        "magic 1 cut": legacy(1, b"v", b"k")[:-1],
        "two batches": batch(1) + batch(2),
        "no time": legacy(1, b"v", b"k", timestamp=-1),
    }
    for v in (0, 1, 2, 3, 11):
        for what, data in messages.items():
            player.ask(what, PRODUCE, v, **produce(v, [("old", 0, data)]))
            player.ask(what + ", compacted", PRODUCE, v, **produce(v, [("oldcompact", 0, data)]))


def refused(player):
    """Everything that is refused for what the batch is, in every version that brings batches."""
    start(player, "bad")
    start(player, "small", max_message_bytes=200)
    start(player, "segment", segment_bytes=300)
    batches = {
        "no records": b"",
        "a few bytes": b"\0" * 11,
        "zeros": b"\0" * 61,
        "half a batch": batch(2)[:80],
        "a base offset": batch(1, base_offset=7),
        "no count": batch(1, count=0, last_offset_delta=0),
        "a negative count": batch(1, count=-1, last_offset_delta=0),
        "a wrong count": batch(2, count=3, last_offset_delta=1),
        "a wrong last offset": batch(2, last_offset_delta=4),
        "a negative last offset": batch(1, last_offset_delta=-1),
        "a control batch": batch(1, attributes=CONTROL),
        "a producer id without a sequence": batch(1, producer_id=9, producer_epoch=0),
        "a wrong checksum": batch(1, crc=0x12345678),
        "transactional without an id": batch(1, attributes=TRANSACTIONAL, producer_id=1, producer_epoch=0, base_sequence=0),
        "magic 3": batch(1, magic=3),
        "magic -1": batch(1, magic=-1),
        "length 13": batch(1, length=13),
        "length 14": batch(1, length=14),
        "length 48": batch(1, length=48),
        "length -5": batch(1, length=-5),
        "length too long": batch(1, length=10000),
        "two batches": batch(1) + batch(1),
        "a good and a broken one": batch(1) + batch(1, magic=5),
        "zstd without a payload": batch(1, attributes=4),
    }
    for v in range(2, 12):
        for what, data in batches.items():
            if what == "zstd without a payload" and not 3 <= v < 7 or what == "length 14" and v < 3:
                continue  # it is looked into then, and Kafka answers -1
            player.ask(what, PRODUCE, v, **produce(v, [("bad", 0, data)]))
        player.ask("larger than a batch may be", PRODUCE, v, **produce(v, [("small", 0, batch(1, 300))]))
        player.ask("larger than a segment", PRODUCE, v, **produce(v, [("segment", 0, batch(1, 400))]))
        player.ask("a corrupt one beside a good one", PRODUCE, v, **produce(v, [("bad", 0, batch(1)), ("bad", 1, batch(1, magic=9))]))
        player.ask("and a twin", PRODUCE, v, **produce(v, [("bad", 1, batch(1, length=1)), ("bad", 0, batch(1)), ("small", 0, batch(1))]))
        both = [("bad", 0, batch(1)), ("bad", 1, batch(1, crc=1)), ("nosuch", 0, batch(1)), ("bad", 9, batch(1))]
        player.ask("some wrong, one good", PRODUCE, v, **produce(v, both))
        player.ask("sent to nobody", PRODUCE, v, **produce(v, [("bad", 0, batch(1, attributes=TRANSACTIONAL)), ("nosuch", 0, batch(1))]))
    player.ask("what is there in the end", PRODUCE, 9, **produce(9, [("bad", 0, batch(1)), ("bad", 1, batch(1))]))


def targets(player):
    """Topics and partitions that are not there, acks that do not exist."""
    start(player, "target")
    for v in player.versions(PRODUCE):
        for acks in (-1, 1, 2, -2):
            rows = [("target", 5, batch(1)), ("target", -1, batch(1)), ("nosuch", 0, batch(1)), ("", 0, batch(1)), ("a b", 0, batch(1))]
            player.ask(f"not there, acks {acks}", PRODUCE, v, **produce(v, rows, acks))
            player.ask(f"there, acks {acks}", PRODUCE, v, **produce(v, [("target", 0, batch(1))], acks))
            player.ask(f"both, acks {acks}", PRODUCE, v, **produce(v, [("target", 0, batch(1)), ("nosuch", 0, batch(1))], acks))
            player.ask(f"empty, acks {acks}", PRODUCE, v, **produce(v, [("target", 0, b"")], acks))
            player.ask(f"nothing, acks {acks}", PRODUCE, v, **produce(v, [], acks))
            player.ask(f"broken, acks {acks}", PRODUCE, v, **produce(v, [("target", 0, batch(1, magic=7))], acks))
    for v in player.versions(PRODUCE):  # answered by nothing, or by the end of the connection
        player.send(PRODUCE, v, **produce(v, [("target", 0, batch(1))], 0))
        player.ask(f"after acks 0 in version {v}", PRODUCE, 9, **produce(9, [("target", 0, batch(1))]))
        player.send(PRODUCE, v, "closed", **produce(v, [("nosuch", 0, batch(1))], 0))
        player.receive(f"after acks 0 to nowhere v{v}", "closed")


def records_refused(player):
    """Errors of single records, with their texts."""
    hour = {"message_timestamp_before_max_ms": 3_600_000, "message_timestamp_after_max_ms": 3_600_000}
    start(player, "keys", cleanup_policy="compact")
    start(player, "times", **hour)
    start(player, "append", message_timestamp_type="LogAppendTime")
    start(player, "appendzip", message_timestamp_type="LogAppendTime", compression_type="gzip")
    start(player, "appendplain", message_timestamp_type="LogAppendTime", compression_type="uncompressed")
    start(player, "appendlz4", message_timestamp_type="LogAppendTime", compression_type="lz4")
    start(player, "both", cleanup_policy="compact", **hour)
    none, some = records.record(None, b"v"), records.record(b"k", b"v", 1)
    mixed = [none, some, records.record(None, b"value", 2), records.record(None, None, 3), records.record(None, b"x", 4)]
    headers = records.record(None, b"vvvv", headers=[(b"h", b"1")])
    for v in (3, 7, 8, 9, 10, 11):
        player.ask("one without a key", PRODUCE, v, **produce(v, [("keys", 0, records.batch([none]))]))
        player.ask("four without a key", PRODUCE, v, **produce(v, [("keys", 0, records.batch(mixed))]))
        player.ask("with headers", PRODUCE, v, **produce(v, [("keys", 1, records.batch([headers]))]))
        player.ask("an old time", PRODUCE, v, **produce(v, [("times", 0, batch(2))]))
        player.ask("no time", PRODUCE, v, **produce(v, [("times", 0, batch(1, base_timestamp=-1, max_timestamp=-1))]))
        ahead = player.started_ms + 36_000_000
        player.ask("a time ahead", PRODUCE, v, **produce(v, [("times", 0, batch(1, base_timestamp=ahead, max_timestamp=ahead))]))
        now = player.started_ms
        one_bad = [records.record(b"k", b"v", 0, 0), records.record(b"k", b"v", 1, BATCH_TIME_MS - now)]
        mixed_times = records.batch(one_bad, base_timestamp=now, max_timestamp=now)
        player.ask("one old time of two", PRODUCE, v, **produce(v, [("times", 0, mixed_times)]))
        player.ask("the broker's time type", PRODUCE, v, **produce(v, [("append", 0, batch(1, attributes=LOG_APPEND_TIME))]))
        player.ask("the broker's time type, compacted", PRODUCE, v, **produce(v, [("keys", 0, batch(2, attributes=LOG_APPEND_TIME))]))
        for topic in ("append", "appendzip", "appendplain", "appendlz4"):
            packed = gzip_batch(2, attributes=1 | LOG_APPEND_TIME)
            player.ask(f"the broker's time type, gzip, {topic}", PRODUCE, v, **produce(v, [(topic, 0, packed)]))
            plain = records.batch([none], attributes=LOG_APPEND_TIME)
            player.ask(f"the broker's time type, no key, {topic}", PRODUCE, v, **produce(v, [(topic, 0, plain)]))
        player.ask("the broker's time", PRODUCE, v, **produce(v, [("append", 0, batch(1))]))
        player.ask("no key and an old time", PRODUCE, v, **produce(v, [("both", 0, records.batch(mixed))]))
        player.ask("no key, gzip", PRODUCE, v, **produce(v, [("keys", 0, gzip_batch(2))]))


def idempotent(player):
    """Sequences: duplicates, gaps, epochs."""
    start(player, "sequences")
    start(player, "sequencesappend", message_timestamp_type="LogAppendTime")
    for v in (3, 5, 8, 9, 11):
        pid = 1000 + v

        def of(sequence, epoch=1, count=2, pid=pid):
            return batch(count, producer_id=pid, producer_epoch=epoch, base_sequence=sequence)

        for what, data in {
            "first": of(0),
            "second": of(2),
            "second again": of(2),
            "first again": of(0),
            "part of the second": of(3, count=1),
            "a gap": of(9),
            "an older epoch": of(4, epoch=0),
            "a new epoch in the middle": of(4, epoch=2),
            "a new epoch": of(0, epoch=3),
            "a first one that is not 0": of(50, pid=pid + 500),
        }.items():
            player.ask(what, PRODUCE, v, **produce(v, [("sequences", 0, data)]))
            player.ask(what + ", broker's time", PRODUCE, v, **produce(v, [("sequencesappend", 0, data)]))
    rows = [{"Name": "sequences", "PartitionIndexes": [0, 1, 7, 0]}, {"Name": "nosuch", "PartitionIndexes": [0]}]
    rows += [{"Name": "sequences", "PartitionIndexes": [1]}]
    rows += [{"Name": name, "PartitionIndexes": [0]} for name in ("", "a b")]
    player.ask("describe", DESCRIBE_PRODUCERS, 0, **{"Topics": rows})
    player.ask("describe nothing", DESCRIBE_PRODUCERS, 0, **{"Topics": []})
    player.ask("describe none of it", DESCRIBE_PRODUCERS, 0, **{"Topics": [{"Name": "sequences", "PartitionIndexes": []}]})


def internal(player):
    for v in player.versions(PRODUCE):
        player.ask("internal", PRODUCE, v, **produce(v, [("__consumer_offsets", 0, batch(1))]))


def with_transactional_id(player):
    """A transactional id in the request alone does nothing."""
    start(player, "transactional")
    for v in range(3, 12):
        player.ask("an id", PRODUCE, v, **produce(v, [("transactional", 0, batch(1))], transactional_id="x"))


def odd_lengths(player):
    """A length that is right, with a payload that ends too early or late."""
    start(player, "odd")
    extra = batch(1) + b"\0" * 20
    for v in (3, 9, 11):
        player.ask("bytes behind", PRODUCE, v, **produce(v, [("odd", 0, extra)]))
        player.ask("few bytes behind", PRODUCE, v, **produce(v, [("odd", 0, batch(1) + struct.pack(">q", 0))]))


SCENARIOS = [good, old_formats, refused, targets, records_refused, idempotent, internal, with_transactional_id, odd_lengths]
