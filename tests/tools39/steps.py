# SPDX-License-Identifier: Apache-2.0
"""The script of Kafka tool calls: one line a step, in order; a line that ends in a backslash goes on in the next.

`NAME: TOOL ARGUMENTS`: words as a shell splits them; {at} is `--bootstrap-server ADDRESS`, {broker} the address, {dir}
a folder for files; `<FILE` at the end is the tool's standard input. `=FILE TEXT` writes a file. `!start GROUP TOPIC`
and `!stop GROUP` start and stop a member of a group in the background.
"""

TOOLS = {
    "topics": "org.apache.kafka.tools.TopicCommand",
    "configs": "kafka.admin.ConfigCommand",
    "offsets": "org.apache.kafka.tools.GetOffsetShell",
    "groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "log-dirs": "org.apache.kafka.tools.LogDirsCommand",
    "delete-records": "org.apache.kafka.tools.DeleteRecordsCommand",
    "api-versions": "kafka.admin.BrokerApiVersionsCommand",
    "producer-perf": "org.apache.kafka.tools.ProducerPerformance",
    "consumer-perf": "org.apache.kafka.tools.ConsumerPerformance",
    "end-to-end": "org.apache.kafka.tools.EndToEndLatency",
    "console-producer": "kafka.tools.ConsoleProducer",
    "console-consumer": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "reassign": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
    "transactions": "org.apache.kafka.tools.TransactionsCommand",
    "acls": "kafka.admin.AclCommand",
    "cluster": "org.apache.kafka.tools.ClusterTool",
}

# Tools whose output is of the broker's own making: only the exit status counts.
STATUS_ONLY = {"api-versions"}

