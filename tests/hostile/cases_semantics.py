# SPDX-License-Identifier: Apache-2.0
"""Cases of requests that are well formed and make no sense."""

from case import case, fetched
from encoded import BOUNDED, COMPACTED, TOPIC, ask, fetch
from judge import Answer, AnyOf, Closed, Each, Silent
from tables import Raw, uvarint

# ---- semantics: reading
case("semantics", "Fetch as broker 0", fetch(ReplicaId=0), AnyOf(fetched(3), fetched(0), fetched(6), fetched(75),
     Closed()))
case("semantics", "Fetch as broker 2^31-1", fetch(ReplicaId=2**31 - 1), AnyOf(fetched(3), fetched(0), fetched(6),
     fetched(75), fetched(9), Closed()))
case("semantics", "Fetch as the debugging consumer", fetch(ReplicaId=-2), fetched(0))
case("semantics", "Fetch min_bytes 2^31-1", fetch(MinBytes=2**31 - 1), fetched(0))
case("semantics", "Fetch min_bytes -1", fetch(MinBytes=-1), fetched(0))
for value in (0, -1, -(2**31)):
    # Kafka has no answer but UNKNOWN_SERVER_ERROR to negative ones.
    theirs = fetched(0 if value == 0 else -1)
    case("semantics", f"Fetch max_bytes {value}", fetch(MaxBytes=value), fetched({0, 42}), kafka=theirs)
    case("semantics", f"Fetch partition_max_bytes {value}", fetch(PartitionMaxBytes=value), fetched({0, 42}),
         kafka=theirs)
case("semantics", "Fetch max_wait 2^31-1 with data", fetch(MaxWaitMs=2**31 - 1, MinBytes=1), fetched(0))
case("semantics", "Fetch max_wait -1", fetch(MaxWaitMs=-1, MinBytes=1 << 30), fetched(0))
case("semantics", "Fetch max_wait 2^31-1 without data, then a good-bye", fetch(partition=3,
     MaxWaitMs=2**31 - 1, MinBytes=2**31 - 1), Silent(0.3))
for offset in (-1, -(2**63), 2**63 - 1, 10**9):
    case("semantics", f"Fetch offset {offset}", fetch(offset=offset), fetched(1))
case("semantics", "Fetch isolation level 7", fetch(IsolationLevel=7), AnyOf(fetched({0, -1, 42}), Closed()))
case("semantics", "Fetch below version 4", ask("Fetch", 3, MaxWaitMs=1, Topics=[{"Topic": TOPIC, "Partitions": [
     {"Partition": 0, "PartitionMaxBytes": 1000}]}]), fetched(35, version=3), kafka=None)
case("semantics", "Fetch current leader epoch 9", fetch(CurrentLeaderEpoch=10_000), fetched(75))
case("semantics", "Fetch session that nobody made", fetch(SessionId=12345, SessionEpoch=1),
     Answer("Fetch", 12, {"ErrorCode": 70, "SessionId": 0, "Responses.#": 0}))
case("semantics", "Fetch session -1", fetch(SessionId=-1, SessionEpoch=5), Answer("Fetch", 12, {"ErrorCode": 70}))
case("semantics", "Fetch session epoch -2", fetch(SessionId=0, SessionEpoch=-2), Answer("Fetch", 12, ErrorCode={0, 70,
     71}))
case("semantics", "Fetch the same partition twice", ask("Fetch", 12, MaxWaitMs=1, Topics=[{"Topic": TOPIC,
     "Partitions": [{"Partition": 0, "PartitionMaxBytes": 100}, {"Partition": 0, "PartitionMaxBytes": 100}]}]),
     Answer("Fetch", 12, ErrorCode=0))
case("semantics", "Fetch of an unknown topic id", ask("Fetch", 13, MaxWaitMs=1, Topics=[{"TopicId": b"\7" * 16,
     "Partitions": [{"Partition": 0, "PartitionMaxBytes": 100}]}]), fetched(100, version=13))
case("semantics", "2,000 fetch sessions on one connection",
     lambda: b"".join(fetch(partition=3, SessionEpoch=0, MaxWaitMs=0) for _ in range(2000)), Each(2000, fetched(0)), quick=False)
for when in (-6, -100, -(2**63)):
    case("semantics", f"ListOffsets timestamp {when}", ask("ListOffsets", 5, ReplicaId=-1, Topics=[
         {"Name": TOPIC, "Partitions": [{"PartitionIndex": 0, "Timestamp": when}]}]),
         Answer("ListOffsets", 5, {"Topics.0.Partitions.0.ErrorCode": 35}))
