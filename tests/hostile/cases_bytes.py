# SPDX-License-Identifier: Apache-2.0
"""Cases of what is no request, and of batches that are none."""

import struct

import records
from case import case, produced, fetched, OK_VERSIONS, API_VERSIONS, FRAME_MAX
from encoded import BOUNDED, COMPACTED, NO_TAGS, SMALL, TOPIC, ask, bomb, empty_tags, fetch, good_batch, gzipped, i16, i32
from encoded import lz4_header, lz4_zeros, produce, raw, text, zeros_record, zstd_header, zstd_zeros
from judge import Answer, AnswersInOrder, AnyOf, Closed, Each, Silent
from tables import Raw, framed, header, request, tag_section, uvarint

# ---- frames
for length in (-1, -(2**31), 0, 2**31 - 1, FRAME_MAX + 1):
    case("frame", f"length {length}", i32(length), Closed(f"frame length {length}"))
case("frame", "length 3, shorter than a header", i32(3) + b"\0\x12\0", Closed())
case("frame", "length 8, a header without client id", i32(8) + b"\0\x12\0\0\0\0\0\1", Closed())
case("frame", "the longest, then silence", i32(FRAME_MAX) + b"\0\x12", Silent())
case("frame", "byte after byte", [bytes([b]) for b in API_VERSIONS], OK_VERSIONS, pause_s=0.03)
case("frame", "cut at every byte", lambda: [x for at in range(1, 20) for x in (API_VERSIONS[:at], API_VERSIONS[at:])],
     Each(19, OK_VERSIONS), pause_s=0.001)
case("frame", "1,000 in one write", b"".join(raw(18, 0, b"", n) for n in range(1000)), AnswersInOrder(1000))
case("frame", "HTTP", b"GET / HTTP/1.1\r\nHost: broker\r\n\r\n", Closed("frame length 1195725856"))
case("frame", "a TLS hello", bytes.fromhex("16030100a5010000a10303") + bytes(160), Closed("frame length 369295616"))
case("frame", "half a frame, then a good-bye", i32(100) + b"\0\x12\0", Silent(0.1))

# ---- headers
for key in (999, -1, 32767, 64, 71):
    case("header", f"key {key}", raw(key, 0, b""), Closed("API key is not served"))
for version in (-1, 13, 32767, -32768):
    case("header", f"Metadata version {version}", raw(3, version, i32(0)), Closed("version is not served"))
for version in (99, 5, -1, 32767):
    case("header", f"ApiVersions version {version}", raw(18, version, NO_TAGS + b"\xff" * 20),
         Answer("ApiVersions", 0, {"ErrorCode": 35, "ApiKeys.#": 1, "ApiKeys.0.ApiKey": 18, "ApiKeys.0.MaxVersion": 4}))
CLIENT_IDS = {
    "null": None,
    "empty": "",
    "of 32,767 bytes": "c" * 32767,
    "that is not UTF-8": Raw(i16(4) + b"\xff\xfe\xc0\x80"),
    "with NUL": Raw(text(b"a\0b")),
    "of length -2": Raw(i16(-2)),
    "with a line break and a terminal sequence": Raw(text(b"x\n2026 ERROR hostile-forged \x1b[31mred")),
}
for what, client in CLIENT_IDS.items():
    case("header", f"client id {what}", framed(header(18, 0, 1, client)), OK_VERSIONS)
    if what not in ("null", "empty"):
        case("header", f"client id {what}, then a key that is not served", framed(header(999, 0, 1, client)),
             Closed("API key is not served"))
case("header", "client id past the end", framed(struct.pack(">hhih", 18, 0, 1, 500) + b"short"), Closed())
case("header", "correlation id -2^31", raw(18, 0, b"", -(2**31)), Answer("ApiVersions", 0, correlation=-(2**31)))
case("header", "the same correlation id twice", API_VERSIONS * 2, Each(2, OK_VERSIONS))
METADATA_12 = request("Metadata", 12, {"Topics": []})[len(header(3, 12, 1, flexible=True)):]