STEPS = r"""
# ---- topics ----
list nothing: topics {at} --list
create orders: topics {at} --create --topic orders --partitions 3 --replication-factor 1
create with configs: topics {at} --create --topic configured --partitions 1 --config retention.ms=3600000 --config \
    segment.bytes=1048576 --config cleanup.policy=delete
create with broker defaults: topics {at} --create --topic defaults
create with assignment: topics {at} --create --topic assigned --replica-assignment 0,0
create again: topics {at} --create --topic orders --partitions 3 --replication-factor 1
create again if not exists: topics {at} --create --topic orders --if-not-exists --partitions 3 --replication-factor 1
create with dot and underscore: topics {at} --create --topic with.dot --partitions 1
create that collides: topics {at} --create --topic with_dot --partitions 1
create with bad name: topics {at} --create --topic a/b --partitions 1
create with too many replicas: topics {at} --create --topic toomany --partitions 1 --replication-factor 2
create with no partitions: topics {at} --create --topic none --partitions 0 --replication-factor 1
create with bad config name: topics {at} --create --topic badconfig --partitions 1 --config no.such.config=1
create with bad config value: topics {at} --create --topic badvalue --partitions 1 --config segment.bytes=1
create with no replicas: topics {at} --create --topic none --partitions 1 --replication-factor 0
create with a broker twice: topics {at} --create --topic none --replica-assignment 0:0
list: topics {at} --list
describe orders: topics {at} --describe --topic orders
describe configured: topics {at} --describe --topic configured
describe all: topics {at} --describe --exclude-internal
describe overridden: topics {at} --describe --topics-with-overrides
describe under-replicated: topics {at} --describe --under-replicated-partitions
describe unavailable: topics {at} --describe --unavailable-partitions
describe at min isr: topics {at} --describe --at-min-isr-partitions --exclude-internal
describe unknown: topics {at} --describe --topic nosuch
more partitions: topics {at} --alter --topic orders --partitions 4
fewer partitions: topics {at} --alter --topic orders --partitions 2
as many partitions: topics {at} --alter --topic orders --partitions 4
assigned partitions: topics {at} --alter --topic assigned --partitions 3 --replica-assignment 0,0,0
partitions on unknown broker: topics {at} --alter --topic assigned --partitions 4 --replica-assignment 0,0,0,3
partitions of unknown: topics {at} --alter --topic nosuch --partitions 2
describe after alter: topics {at} --describe --topic orders
delete: topics {at} --delete --topic assigned
delete unknown: topics {at} --delete --topic nosuch
delete unknown if exists: topics {at} --delete --topic nosuch --if-exists
list after delete: topics {at} --list

# ---- configurations ----
describe topic configs: configs {at} --describe --entity-type topics --entity-name configured
describe all topic configs: configs {at} --describe --all --entity-type topics --entity-name configured
set topic configs: configs {at} --alter --entity-type topics --entity-name configured --add-config \
    retention.ms=7200000,max.message.bytes=200000
set list config: configs {at} --alter --entity-type topics --entity-name configured --add-config \
    cleanup.policy=[compact,delete]
describe after set: configs {at} --describe --entity-type topics --entity-name configured
delete topic config: configs {at} --alter --entity-type topics --entity-name configured --delete-config \
    retention.ms,cleanup.policy
delete unset config: configs {at} --alter --entity-type topics --entity-name configured --delete-config flush.ms
describe after delete: configs {at} --describe --entity-type topics --entity-name configured
=topic.properties retention.ms=777000\nsegment.ms=888000\n
set from file: configs {at} --alter --topic configured --add-config-file {dir}/topic.properties
set and delete: configs {at} --alter --topic configured --add-config flush.ms=5 --delete-config segment.ms,retention.ms
describe after both: configs {at} --describe --topic configured
set empty: configs {at} --alter --topic configured --add-config retention.ms=
delete last: configs {at} --alter --topic configured --delete-config flush.ms
bad value: configs {at} --alter --entity-type topics --entity-name configured --add-config retention.ms=soon
bad name: configs {at} --alter --entity-type topics --entity-name configured --add-config no.such=1
configs of unknown topic: configs {at} --describe --entity-type topics --entity-name nosuch
set on unknown topic: configs {at} --alter --entity-type topics --entity-name nosuch --add-config retention.ms=1000
describe broker: configs {at} --describe --entity-type brokers --entity-name 0
describe broker defaults: configs {at} --describe --entity-type brokers --entity-default
describe all of broker: configs {at} --describe --all --entity-type brokers --entity-name 0
set broker config: configs {at} --alter --entity-type brokers --entity-name 0 --add-config log.retention.ms=864000000
set broker default: configs {at} --alter --entity-type brokers --entity-default --add-config message.max.bytes=1000000
set static broker config: configs {at} --alter --entity-type brokers --entity-name 0 --add-config broker.rack=r1
set bad broker value: configs {at} --alter --entity-type brokers --entity-name 0 --add-config message.max.bytes=many
set throttles: configs {at} --alter --broker 0 --add-config \
    leader.replication.throttled.rate=1000,follower.replication.throttled.rate=2000
set bad throttle: configs {at} --alter --broker 0 --add-config leader.replication.throttled.rate=-1
describe throttles: configs {at} --describe --broker 0
delete throttles: configs {at} --alter --broker 0 --delete-config \
    leader.replication.throttled.rate,follower.replication.throttled.rate
describe broker after set: configs {at} --describe --entity-type brokers --entity-name 0
describe broker defaults after set: configs {at} --describe --entity-type brokers --entity-default
topic inherits: configs {at} --describe --all --entity-type topics --entity-name defaults
delete broker config: configs {at} --alter --entity-type brokers --entity-name 0 --delete-config log.retention.ms
delete broker default: configs {at} --alter --entity-type brokers --entity-default --delete-config message.max.bytes
set logger: configs {at} --alter --entity-type broker-loggers --entity-name 0 --add-config root=WARN
set bad logger level: configs {at} --alter --entity-type broker-loggers --entity-name 0 --add-config root=LOUD
set unknown logger: configs {at} --alter --entity-type broker-loggers --entity-name 0 --add-config nosuch=INFO
delete root logger: configs {at} --alter --entity-type broker-loggers --entity-name 0 --delete-config root
set logger back: configs {at} --alter --entity-type broker-loggers --entity-name 0 --add-config root=INFO
describe broker at last: configs {at} --describe --entity-type brokers --entity-name 0

# ---- records and offsets ----
=lines k1:v1\nk2:v2\nk3:v3\nk4:v4\nk5:v5\nk1:v6\nk2:v7\nk3:v8\nk6:v9\nk7:v10\n
produce: console-producer {at} --topic orders --property parse.key=true --property key.separator=: <lines
produce gzip: console-producer {at} --topic configured --compression-codec gzip --property parse.key=true --property \
    key.separator=: <lines
produce to unknown topic: console-producer {at} --topic created-by-producer --property parse.key=true --property \
    key.separator=: <lines
consume: console-consumer {at} --topic orders --from-beginning --max-messages 10 --timeout-ms 20000 --property \
    print.key=true --property print.partition=true --property print.offset=true --property print.headers=true
consume a partition: console-consumer {at} --topic configured --partition 0 --offset 4 --max-messages 6 --timeout-ms \
    20000 --property print.offset=true
consume in group: console-consumer {at} --topic orders --group readers --from-beginning --max-messages 10 \
    --timeout-ms 20000 --property print.key=true
offsets of topic: offsets {at} --topic orders
offsets latest: offsets {at} --topic orders --time -1
offsets earliest: offsets {at} --topic orders --time earliest
=one a line\n
produce earlier: console-producer {at} --topic defaults <one
produce later: console-producer {at} --topic defaults <one
offsets max timestamp: offsets {at} --topic defaults --time max-timestamp
offsets earliest local: offsets {at} --topic configured --time -4
offsets latest tiered: offsets {at} --topic configured --time -5
offsets of a time unknown: offsets {at} --topic configured --time -6
offsets by time in the past: offsets {at} --topic configured --time 1000
offsets by time in the future: offsets {at} --topic configured --time 4102444800000
offsets of partitions: offsets {at} --topic-partitions orders:0,orders:2-4
offsets by pattern: offsets {at} --topic-partitions orders|configured --exclude-internal-topics
offsets of unknown: offsets {at} --topic nosuch
producers of partition: transactions {at} describe-producers --topic orders --partition 0

# ---- groups ----
list groups: groups {at} --list
list groups with state: groups {at} --list --state
list groups by state: groups {at} --list --state Stable
list groups with type: groups {at} --list --type
describe empty group: groups {at} --describe --group readers
describe empty group's members: groups {at} --describe --group readers --members
describe empty group's state: groups {at} --describe --group readers --state
describe unknown group: groups {at} --describe --group nosuch
!start active orders
describe active group: groups {at} --describe --group active
describe active group's members: groups {at} --describe --group active --members --verbose
describe active group's state: groups {at} --describe --group active --state
describe all groups: groups {at} --describe --all-groups --state
reset active group: groups {at} --reset-offsets --group active --topic orders --to-earliest --execute
delete active group: groups {at} --delete --group active
delete offsets of active group: groups {at} --delete-offsets --group active --topic orders
!stop active
reset to earliest, dry: groups {at} --reset-offsets --group readers --topic orders --to-earliest --dry-run
reset to earliest: groups {at} --reset-offsets --group readers --topic orders --to-earliest --execute
describe after reset: groups {at} --describe --group readers
reset by one: groups {at} --reset-offsets --group readers --all-topics --shift-by 1 --execute
reset to offset: groups {at} --reset-offsets --group readers --topic orders:0 --to-offset 1 --execute
reset to latest: groups {at} --reset-offsets --group readers --topic orders:1,2 --to-latest --execute
reset to a time past: groups {at} --reset-offsets --group readers --topic orders --to-datetime \
    2000-01-01T00:00:00.000 --execute
reset by duration: groups {at} --reset-offsets --group readers --topic orders --by-duration P1D --execute
reset to current: groups {at} --reset-offsets --group readers --all-topics --to-current --execute
export offsets: groups {at} --reset-offsets --group readers --topic orders --to-latest --export
=reset.csv orders,0,0\norders,1,1\n
import offsets: groups {at} --reset-offsets --group readers --from-file {dir}/reset.csv --execute
reset to an unknown topic: groups {at} --reset-offsets --group readers --topic nosuch --to-earliest --dry-run
reset beyond the end: groups {at} --reset-offsets --group readers --topic configured --to-offset 9999 --dry-run
reset far back: groups {at} --reset-offsets --group readers --topic orders --shift-by -1000 --dry-run
=several.csv readers,orders,0,1\nfresh,configured,0,2\n
import offsets of several: groups {at} --reset-offsets --group readers --group fresh --from-file {dir}/several.csv --dry-run
delete offsets of unknown partition: groups {at} --delete-offsets --group readers --topic orders:77
delete offsets of unknown group: groups {at} --delete-offsets --group nosuch --topic orders
reset of a new group: groups {at} --reset-offsets --group fresh --topic configured --to-offset 3 --execute
describe a new group: groups {at} --describe --group fresh
delete offsets: groups {at} --delete-offsets --group readers --topic orders:0
describe after offset deletion: groups {at} --describe --group readers
delete group: groups {at} --delete --group fresh
delete unknown group: groups {at} --delete --group nosuch
list groups at last: groups {at} --list

# ---- log directories, deletion of records ----
log dirs of topic: log-dirs {at} --describe --topic-list orders,configured
log dirs of unknown topic: log-dirs {at} --describe --topic-list nosuch
log dirs of unknown broker: log-dirs {at} --describe --broker-list 7
=delete.json {"partitions":[{"topic":"configured","partition":0,"offset":3}],"version":1}
delete records: delete-records {at} --offset-json-file {dir}/delete.json
earliest after delete: offsets {at} --topic configured --time -2
=delete-all.json \
    {"partitions":[{"topic":"configured","partition":0,"offset":-1}],"version":1}
delete all records: delete-records {at} --offset-json-file {dir}/delete-all.json
earliest after delete all: offsets {at} --topic configured --time -2
=delete-beyond.json {"partitions":[{"topic":"configured","partition":0,"offset":999}],"version":1}
delete records beyond the end: delete-records {at} --offset-json-file {dir}/delete-beyond.json

# ---- load tools, others ----
api versions: api-versions {at}
cluster id: cluster cluster-id {at}
reassignments: reassign {at} --list
acls: acls {at} --list
add acl: acls {at} --add --allow-principal User:alice --operation Read --topic orders
remove acl: acls {at} --remove --force --allow-principal User:alice --operation Read --topic orders
create perf: topics {at} --create --topic perf --partitions 4 --replication-factor 1
producer perf: producer-perf --topic perf --num-records 20000 --record-size 200 --throughput -1 --producer-props \
    bootstrap.servers={broker} acks=all
producer perf lz4: producer-perf --topic perf --num-records 5000 --record-size 1000 --throughput -1 --producer-props \
    bootstrap.servers={broker} acks=1 compression.type=lz4
consumer perf: consumer-perf {at} --topic perf --messages 25000 --timeout 20000 --group perf
perf offsets: offsets {at} --topic-partitions perf:0-4
end to end: end-to-end {broker} latency 200 all 100
list at last: topics {at} --list
"""