case("semantics", "ListOffsets timestamp 2^63-1", ask("ListOffsets", 5, ReplicaId=-1, Topics=[
     {"Name": BOUNDED, "Partitions": [{"PartitionIndex": 0, "Timestamp": 2**63 - 1}]}]),
     Answer("ListOffsets", 5, {"Topics.0.Partitions.0.ErrorCode": 0, "Topics.0.Partitions.0.Offset": -1}))
case("semantics", "ListOffsets v0 for 2^31-1 offsets", ask("ListOffsets", 0, ReplicaId=-1, Topics=[{"Name": TOPIC,
     "Partitions": [{"PartitionIndex": 0, "Timestamp": -1, "MaxNumOffsets": 2**31 - 1}]}]),
     Answer("ListOffsets", 0, {"Topics.0.Partitions.0.ErrorCode": 0}))
case("semantics", "ListOffsets v0 for -1 offsets", ask("ListOffsets", 0, ReplicaId=-1, Topics=[{"Name": TOPIC,
     "Partitions": [{"PartitionIndex": 0, "Timestamp": -1, "MaxNumOffsets": -1}]}]),
     AnyOf(Answer("ListOffsets", 0), Closed()))
for epoch, code in ((-1, 0), (10**6, 75)):
    case("semantics", f"OffsetForLeaderEpoch with current epoch {epoch}", ask("OffsetForLeaderEpoch", 3, ReplicaId=5,
         Topics=[{"Topic": TOPIC, "Partitions": [{"Partition": 0, "CurrentLeaderEpoch": epoch, "LeaderEpoch": 2**30}]}]),
         Answer("OffsetForLeaderEpoch", 3, {"Topics.0.Partitions.0.ErrorCode": code}))

# ---- semantics: groups and producers


def join(version=5, group="hostile", **values):
    defaults = {"SessionTimeoutMs": 10000, "RebalanceTimeoutMs": 10000, "ProtocolType": "consumer",
                "Protocols": [{"Name": "range", "Metadata": b""}]}
    return ask("JoinGroup", version, GroupId=group, **{**defaults, **values})


def joined(*codes, version=5):
    return Answer("JoinGroup", version, ErrorCode=set(codes))


case("semantics", "JoinGroup without a group id", join(group=""), joined(24))
case("semantics", "JoinGroup session timeout 0", join(SessionTimeoutMs=0), joined(26))
case("semantics", "JoinGroup session timeout 2^31-1", join(SessionTimeoutMs=2**31 - 1), joined(26))
for value in (0, -1, 2**31 - 1):
    case("semantics", f"JoinGroup rebalance timeout {value}", join(RebalanceTimeoutMs=value), joined(79))
case("semantics", "JoinGroup without protocols", join(Protocols=[]), joined(23))
case("semantics", "JoinGroup with an empty protocol type", join(ProtocolType=""), joined(23))
case("semantics", "JoinGroup of a member that nobody knows", join(MemberId="stranger"), joined(25))
case("semantics", "JoinGroup with 10 MB of metadata", lambda: join(Protocols=[{"Name": "range",
     "Metadata": bytes(10_000_000)}]), joined(79), quick=False)
case("semantics", "JoinGroup with 10,000 protocols", lambda: join(Protocols=[{"Name": f"p{n}", "Metadata": b"x"}
     for n in range(10_000)]), joined(79), quick=False)
case("semantics", "1,000 pending members", lambda: [join(group="hostile-crowd") for _ in range(1000)],
     Each(1000, joined(79)), quick=False)
case("semantics", "SyncGroup of a stranger", ask("SyncGroup", 3, GroupId="hostile", MemberId="x", GenerationId=1),
     Answer("SyncGroup", 3, ErrorCode=25))
case("semantics", "SyncGroup without a group id", ask("SyncGroup", 3, GroupId="", MemberId="x"),
     Answer("SyncGroup", 3, ErrorCode=24))
case("semantics", "Heartbeat of a stranger", ask("Heartbeat", 3, GroupId="hostile", MemberId="x", GenerationId=2**31 - 1),
     Answer("Heartbeat", 3, ErrorCode=25))
case("semantics", "LeaveGroup of a stranger", ask("LeaveGroup", 2, GroupId="hostile", MemberId="x"),
     Answer("LeaveGroup", 2, ErrorCode=25))


def commit(partitions, group="hostile-commit", **values):
    return ask("OffsetCommit", 7, GroupId=group, GenerationIdOrMemberEpoch=values.pop("generation", -1),
               MemberId=values.pop("member", ""), Topics=[{"Name": TOPIC, "Partitions": partitions}])


def committed(code):
    return Answer("OffsetCommit", 7, {"Topics.0.Partitions.0.ErrorCode": code})