def tagged_header(tags):
    return framed(header(3, 12, 1, flexible=True, tags=tags) + METADATA_12)


OK_METADATA = Answer("Metadata", 12, {"Topics.#": 0})
case("header", "2^32-1 tags", tagged_header(uvarint(2**32 - 1)), Closed(),
     kafka=AnyOf(OK_METADATA, Closed()))  # Kafka reads the count as -1: no tags
case("header", "2^31-1 tags", tagged_header(uvarint(2**31 - 1)), Closed())
case("header", "a tag count that never ends", tagged_header(b"\xff" * 12), Closed())
case("header", "a tag past the end", tagged_header(b"\1\5" + uvarint(10_000) + b"x"), Closed())
case("header", "unknown tags", tagged_header(tag_section([(7, b"x"), (900, b"yy")])), OK_METADATA)
# Kafka's memory is not made for it (CVE-2026-111115).
case("header", "20 million empty tags", lambda: tagged_header(empty_tags(20_000_000)), OK_METADATA, quick=False, kafka=None)
case("header", "a classic one where tags are due", framed(header(3, 9, 1) + text("x")), Closed())
case("header", "tags where the classic one is due", framed(header(3, 8, 1) + NO_TAGS + i32(0) + b"\1\0\0"),
     AnyOf(Closed(), Answer("Metadata", 8)))
case("header", "ApiVersions with an empty software name", ask("ApiVersions", 3, ClientSoftwareVersion="1"),
     Answer("ApiVersions", 3, {"ErrorCode": 42, "ApiKeys.#": 0}))
case("header", "ApiVersions with a terminal sequence as its software name",
     ask("ApiVersions", 3, ClientSoftwareName="a\x1b[31m", ClientSoftwareVersion="1"),
     Answer("ApiVersions", 3, {"ErrorCode": 42}))

# ---- arrays and strings
case("array", "length -2 where null is legal", ask("Metadata", 1, Topics=Raw(i32(-2))),
     AnyOf(Closed(), Answer("Metadata", 1)))  # Kafka takes every negative length for null
case("array", "length -2 where it is not", ask("CreateTopics", 2, Topics=Raw(i32(-2))), Closed())
case("array", "null where it is not legal", ask("CreateTopics", 7, Topics=Raw(b"\0")), Closed())
for api, version, field, lie in (("Metadata", 1, "Topics", i32(2**31 - 1)), ("Metadata", 12, "Topics", uvarint(2**31)),
                                 ("Produce", 3, "TopicData", i32(2**31 - 1)), ("Fetch", 4, "Topics", i32(2**31 - 1)),
                                 ("Fetch", 12, "Topics", uvarint(2**31)), ("Produce", 9, "TopicData", uvarint(2**31)),
                                 ("CreateTopics", 2, "Topics", i32(2**31 - 1)),
                                 ("JoinGroup", 5, "Protocols", i32(2**31 - 1)),
                                 ("OffsetCommit", 8, "Topics", uvarint(2**31)),
                                 ("ListOffsets", 6, "Topics", uvarint(2**31))):
    case("array", f"{api} v{version}: 2^31-1 elements with 10 bytes left",
         ask(api, version, **{field: Raw(lie + bytes(10))}), Closed())
case("array", "compact length 2^32-1", ask("Metadata", 12, Topics=Raw(uvarint(2**32 - 1))), Closed(),
     kafka=Answer("Metadata", 12))  # for Kafka it is null
case("array", "compact length of six bytes", ask("Metadata", 12, Topics=Raw(b"\xff\xff\xff\xff\xff\x7f")), Closed())
case("array", "200,000 empty topics in Produce", lambda: ask("Produce", 9, Acks=1, TimeoutMs=1,
     TopicData=Raw(uvarint(200_001) + b"\1\1\0" * 200_000)), AnyOf(Answer("Produce", 9), Closed()), quick=False,
     kafka=None)
case("array", "200,000 topics in Metadata", lambda: ask("Metadata", 1, Topics=Raw(i32(200_000) + i16(0) * 200_000)),
     AnyOf(Answer("Metadata", 1), Closed()), quick=False)
