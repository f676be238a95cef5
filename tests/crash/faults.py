# SPDX-License-Identifier: Apache-2.0
"""Faults that a broker has to live with: a full disk, no descriptors left, clients that are stuck, flood or declare more
than they send, signals at bad moments, configurations that are wrong.

Happy path: every scenario returns; run() gives 0. Failure modes: a Fault with what was seen in place of what was
promised; the other scenarios still run, run() gives 1.
"""

import contextlib
import os
import pathlib
import resource
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

# First: it makes the folders of the others known.
from fault import KEPT, SCENARIOS, TOPIC, Client, Fault, cpu_s, demand, descriptors, errors_of, eventually, memory_mib, newcomer_is_served
from fault import prepare, quiet, scenario

import broker as brokers
import disk as disks
import encoded
import judge
import wire

STORAGE_ERROR = 56
OUT_OF_ORDER, NOT_LEADER = 45, 6
VICTIM = "deleted"
FRAME_MAX = 100 << 20

# ---- disk


@contextlib.contextmanager
def broker_on_a_small_disk(reserve_bytes=0):
    """A broker that runs, and the ext4 of 96 MiB that has its data and nothing else."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="tailrace-full-"))
    try:
        with disks.Disk(directory, 96) as disk:
            settings = {"log.dirs": disk.path / "data", "tailrace.disk.reserve.bytes": reserve_bytes}
            with brokers.Tailrace(settings) as broker:
                yield broker.start(), disk
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def full_disk(reserve_bytes):
    with broker_on_a_small_disk(reserve_bytes) as (broker, disk):
        prepare(broker, **{"segment.bytes": str(4 << 20)})
        fill_and_free(broker, disk)
        demand(broker.stop() == 0, "the stop after a full disk was not clean")
        words = [brokers.tailrace_binary(), "log", "verify", disk.path / "data"]
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, timeout=60)
        demand(done.returncode == 0, f"log verify after a full disk: {done.stdout[-500:]}{done.stderr[-500:]}")
        broker.start()
        demand(Client(broker).produce()[0] == 0, "no records are taken after the restart")
        broker.stop()


def fill_and_free(broker, disk):
    client, filler = Client(broker), disk.path / "filler"
    last = fill(client, disk, filler)
    demand(client.produce(200_000)[0] == STORAGE_ERROR, "a second record was taken although the disk is full")
    demand(client.fetch(last) > 200_000, "what was taken cannot be read while the disk is full")
    with wire.Connection(broker.address) as connection:
        demand(connection.offsets([(TOPIC, 0)])[TOPIC, 0] == last + 1, "the end is not after the last record taken")
    lines = ("space_below_reserve", "disk_full")
    eventually(lambda: any(line in broker.process.log_tail(1 << 20) for line in lines), "no line tells of the full disk")
    filler.unlink()
    eventually(lambda: client.produce()[0] == 0, "no record is taken although there is space again", limit_s=15)
    demand(client.produce()[1] > last, "an offset was given twice")
    demand(broker.process.running(), f"the broker is gone: {broker.process.log_tail(1500)}")


def fill(client, disk, filler):
    """A file takes all but 12 MiB, records take those; the offset of the last record that was taken."""
    free, code, last = shutil.disk_usage(disk.path).free, 0, 0
    with open(filler, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(free - (12 << 20), 1))
    for _ in range(400):
        code, offset = client.produce(200_000)
        if code:
            break
        last = offset
    demand(code == STORAGE_ERROR, f"producing to a full disk gave error {code}, KAFKA_STORAGE_ERROR was promised")
    return last


@scenario
def a_topic_is_deleted_for_its_space():
    """Nobody but the broker makes space: a topic is deleted while the disk is full to the last byte, its space serves
    the others at once and not after file.delete.delay.ms, and it does not come back."""
    with broker_on_a_small_disk() as (broker, disk):
        prepare(broker)
        prepare(broker, topic=VICTIM)
        victim = Client(broker, VICTIM)
        for _ in range(12):
            demand(victim.produce(900_000)[0] == 0, "a record was refused on a disk with space")
        last = fill(Client(broker), disk, disk.path / "filler")
        fill_to_the_last_byte(disk.path / "filler, the last bytes")
        with wire.Connection(broker.address) as connection:
            connection.delete_topic(VICTIM)
        eventually(lambda: Client(broker).produce(200_000)[0] == 0, "the space of a deleted topic serves nobody", limit_s=30)
        eventually(lambda: not list((disk.path / "data").glob(f"{VICTIM}*")), "files of the deleted topic stay")
        demand(Client(broker).fetch(last) > 200_000, "what was taken before cannot be read")
        demand(not errors_of(broker), f"the log says {errors_of(broker)[:2]}")
        broker.kill()
        broker.start()
        eventually(lambda: leads(broker), "the other topic has no leader after the restart")
        demand(not leads(broker, VICTIM), "the deleted topic is there again")
        demand(broker.stop() == 0, "the stop was not clean")


@scenario
def a_disk_below_its_reserve():
    full_disk(16 << 20)


@scenario
def a_disk_that_is_full_to_the_last_byte():
    full_disk(0)


@scenario
def a_disk_that_is_full_at_the_start():
    """After a kill recovery wants to write, and cannot: what it cannot load is offline, and all is there when there is
    space again at a start."""
    with broker_on_a_small_disk() as (broker, disk):
        prepare(broker)
        last = [Client(broker).produce(50_000) for _ in range(40)][-1]
        demand(last[0] == 0, f"a record was refused with error {last[0]}")
        broker.kill()
        fill_to_the_last_byte(disk.path / "filler")
        broker.start()
        eventually(lambda: Client(broker).produce()[0] != NOT_LEADER, "the partition gets no leader")
        code = Client(broker).produce()[0]
        demand(code == STORAGE_ERROR, f"a full disk gave error {code}, KAFKA_STORAGE_ERROR was promised")
        demand(broker.process.running(), f"the broker is gone: {broker.process.log_tail(1500)}")
        demand(any("No space" in line for line in errors_of(broker)), "no ERROR line tells of the full disk")
        (disk.path / "filler").unlink()
        broker.kill()
        broker.start()
        eventually(lambda: leads(broker), "the partition has no leader although there is space")
        demand(Client(broker).fetch(last[1]) >= 50_000, "the last record is missing")
        demand(Client(broker).produce() == (0, last[1] + 1), "the log does not go on where it ended")
        demand(broker.stop() == 0, "the stop was not clean")


def leads(broker, topic=TOPIC):
    try:
        with wire.Connection(broker.address) as connection:
            return (topic, 0) in connection.offsets([(topic, 0)])
    except wire.WireError:
        return False


def fill_to_the_last_byte(path):
    with open(path, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass


# ---- retries


def retries(come_back):
    """The last five batches of a producer are duplicates after come_back(broker) too, also if a checkpoint came after them."""
    often = {"log.flush.offset.checkpoint.interval.ms": "100", "log.initial.task.delay.ms": "100"}
    with brokers.Tailrace(often) as broker:
        broker.start()
        prepare(broker)
        client = Client(broker)
        first = client.fetch_end(broker)
        for sequence in range(8):
            demand(client.produce_numbered(sequence) == (0, first + sequence), f"sequence {sequence} was refused")
        checkpoint = broker.data / "recovery-point-offset-checkpoint"
        wanted = f"{TOPIC} 0 {first + 8}\n"
        eventually(lambda: checkpoint.exists() and wanted in checkpoint.read_text(), "no checkpoint comes")
        come_back(broker)
        eventually(lambda: leads(broker), "the partition has no leader after the restart")
        client = Client(broker)
        for sequence in range(3, 8):
            found = client.produce_numbered(sequence)
            demand(found == (0, first + sequence), f"sequence {sequence} again: {found}, (0, {first + sequence}) expected")
        demand(client.produce_numbered(2)[0] == OUT_OF_ORDER, "a batch that nobody can know was taken")
        demand(client.produce_numbered(8) == (0, first + 8), "the next batch was refused")
        quiet(broker)


@scenario
def retries_after_a_kill():
    def killed(broker):
        broker.kill()
        broker.start()

    retries(killed)


@scenario
def retries_after_a_kill_and_a_stop():
    """The stop comes before the producer is back."""

    def killed_and_stopped(broker):
        broker.kill()
        broker.start()
        eventually(lambda: leads(broker), "the partition has no leader after the kill")
        demand(broker.stop() == 0, "the stop was not clean")
        broker.start()

    retries(killed_and_stopped)


# ---- descriptors and connections


@scenario
def no_descriptors_left():
    """Checkpoints and new segments come meanwhile: they wait for better times, and no directory fails."""
    often = {"log.flush.offset.checkpoint.interval.ms": "100", "log.initial.task.delay.ms": "100"}
    with brokers.Tailrace(often) as broker:
        broker.start()
        prepare(broker, **{"segment.bytes": "20000"})
        client = Client(broker)
        resource.prlimit(broker.pid(), resource.RLIMIT_NOFILE, (100, 100))
        host, port = broker.address.split(":")
        crowd = [socket.socket() for _ in range(200)]
        for one in crowd:  # those beyond the backlog do not connect, and nobody waits for them
            one.setblocking(False)
            one.connect_ex((host, int(port)))
        eventually(lambda: descriptors(broker) >= 100, "the crowd does not take the descriptors")
        before_s, last = cpu_s(broker), 0
        for _ in range(5):
            code, last = client.produce()
            demand(code == 0, "a client that was there already is not served any more")
        time.sleep(1)
        demand(cpu_s(broker) - before_s < 0.5, f"the broker spins: {cpu_s(broker) - before_s:.2f} s of CPU in a second")
        eventually(lambda: "checkpoint_failed" in broker.process.log_tail(1 << 20), "no checkpoint came meanwhile")
        demand(client.produce(19_000)[0] in (0, STORAGE_ERROR), "a new segment gave another error")
        demand(client.produce(19_000)[0] == STORAGE_ERROR, "a new segment was made without a descriptor")
        quiet(broker)
        for one in crowd:
            one.close()
        eventually(lambda: newcomer_is_served(broker), "no new client is served after the crowd has left")
        eventually(lambda: client.produce(19_000)[0] == 0, "no new segment is made after the crowd has left")
        checkpoint, end = broker.data / "recovery-point-offset-checkpoint", client.fetch_end(broker)
        demand(end > last, "records are missing")
        wanted = f"{TOPIC} 0 {end}\n"
        eventually(lambda: checkpoint.exists() and wanted in checkpoint.read_text(), "no checkpoint comes after that")
        quiet(broker)
        demand(broker.stop() == 0, "the stop was not clean")


@scenario
def a_flood_of_connections():
    with brokers.Tailrace() as broker:
        broker.start()
        prepare(broker)
        client = Client(broker)
        client.produce()
        before_mib = memory_mib(broker)
        host, port = broker.address.split(":")
        slowest_s = 0.0
        for number in range(3000):
            one = socket.create_connection((host, int(port)), timeout=5)
            if number % 2:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            one.close()
            if number % 100 == 0:
                began = time.monotonic()
                demand(client.produce()[0] == 0, "a record was refused during the flood")
                slowest_s = max(slowest_s, time.monotonic() - began)
        demand(slowest_s < 0.5, f"a record took {slowest_s:.2f} s during the flood")
        eventually(lambda: memory_mib(broker) - before_mib < 4, "memory stays high after the flood")
        quiet(broker)


# ---- clients that hold what they were given


@scenario
def frames_that_never_come():
    """Clients declare the longest frame and stay silent: others go on at once, and big frames after a while."""
    with brokers.Tailrace() as broker:
        broker.start()
        prepare(broker, **{"max.message.bytes": str(8 << 20)})
        before_mib = memory_mib(broker)
        silent = [judge.Conversation(broker.address) for _ in range(40)]
        for one in silent:
            one.say([struct.pack(">i", FRAME_MAX) + b"\0\0\0\x09" + bytes(1000)])
        time.sleep(0.3)
        for _ in range(4):
            client = Client(broker)
            for size, limit_s in ((1000, 1), (1 << 20, 1), (6 << 20, 20)):
                client.conversation.socket.settimeout(limit_s)
                try:
                    demand(client.produce(size)[0] == 0, "a record was refused")
                except TimeoutError:
                    raise Fault(f"{size} bytes wait over {limit_s} s behind frames that never come") from None
        demand(memory_mib(broker) - before_mib < 40, f"memory grew by {memory_mib(broker) - before_mib:.0f} MiB")
        quiet(broker)


@scenario
def a_crowd_that_sends_half_of_its_frames():
    """Far more declared than there is memory for, each frame no larger than an ordinary one: requests of others that are
    here go on at once, middling ones after a while."""
    with brokers.Tailrace({"tailrace.memory": "64M"}) as broker:
        broker.start()
        prepare(broker)
        client = Client(broker)
        crowd = [judge.Conversation(broker.address) for _ in range(500)]
        for one in crowd:
            one.say([struct.pack(">i", 200_000) + b"\0\0\0\x09" + bytes(20_000)])
        for size, limit_s in ((500, 5), (60_000, 20), (500, 5)):
            client.conversation.socket.settimeout(limit_s)
            try:
                demand(client.produce(size)[0] == 0, "a record was refused")
            except TimeoutError:
                raise Fault(f"{size} bytes wait over {limit_s} s behind half-sent frames") from None
        quiet(broker)


@scenario
def consumers_that_do_not_read():
    with brokers.Tailrace() as broker:
        broker.start()
        prepare(broker)
        client = Client(broker)
        for _ in range(60):
            client.produce(500_000)
        before_mib = memory_mib(broker)
        stuck = []
        for _ in range(30):
            one = judge.Conversation(broker.address)
            one.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.say([encoded.fetch(offset=0, MaxBytes=50 << 20, PartitionMaxBytes=50 << 20) * 64])
            stuck.append(one)
        slowest_s = 0.0
        for _ in range(50):
            began = time.monotonic()
            demand(client.produce()[0] == 0, "a record was refused")
            slowest_s = max(slowest_s, time.monotonic() - began)
        demand(slowest_s < 0.5, f"a record took {slowest_s:.2f} s beside stuck consumers")
        demand(memory_mib(broker) - before_mib < 8, f"memory grew by {memory_mib(broker) - before_mib:.0f} MiB")
        for one in stuck:
            one.close()
        quiet(broker)
        demand(broker.stop() == 0, "the stop was not clean")


@scenario
def idle_and_half_received_connections_end():
    with brokers.Tailrace({"connections.max.idle.ms": "700"}) as broker:
        broker.start()
        idle, half = judge.Conversation(broker.address), judge.Conversation(broker.address)
        idle.say([encoded.raw(18, 0, b"")])
        demand(idle.answer() is not None, "no answer")
        half.say([struct.pack(">i", 5000) + b"\0\x12\0\0"])
        for what, one in (("an idle connection", idle), ("a half-received frame", half)):
            try:
                demand(one.answer() is None, f"{what} was answered")
            except TimeoutError:
                raise Fault(f"{what} is not closed after connections.max.idle.ms") from None
        quiet(broker)


# ---- signals


def stop_under_load(broker, signals):
    load = [Client(broker) for _ in range(4)]
    for client in load:
        client.conversation.say([encoded.produce(encoded.good_batch(1000)) for _ in range(200)])
    parked = judge.Conversation(broker.address)
    parked.say([encoded.fetch(offset=10**6 * 0, MinBytes=2**31 - 1, MaxWaitMs=2**31 - 1)])
    for _ in range(signals):
        broker.process.child.send_signal(signal.SIGTERM)
        time.sleep(0.01)
    began = time.monotonic()
    try:
        status = broker.process.child.wait(10)
    except subprocess.TimeoutExpired:
        raise Fault("still running 10 s after SIGTERM") from None
    return status, time.monotonic() - began


@scenario
def sigterm_under_load():
    with brokers.Tailrace() as broker:
        for _ in range(5):
            broker.start()
            if not (broker.data / f"{TOPIC}-0").exists():
                prepare(broker)
            status, took_s = stop_under_load(broker, 1)
            demand(status == 0, f"exit status {status} after SIGTERM: {broker.process.log_tail(600)}")
            demand(took_s < 5, f"the stop took {took_s:.1f} s")
            demand((broker.data / ".kafka_cleanshutdown").exists(), "no clean-shutdown marker")
            demand(not errors_of(broker), f"the log says {errors_of(broker)[:2]}")


@scenario
def sigterm_twice():
    with brokers.Tailrace() as broker:
        broker.start()
        prepare(broker)
        _, took_s = stop_under_load(broker, 2)
        demand(took_s < 2, f"the second SIGTERM did not end it at once ({took_s:.1f} s)")
        broker.start()
        demand(Client(broker).produce()[0] == 0, "no record is taken after that")


@scenario
def sigterm_during_the_start():
    with brokers.Tailrace() as broker:
        broker.start()
        with wire.Connection(broker.address) as connection:
            connection.create_topics({TOPIC: 40}, KEPT)
        for partition in range(40):
            conversation = judge.Conversation(broker.address)
            conversation.say([encoded.produce(encoded.good_batch(50_000), partition=partition)])
            conversation.answer()
            conversation.close()
        for number in range(25):
            broker.kill() if number % 2 else broker.stop()
            said = broker.log_path.stat().st_size
            broker.start(wait=False)
            time.sleep(number * 0.004)
            broker.process.child.send_signal(signal.SIGTERM)
            try:
                status = broker.process.child.wait(10)
            except subprocess.TimeoutExpired:
                raise Fault(f"still running 10 s after SIGTERM {number * 4} ms after the start") from None
            # Before the handler is there, and anything has been done.
            early = status == -signal.SIGTERM and broker.log_path.stat().st_size == said
            demand(status == 0 or early, f"status {status}, {number * 4} ms after the start: {broker.process.log_tail(500)}")
        broker.start()
        demand(Client(broker).produce()[0] == 0, "no record is taken after all that")
        broker.stop()
        demand(not errors_of(broker), f"the log says {errors_of(broker)[:2]}")


# ---- starts that must fail, with a reason

WRONG = {
    "a value that is no number": ({"num.partitions": "many"}, ["num.partitions", "many"]),
    "a listener that is none": ({"listeners": "here"}, ["listeners", "here"]),
    "a directory that cannot be made": ({"log.dirs": "/proc/none/data"}, ["/proc/none/data"]),
    "a negative size": ({"log.segment.bytes": "-1"}, ["log.segment.bytes", "-1"]),
}


@scenario
def starts_that_must_fail():
    for what, (properties, words) in WRONG.items():
        must_not_start(what, properties, words)
    with brokers.Tailrace() as one:
        one.start()
        must_not_start("a directory that another broker uses", {"log.dirs": one.data}, [str(one.data)])
        must_not_start("a port that another broker has", {"listeners": f"PLAINTEXT://{one.address}"}, ["in use"])
        quiet(one)


def must_not_start(what, properties, words):
    with brokers.Tailrace(properties) as broker:
        broker.start(wait=False)
        try:
            status = broker.process.child.wait(10)
        except subprocess.TimeoutExpired:
            raise Fault(f"{what}: the broker runs") from None
        text = broker.process.log_tail()
        demand(status == 1, f"{what}: exit status {status}: {text}")
        for word in words:
            demand(word in text, f"{what}: the message does not name {word}: {text}")


def run(only):
    failed = 0
    for function in SCENARIOS:
        name = function.__name__.replace("_", " ")
        if only not in name:
            continue
        began = time.monotonic()
        try:
            function()
            print(f"ok     {name} ({time.monotonic() - began:.1f} s)", flush=True)
        except (Fault, brokers.BrokerError, disks.DiskError, OSError, ValueError, IndexError) as problem:
            failed += 1
            print(f"FAILED {name}: {type(problem).__name__}: {problem}", flush=True)
    return 1 if failed else 0