case("semantics", "commit with 4,097 bytes of metadata", commit([{"PartitionIndex": 0, "CommittedOffset": 1,
     "CommittedMetadata": "m" * 4097}]), committed(12))
case("semantics", "commit to a partition that is not there", commit([{"PartitionIndex": 2**31 - 1,
     "CommittedOffset": 1}]), committed(3))
case("semantics", "commit of offset -1", commit([{"PartitionIndex": 0, "CommittedOffset": -1}]), committed(0))
case("semantics", "commit of generation 5 to a group that is not there", commit([{"PartitionIndex": 0,
     "CommittedOffset": 1}], group="hostile-nobody", generation=5, member="x"), committed({22, 25}))
case("semantics", "commit to 50,000 partitions that are not there", lambda: commit([{"PartitionIndex": n + 100,
     "CommittedOffset": 1} for n in range(50_000)]), committed(3), quick=False)
case("semantics", "OffsetFetch for 50,000 partitions", lambda: ask("OffsetFetch", 5, GroupId="hostile-none", Topics=[
     {"Name": TOPIC, "PartitionIndexes": list(range(50_000))}]), Answer("OffsetFetch", 5, ErrorCode=0), quick=False)
for kind, code in ((2, 42), (7, 42), (-1, 42)):
    case("semantics", f"FindCoordinator of type {kind}", ask("FindCoordinator", 3, Key="x", KeyType=kind),
         Answer("FindCoordinator", 3, ErrorCode=code))
case("semantics", "FindCoordinator for a transaction", ask("FindCoordinator", 3, Key="x", KeyType=1),
     Answer("FindCoordinator", 3, ErrorCode=42), kafka=None)  # before transactions exist (trap 59)
case("semantics", "InitProducerId with an empty transactional id", ask("InitProducerId", 4, TransactionalId="",
     TransactionTimeoutMs=1000), Answer("InitProducerId", 4, ErrorCode=42))
for timeout in (0, -1, 2**31 - 1):
    case("semantics", f"InitProducerId with transaction timeout {timeout}", ask("InitProducerId", 4,
         TransactionalId=None, TransactionTimeoutMs=timeout), Answer("InitProducerId", 4, ErrorCode=0, ProducerEpoch=0),
         kafka=Answer("InitProducerId", 4, ErrorCode={0, 14}))
case("semantics", "InitProducerId with an epoch but no id", ask("InitProducerId", 4, TransactionalId=None,
     ProducerEpoch=3),
     Answer("InitProducerId", 4, ErrorCode=42))

# ---- semantics: administration


def create(version=7, timeout_ms=10000, **topic):
    topic = {"Name": "hostile-new", "NumPartitions": 1, "ReplicationFactor": 1, **topic}
    return ask("CreateTopics", version, TimeoutMs=timeout_ms, Topics=[topic])


def created(*codes):
    return Answer("CreateTopics", 7, {"Topics.0.ErrorCode": set(codes)})


case("semantics", "CreateTopics with 10,000 topics to be validated", lambda: ask("CreateTopics", 4, TimeoutMs=10000, ValidateOnly=True,
     Topics=[{"Name": f"hostile-{n}", "NumPartitions": 1, "ReplicationFactor": 1} for n in range(10_000)]),
     Answer("CreateTopics", 4, {"Topics.#": 10_000, "Topics.0.ErrorCode": 0, "Topics.9999.ErrorCode": 0}), quick=False)
for count in (0, -2, -(2**31)):
    case("semantics", f"CreateTopics with {count} partitions", create(NumPartitions=count), created(37))
case("semantics", "CreateTopics with 1,000,000 partitions", create(NumPartitions=1_000_000), created(37, 44),
     kafka=None)
case("semantics", "CreateTopics with 2^31-1 partitions", create(NumPartitions=2**31 - 1), created(37, 44), kafka=None)
for factor in (0, -2, 2, 32767, -32768):
    case("semantics", f"CreateTopics with replication factor {factor}", create(ReplicationFactor=factor), created(38))
for what, assignment in {"a broker twice": [(0, [0, 0])], "a hole": [(0, [0]), (2, [0])],
                         "partition -1": [(-1, [0])]}.items():
    case("semantics", f"CreateTopics with {what} in its assignment", create(NumPartitions=-1, ReplicationFactor=-1,
         Assignments=[{"PartitionIndex": p, "BrokerIds": b} for p, b in assignment]), created(39, 38, 42))
