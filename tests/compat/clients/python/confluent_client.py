# SPDX-License-Identifier: Apache-2.0
"""The confluent-kafka (PyPI, librdkafka 2.11 and later) client of the compatibility test.

Happy path: as every family's program: produce, consume, member. Failure modes: an error of a record, an offset or a
commit ends the program with status 1; no progress for a minute with 3.
"""

import common
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, Producer, TopicPartition

LEAVE_TRIES = 100


def produce(options):
    for topic, codec, list_path in common.jobs(options.jobs):
        delivered, errors = 0, []

        def on_delivery(error, _message):
            nonlocal delivered
            if error is None:
                delivered += 1
            else:
                errors.append(error)

        producer = Producer(
            {
                "bootstrap.servers": options.broker,
                "compression.codec": codec,
                "acks": "all",
                "linger.ms": 5,
                "enable.idempotence": options.idempotent == "1",
                "partitioner": "murmur2_random",
                "queue.buffering.max.messages": 2000,
            }
        )
        sent = 0
        for key, value, timestamp_ms, turn in common.records(list_path, options.pack):
            while True:
                try:
                    producer.produce(
                        topic,
                        value,
                        key,
                        timestamp=timestamp_ms,
                        headers=common.headers(options.family, turn),
                        on_delivery=on_delivery,
                    )
                    break
                except BufferError:
                    producer.poll(0.1)
            sent += 1
            producer.poll(0)
        producer.flush(common.NO_PROGRESS_S)
        if errors or delivered != sent:
            common.fail(f"{topic}: sent {sent}, delivered {delivered}, errors {errors[:5]}")
        print(f'{{"topic":"{topic}","produced":{delivered}}}')


def consumer_of(options, **more):
    settings = {
        "bootstrap.servers": options.broker,
        "group.id": options.group or "unused",
        "enable.auto.commit": False,
        "auto.offset.reset": "earliest",
        "session.timeout.ms": options.session_timeout_ms,
        "heartbeat.interval.ms": 300,
        "fetch.wait.max.ms": 100,
        "partition.assignment.strategy": options.assignor,
        **more,
    }
    if options.instance_id:
        settings["group.instance.id"] = options.instance_id
    return Consumer(settings)


def consume(options):
    consumer = consumer_of(options)
    with open(options.topics, encoding="utf-8") as lines:
        topics = lines.read().split()
    known = consumer.list_topics(timeout=10).topics
    ends = {
        (topic, partition): consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=10)[1]
        for topic in topics
        for partition in known[topic].partitions
    }
    if options.mode == "group":
        consumer.subscribe(topics)
    else:
        consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING) for topic, partition in ends])
    progress = common.Progress(ends)
    while progress.open:
        for message in consumer.consume(500, 0.2):
            if message.error():
                common.fail(message.error())
            common.print_record(
                options.mode,
                message.topic(),
                message.partition(),
                message.offset(),
                message.timestamp()[1],
                message.key(),
                message.headers(),
                message.value(),
            )
            progress.took(message.topic(), message.partition(), message.offset())
        progress.check()
    if options.mode == "group":
        consumer.commit(asynchronous=False)
        found = consumer.committed([TopicPartition(topic, partition) for topic, partition in ends], timeout=10)
        print('{"committed":[%s]}' % ",".join(f'["{row.topic}",{row.partition},{row.offset}]' for row in found))
    consumer.close()


def commit_position(consumer):
    positions = [row for row in consumer.position(consumer.assignment()) if row.offset >= 0]
    if positions:
        try:
            consumer.commit(offsets=positions, asynchronous=False)
        except KafkaException:
            return  # fenced by a rebalance: the next owner starts from the last commit
        common.print_event("committed", [(row.partition, row.offset) for row in positions])


def leave_group(consumer):
    """Leaves while polling, so that nothing is assigned any more when the consumer is closed: a callback in librdkafka's
    close may find the group gone (others leave at the same time), and its question for the protocol then waits for ever
    (librdkafka issue 4041)."""
    consumer.unsubscribe()
    for _ in range(LEAVE_TRIES):
        if not consumer.assignment():
            return
        consumer.poll(0.05)  # a record that comes now is not committed: it comes again to somebody


def member(options):
    stopping = common.stop_at_sigterm()
    consumer = consumer_of(options, **{"topic.metadata.refresh.interval.ms": 1000})

    def revoked(client, partitions):
        commit_position(client)
        common.print_event("revoked", [(row.partition, -1) for row in partitions])

    consumer.subscribe(
        [options.topics],
        on_revoke=revoked,
        on_assign=lambda _, partitions: common.print_event("assigned", [(row.partition, -1) for row in partitions]),
        on_lost=lambda _, partitions: common.print_event("revoked", [(row.partition, -1) for row in partitions]),
    )

    def poll():
        message = consumer.poll(0.1)
        if message is None or message.error():
            return 0
        common.print_member_record(message.partition(), message.offset(), message.value())
        return 1

    common.member_loop(stopping, consumer, poll, commit_position, leave_group)


if __name__ == "__main__":
    parsed = common.options()
    {"produce": produce, "consume": consume, "member": member}[parsed.command](parsed)