case("array", "100,000 partitions of one topic in Fetch", lambda: ask("Fetch", 4, MaxWaitMs=1, Topics=Raw(
     i32(1) + text(TOPIC) + i32(100_000) + b"".join(struct.pack(">iqi", n, 0, 1000) for n in range(100_000)))),
     AnyOf(Answer("Fetch", 4), Closed()), quick=False)
case("array", "100,000 partitions of one topic in ListOffsets", lambda: ask("ListOffsets", 1, ReplicaId=-1, Topics=Raw(
     i32(1) + text(TOPIC) + i32(100_000) + b"".join(struct.pack(">iq", n, -1) for n in range(100_000)))),
     AnyOf(Answer("ListOffsets", 1), Closed()), quick=False)
case("array", "a string past the end", raw(3, 1, i32(1) + i16(1000) + b"short"), Closed())
case("array", "a null string where it is not legal", raw(3, 1, i32(1) + i16(-1)), Closed())
case("array", "a string of length -32768", raw(3, 1, i32(1) + i16(-32768) + b"x" * 100), Closed())
case("array", "a name of 32,768 bytes", ask("Metadata", 12, Topics=[{"Name": "n" * 32768}]), Closed())
BAD_NAMES = {"'.'": ".", "'..'": "..", "'../x'": "../x", "'a/b'": "a/b", "of 250": "n" * 250, "with NUL": "a\0b",
             "empty": "", "with a space": "a b", "with a line break": "a\nb", "not ASCII": "ä"}
for what, name in BAD_NAMES.items():
    case("array", f"CreateTopics with a name {what}",
         ask("CreateTopics", 7, TimeoutMs=5000, Topics=[{"Name": name, "NumPartitions": 1, "ReplicationFactor": 1}]),
         Answer("CreateTopics", 7, {"Topics.0.ErrorCode": 17}))
    case("array", f"Metadata with a name {what}", ask("Metadata", 9, Topics=[{"Name": name}], AllowAutoTopicCreation=1),
         Answer("Metadata", 9, {"Topics.0.ErrorCode": 17}))
    case("array", f"Produce to a name {what}", produce(good_batch(), topic=name), produced(3))
case("array", "a name that is not UTF-8", raw(3, 1, i32(1) + i16(3) + b"\xff\xfe\xfd"),
     AnyOf(Closed(), Answer("Metadata", 1, {"Topics.0.ErrorCode": 17})))
case("array", "a topic twice in Metadata", ask("Metadata", 9, Topics=[{"Name": TOPIC}, {"Name": TOPIC}]),
     Answer("Metadata", 9, {"Topics.#": 1}))
case("array", "a partition twice in Produce", ask("Produce", 9, Acks=-1, TimeoutMs=5000, TopicData=[
     {"Name": TOPIC, "PartitionData": [{"Index": 0, "Records": good_batch()}, {"Index": 0, "Records": good_batch()}]}]),
     Answer("Produce", 9, {"Responses.0.PartitionResponses.#": 1, "Responses.0.PartitionResponses.0.ErrorCode": 0}),
     writes=True)
case("array", "a partition twice in ListOffsets", ask("ListOffsets", 5, ReplicaId=-1, Topics=[
     {"Name": TOPIC, "Partitions": [{"PartitionIndex": 0, "Timestamp": -1}, {"PartitionIndex": 0, "Timestamp": -1}]}]),
     Answer("ListOffsets", 5, {"Topics.0.Partitions.0.ErrorCode": 42}))
case("array", "a topic twice in CreateTopics", ask("CreateTopics", 7, TimeoutMs=5000, Topics=[
     {"Name": "twice", "NumPartitions": 1, "ReplicationFactor": 1}] * 2),
     Answer("CreateTopics", 7, {"Topics.#": 2, "Topics.0.ErrorCode": 42, "Topics.1.ErrorCode": 42}))