for what, name, value, code in (("an unknown setting", "hostile.setting", "1", 40), ("a null value", "retention.ms",
                                 None, 40), ("a number that is none", "retention.ms", "soon", 40),
                                ("a negative size", "segment.bytes", "-5", 40),
                                ("a value of 20 digits", "retention.ms", "9" * 20, 40),
                                ("a value of 30,000 bytes", "retention.ms", "9" * 30_000, 40)):
    case("semantics", f"CreateTopics with {what}", create(Configs=[{"Name": name, "Value": value}]), created(code))
    case("semantics", f"IncrementalAlterConfigs with {what}", ask("IncrementalAlterConfigs", 1, Resources=[
         {"ResourceType": 2, "ResourceName": TOPIC, "Configs": [{"Name": name, "ConfigOperation": 0, "Value": value}]}]),
         Answer("IncrementalAlterConfigs", 1, {"Responses.0.ErrorCode": {40, 42}}))
case("semantics", "AlterConfigs with 1 MB", lambda: ask("AlterConfigs", 2, Resources=[{"ResourceType": 2,
     "ResourceName": TOPIC, "Configs": [{"Name": "retention.ms", "Value": Raw(uvarint(1_000_001) + b"9" * 1_000_000)}]}]),
     Closed())
case("semantics", "AlterConfigs of an unknown type", ask("AlterConfigs", 2, Resources=[{"ResourceType": 99,
     "ResourceName": "x", "Configs": []}]), AnyOf(Answer("AlterConfigs", 2, {"Responses.0.ErrorCode": {42, 87}}),
     Closed()))
case("semantics", "IncrementalAlterConfigs with operation 9", ask("IncrementalAlterConfigs", 1, Resources=[
     {"ResourceType": 2, "ResourceName": TOPIC, "Configs": [{"Name": "retention.ms", "ConfigOperation": 9,
      "Value": "1"}]}]), AnyOf(Answer("IncrementalAlterConfigs", 1, {"Responses.0.ErrorCode": -1}), Closed()))
case("semantics", "DescribeConfigs of an unknown type", ask("DescribeConfigs", 4, Resources=[{"ResourceType": 99,
     "ResourceName": "x", "ConfigurationKeys": None}]), AnyOf(Answer("DescribeConfigs", 4), Closed()))
case("semantics", "DeleteRecords beyond the high watermark", ask("DeleteRecords", 1, TimeoutMs=1000, Topics=[
     {"Name": TOPIC, "Partitions": [{"PartitionIndex": 0, "Offset": 10**12}]}]),
     Answer("DeleteRecords", 1, {"Topics.0.Partitions.0.ErrorCode": 1}))
case("semantics", "DeleteRecords to -2", ask("DeleteRecords", 1, TimeoutMs=1000, Topics=[
     {"Name": TOPIC, "Partitions": [{"PartitionIndex": 0, "Offset": -2}]}]),
     Answer("DeleteRecords", 1, {"Topics.0.Partitions.0.ErrorCode": 1}))
case("semantics", "DeleteRecords of a compacted topic", ask("DeleteRecords", 1, TimeoutMs=1000, Topics=[
     {"Name": COMPACTED, "Partitions": [{"PartitionIndex": 0, "Offset": 0}]}]),
     Answer("DeleteRecords", 1, {"Topics.0.Partitions.0.ErrorCode": 44}))
case("semantics", "DeleteTopics of a topic that is not there", ask("DeleteTopics", 6, TimeoutMs=1000, Topics=[
     {"Name": "hostile-nothing"}]), Answer("DeleteTopics", 6, {"Responses.0.ErrorCode": 3}))
case("semantics", "DeleteTopics of '../x'", ask("DeleteTopics", 5, TimeoutMs=1000, TopicNames=["../x"]),
     Answer("DeleteTopics", 5, {"Responses.0.ErrorCode": 3}))
case("semantics", "CreatePartitions down", ask("CreatePartitions", 3, TimeoutMs=1000, Topics=[{"Name": TOPIC,
     "Count": 1, "Assignments": None}]), Answer("CreatePartitions", 3, {"Results.0.ErrorCode": 37}))
case("semantics", "CreatePartitions to 1,000,000", ask("CreatePartitions", 3, TimeoutMs=1000, Topics=[{"Name": TOPIC,
     "Count": 1_000_000, "Assignments": None}]), Answer("CreatePartitions", 3, {"Results.0.ErrorCode": {37, 44}}),
     kafka=None)
for name, key, version in (("LeaderAndIsr", 4, 7), ("StopReplica", 5, 4), ("UpdateMetadata", 6, 8),
                           ("ControlledShutdown", 7, 3), ("WriteTxnMarkers", 27, 1), ("AlterPartition", 56, 3),
                           ("AllocateProducerIds", 67, 0), ("EndTxn", 26, 3), ("AddPartitionsToTxn", 24, 3),
                           ("SaslHandshake", 17, 1), ("Envelope", 58, 0)):
    case("semantics", f"{name} from a client", ask(name, version), Closed("API key is not served"), kafka=None)
