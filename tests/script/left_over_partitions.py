# SPDX-License-Identifier: Apache-2.0
"""Partition directories that no topic of the metadata has (log.dirs in another order: another tailrace.metadata): the start says so; a
topic made under such a name does not get a second directory, with which the broker would not start again; and with the old
order everything is there as before.
"""

import time

import broker
import long_batch
import wire

DEADLINE_S = 30


def start(server, *names):
    server.properties["log.dirs"] = ",".join(str(server.directory / name) for name in names)
    server.start()
    return wire.Connection(server.address)


def offsets_once_loaded(connection):
    """The ends of the topic's partitions, which a broker that has just started may still load."""
    end = time.monotonic() + DEADLINE_S
    while True:
        try:
            return connection.offsets([("kept", 0), ("kept", 1)])
        except wire.WireError as error:
            assert error.code in (5, 6) and time.monotonic() < end, error


def main():
    with broker.Tailrace() as server:
        with start(server, "one", "two") as connection:
            connection.create_topics({"kept": 2})
            assert offsets_once_loaded(connection) == {("kept", 0): 0, ("kept", 1): 0}
        assert server.stop() == 0
        assert " WARN " not in server.log_path.read_text()
        places = sorted(path.relative_to(server.directory) for path in server.directory.glob("*/kept-?"))
        assert len(places) == 2 and places[0].parent != places[1].parent, places
        with start(server, "two", "one") as connection:
            connection.create_topics({"kept": 2})
            for partition in (0, 1):
                try:
                    connection.offsets([("kept", partition)])
                    assert False, "the files of another topic are served"
                except wire.WireError as error:
                    assert error.code == 56, error
        assert sorted(path.relative_to(server.directory) for path in server.directory.glob("*/kept-?")) == places
        assert server.stop() == 0
        assert "partitions_without_topic count=2 " in server.log_path.read_text()
        with start(server, "one", "two") as connection:
            assert offsets_once_loaded(connection) == {("kept", 0): 0, ("kept", 1): 0}
            assert long_batch.produce(connection, "kept", 0, long_batch.small())[0] == 0
        assert server.stop() == 0
        # Moved by hand to the directory that the other one is not in: neither missing nor left over.
        place = next(server.directory.glob("*/kept-0"))
        new_place = server.directory / ({"one", "two"} - {place.parent.name}).pop() / "kept-0"
        place.rename(new_place)
        said = server.log_path.stat().st_size
        with start(server, "one", "two") as connection:
            assert offsets_once_loaded(connection) == {("kept", 0): 1, ("kept", 1): 0}
        assert server.stop() == 0
        assert new_place.exists() and b" WARN " not in server.log_path.read_bytes()[said:]
    print("what is left over is named and left alone")


if __name__ == "__main__":
    main()