for partition in (-1, 2**31 - 1, -(2**31), 4):
    case("array", f"Produce to partition {partition}", produce(good_batch(), partition=partition),
         produced(3, BaseOffset=-1, LogStartOffset=-1))
    case("array", f"Fetch from partition {partition}", fetch(partition=partition), fetched(3))
    case("array", f"ListOffsets of partition {partition}", ask("ListOffsets", 5, ReplicaId=-1, Topics=[
         {"Name": TOPIC, "Partitions": [{"PartitionIndex": partition, "Timestamp": -1}]}]),
         Answer("ListOffsets", 5, {"Topics.0.Partitions.0.ErrorCode": 3}))
case("array", "bytes after the body", raw(18, 0, b"after"), OK_VERSIONS)
case("array", "a tag past the end of a body", raw(3, 12, NO_TAGS + b"\1\0\0\1\7" + uvarint(99)), Closed())
case("array", "tags of a body out of order, one twice",
     framed(header(3, 12, 1, flexible=True) + request("Metadata", 12, {"Topics": [], "_tags": tag_section(
         [(9, b"a"), (3, b"b"), (9, b"c")])})[len(header(3, 12, 1, flexible=True)):]), AnyOf(OK_METADATA, Closed()))

# ---- records
RECORDS = records.records([b"one", b"two"])
WHOLE = records.batch(RECORDS)
for length in (48, 0, -1, -(2**31), 13):
    case("records", f"batch length {length}", produce(records.batch(RECORDS, length=length)),
         produced({2, 87}), kafka=produced({2, 87}))
for length in (len(WHOLE), 2**31 - 1):
    case("records", f"batch length {length}, past the end", produce(records.batch(RECORDS, length=length)),
         produced(87), kafka=produced({87, -1}))
case("records", "no bytes", produce(b""), produced(87))
case("records", "null records", produce(None), produced(87), kafka=None)  # Kafka never answers
case("records", "two batches", produce(WHOLE + WHOLE), produced(87))
case("records", "a whole batch and half a batch", produce(WHOLE + WHOLE[:30]), produced(0), writes=True)
for magic in (0, 1):
    case("records", f"magic {magic}", produce(records.batch(RECORDS, magic=magic)), produced({87, 2}))
for magic in (3, 127, -1):
    case("records", f"magic {magic}", produce(records.batch(RECORDS, magic=magic)), produced({2, 87}))
case("records", "wrong checksum", produce(records.batch(RECORDS, crc=1)), produced(2))
case("records", "one flipped bit", produce(WHOLE[:-1] + bytes([WHOLE[-1] ^ 1])), produced(2))
case("records", "right checksum over a length that is too small", produce(records.batch(
     payload=b"".join(RECORDS)[:-3], count=2)), produced(87))
for what, wrong in {"length negative": {"length": -1}, "length 2^31": {"length": 2**31 - 1}, "length 0": {"length": 0},
                    "value length -2": {"value_length": -2},
                    "value past the end": {"value_length": 4000}, "header count 2^31-1": {"header_count": 2**31 - 1},
                    "header count -1": {"header_count": -1}}.items():
    case("records", f"record with {what}", produce(records.batch([records.record(value=b"v", **wrong)])), produced(87))
case("records", "record with key length -2", produce(records.batch([records.record(value=b"v", key_length=-2)])),
     produced(0), writes=True)  # for Kafka it is null
case("records", "record with a negative header key length", produce(records.batch(payload=(lambda body: records.zigzag(
     len(body)) + body)(b"\0\0\0\1\2v" + records.zigzag(1) + records.zigzag(-1)), count=1)), produced(87))
case("records", "varint of eleven bytes", produce(records.batch(payload=b"\xff" * 11 + b"\0" * 20, count=1)),
     produced(87), kafka=produced(-1))
case("records", "varlong timestamp of eleven bytes",
     produce(records.batch(payload=records.zigzag(20) + b"\0" + b"\xff" * 11 + b"\0" * 8, count=1)), produced(87))
case("records", "bytes after the last record", produce(records.batch(payload=b"".join(RECORDS) + b"\0\0\0", count=2)),
     produced(87))
