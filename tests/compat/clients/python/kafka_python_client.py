# SPDX-License-Identifier: Apache-2.0
"""The kafka-python (PyPI) client of the compatibility test.

Happy path: as every family's program: produce, consume, member. Failure modes: an error of a record, an offset or a
commit ends the program with status 1; no progress for a minute with 3.
"""

import common
from kafka import ConsumerRebalanceListener, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from kafka.errors import CommitFailedError, KafkaError
from kafka.structs import OffsetAndMetadata

ASSIGNORS = {
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
}


def produce(options):
    for topic, codec, list_path in common.jobs(options.jobs):
        producer = KafkaProducer(
            bootstrap_servers=options.broker,
            compression_type=None if codec == "none" else codec,
            acks="all",
            linger_ms=5,
            enable_idempotence=options.idempotent == "1",
            max_request_size=2_000_000,
        )
        waiting = [
            producer.send(topic, value, key, headers=common.headers(options.family, turn), timestamp_ms=timestamp_ms)
            for key, value, timestamp_ms, turn in common.records(list_path, options.pack)
        ]
        producer.flush(common.NO_PROGRESS_S)
        for future in waiting:
            future.get(timeout=common.NO_PROGRESS_S)
        producer.close()
        print(f'{{"topic":"{topic}","produced":{len(waiting)}}}')


def consumer_of(options, **more):
    settings = {
        "bootstrap_servers": options.broker,
        "group_id": options.group,
        "enable_auto_commit": False,
        "auto_offset_reset": "earliest",
        "fetch_max_wait_ms": 100,
        **more,
    }
    if options.group:
        settings.update(
            session_timeout_ms=options.session_timeout_ms,
            heartbeat_interval_ms=300,
            partition_assignment_strategy=[ASSIGNORS[options.assignor]],
        )
    if options.instance_id:
        settings["group_instance_id"] = options.instance_id
    return KafkaConsumer(**settings)


def consume(options):
    if options.mode == "assign":
        options.group = None
    consumer = consumer_of(options)
    with open(options.topics, encoding="utf-8") as lines:
        topics = lines.read().split()
    partitions = [
        TopicPartition(topic, partition)
        for topic in topics
        for partition in sorted(consumer.partitions_for_topic(topic))
    ]
    ends = {(row.topic, row.partition): end for row, end in consumer.end_offsets(partitions).items()}
    if options.mode == "group":
        consumer.subscribe(topics)
    else:
        consumer.assign(partitions)
        consumer.seek_to_beginning()
    progress = common.Progress(ends)
    while progress.open:
        for rows in consumer.poll(timeout_ms=200, max_records=500).values():
            for row in rows:
                common.print_record(
                    options.mode, row.topic, row.partition, row.offset, row.timestamp, row.key, row.headers, row.value
                )
                progress.took(row.topic, row.partition, row.offset)
        progress.check()
    if options.mode == "group":
        consumer.commit()
        found = [(row.topic, row.partition, consumer.committed(row)) for row in partitions]
        print(
            '{"committed":[%s]}'
            % ",".join(
                f'["{topic}",{partition},{-1 if offset is None else offset}]' for topic, partition, offset in found
            )
        )
    consumer.close()


def commit_position(consumer):
    positions = {row: consumer.position(row) for row in consumer.assignment()}
    positions = {row: offset for row, offset in positions.items() if offset is not None}
    if positions:
        try:
            consumer.commit({row: OffsetAndMetadata(offset, "", -1) for row, offset in positions.items()})
        except (CommitFailedError, KafkaError):
            return  # fenced by a rebalance: the next owner starts from the last commit
        common.print_event("committed", [(row.partition, offset) for row, offset in positions.items()])


class Listener(ConsumerRebalanceListener):
    """Tells of changes. The library refuses a commit in here, so that what was taken since the last one comes again."""

    def on_partitions_revoked(self, revoked):
        common.print_event("revoked", [(row.partition, -1) for row in revoked])

    def on_partitions_assigned(self, assigned):
        common.print_event("assigned", [(row.partition, -1) for row in assigned])


def member(options):
    stopping = common.stop_at_sigterm()
    consumer = consumer_of(options, metadata_max_age_ms=1000)
    consumer.subscribe([options.topics], listener=Listener())

    def poll():
        polled = consumer.poll(timeout_ms=100, max_records=common.COMMIT_EVERY_RECORDS).values()
        rows = [row for partition in polled for row in partition]
        for row in rows:
            common.print_member_record(row.partition, row.offset, row.value)
        return len(rows)

    common.member_loop(stopping, consumer, poll, commit_position)


if __name__ == "__main__":
    parsed = common.options()
    {"produce": produce, "consume": consume, "member": member}[parsed.command](parsed)