case("records", "count above the records", produce(records.batch(RECORDS, count=3)), produced(87))
case("records", "count below the records", produce(records.batch(RECORDS, count=1, last_offset_delta=0)), produced(87))
case("records", "count 2^31-1", produce(records.batch(RECORDS, count=2**31 - 1, last_offset_delta=2**31 - 2)),
     produced(87))
for count, delta in ((0, -1), (-1, -2), (2, 5), (2, -5), (-(2**31), 2**31 - 1)):
    case("records", f"count {count}, last offset delta {delta}",
         produce(records.batch(RECORDS, count=count, last_offset_delta=delta)), produced(87))
case("records", "base offset 5", produce(records.batch(RECORDS, base_offset=5)), produced(87))
case("records", "base offset -1", produce(records.batch(RECORDS, base_offset=-1)), produced(87))
case("records", "offset deltas that go back", produce(records.batch([records.record(offset_delta=1),
     records.record(offset_delta=0)])), produced(87), kafka=produced(0))  # Kafka writes it as it is
case("records", "timestamp -1", produce(records.batch(RECORDS, base_timestamp=-1, max_timestamp=-1)), produced(0),
     writes=True)
case("records", "timestamp 2^63-1", produce(records.batch(RECORDS, base_timestamp=2**63 - 1)), produced(0), writes=True)
case("records", "timestamp -2^63", produce(records.batch(RECORDS, base_timestamp=-(2**63))), produced(0), writes=True)
for what, when in {"before": 1_000_000_000_000, "after": 4_000_000_000_000}.items():
    case("records", f"timestamp {what} the topic's bounds", produce(records.batch(RECORDS, base_timestamp=when),
         topic=BOUNDED), produced(32, **{"RecordErrors.#": 2}))
for codec in (5, 6, 7):
    case("records", f"codec {codec}", produce(records.batch(RECORDS, attributes=codec)), produced(76),
         kafka=produced(-1))
GARBAGE = b"\xff\xfe\xfd\xfc" * 20
for name, codec in {"gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}.items():
    case("records", f"{name}: garbage", produce(records.batch(payload=GARBAGE, count=1, attributes=codec)),
         produced(87), kafka=produced(-1))
    case("records", f"{name}: nothing", produce(records.batch(payload=b"", count=1, attributes=codec)),
         produced(87), kafka=produced({-1, 87}))
    case("records", f"{name}: cut", lambda codec=codec: produce(records.batch(payload=bomb(codec, 5000)[61:-4],
         count=1, attributes=codec)), produced(87), kafka=produced({-1, 87, 0}))
    case("records", f"{name}: 20 MB from a small batch", lambda codec=codec: produce(bomb(codec, 20_000_000)),
         produced({0, 87, 10}), writes=True, kafka=None)
    # Kafka takes it, and leaves it to the consumers.
    case("records", f"{name}: 1 GB bomb", lambda codec=codec: produce(bomb(codec, 1_000_000_000)),
         produced({87, 10}), quick=codec == 4, kafka=None)
case("records", "snappy: length 2^32-1", produce(records.batch(payload=uvarint(2**32 - 1) + b"\0x", count=1,
     attributes=2)), produced(87), kafka=produced(-1))
XERIAL = b"\x82SNAPPY\0" + i32(1) + i32(1)
for length in (0xFFFFFFFF, 0x7FFFFFFF, 0):
    case("records", f"snappy: xerial block length {length:#x}", produce(records.batch(
         payload=XERIAL + struct.pack(">I", length) + b"xx", count=1, attributes=2)), produced(87),
         kafka=produced({-1, 87}))
case("records", "zstd: window 2^31", produce(records.batch(payload=zstd_header(31) + bytes(30), count=1, attributes=4)),
     produced(87), kafka=produced({-1, 87}))
case("records", "lz4: legacy frame", produce(records.batch(payload=b"\x02\x21\x4c\x18" + bytes(30), count=1,
     attributes=3)), produced(87), kafka=produced(-1))
case("records", "lz4: block of 2^31-1 bytes", produce(records.batch(payload=lz4_header(0x60, 7) + b"\xff\xff\xff\x7f"
     + bytes(20), count=1, attributes=3)), produced(87), kafka=produced(-1))
case("records", "lz4: two frames, the first holds all", lambda: produce(records.batch(payload=lz4_zeros(
     *zeros_record(100)) + lz4_zeros(*zeros_record(100)), count=1, attributes=3)), produced({0, 87}), writes=True,
     kafka=None)
case("records", "zstd: two frames, the first holds all", lambda: produce(records.batch(payload=zstd_zeros(
     *zeros_record(100)) + zstd_zeros(*zeros_record(100)), count=1, attributes=4)), produced({0, 87}), writes=True,
     kafka=None)
case("records", "gzip: record with a length that lies", produce(gzipped([records.record(value=b"v", length=-5)])),
     produced(87), kafka=produced(0))  # whose consumers then fail
case("records", "control batch", produce(records.batch(RECORDS, attributes=0x20)), produced(87))
case("records", "transactional batch without a transactional id", produce(records.batch(RECORDS, attributes=0x10,
     producer_id=1, producer_epoch=0, base_sequence=0)), produced(53))
case("records", "unused attribute bits", produce(records.batch(RECORDS, attributes=0x7F80)), produced(0), writes=True)
case("records", "LogAppendTime from a producer", produce(records.batch(RECORDS, attributes=8), topic=BOUNDED),
     produced({0, 32}), writes=True)
case("records", "producer id without a sequence", produce(records.batch(RECORDS, producer_id=5, producer_epoch=0)),
     produced(87))
case("records", "sequence without a producer id", produce(records.batch(RECORDS, base_sequence=7)), produced(0),
     writes=True)
case("records", "producer epoch -2", produce(records.batch(RECORDS, producer_id=77, producer_epoch=-2,
     base_sequence=0)), produced({0, 47, 87}), writes=True)
case("records", "producer id 2^63-1", produce(records.batch(RECORDS, producer_id=2**63 - 1, producer_epoch=32767,
     base_sequence=2**31 - 1)), produced({0, 45}), writes=True)
case("records", "producer id -2", produce(records.batch(RECORDS, producer_id=-2, base_sequence=3)), produced({0, 87}),
     writes=True)
case("records", "sequence wraps within a batch", produce(records.batch(RECORDS, producer_id=78, producer_epoch=0,
     base_sequence=2**31 - 1)), produced(0), writes=True)
case("records", "sequence after the wrap", produce(records.batch(RECORDS, producer_id=78, producer_epoch=0,
     base_sequence=1)), produced(0), writes=True)
case("records", "sequence with a gap", produce(records.batch(RECORDS, producer_id=78, producer_epoch=0,
     base_sequence=100)), produced(45))
SMALL_MAX = 1000
for size, code in ((SMALL_MAX, 0), (SMALL_MAX + 1, 10)):
    case("records", f"batch of {size} bytes where max.message.bytes is {SMALL_MAX}", produce(
         records.batch([records.record(value=b"x" * (size - 61 - 9))]), topic=SMALL), produced(code), writes=code == 0)
case("records", "compressed small, large when unfolded", produce(gzipped(records.records([bytes(50_000)])),
     topic=SMALL), produced(0), writes=True)
case("records", "no key on a compacted topic", produce(good_batch(), topic=COMPACTED), produced(87))
case("records", "acks 2", produce(good_batch(), acks=2), produced(21))
case("records", "acks -32768", produce(good_batch(), acks=-32768), produced(21))
case("records", "acks 0 with a wrong checksum", produce(records.batch(RECORDS, crc=1), acks=0),
     Closed("a produce without acknowledgement failed"))
case("records", "internal topic", produce(good_batch(), topic="__consumer_offsets"), produced({17, 3}))
case("records", "20,000 records without a key on a compacted topic",
     lambda: produce(records.batch(records.records([b""] * 20_000)), topic=COMPACTED), produced(87), quick=False)
