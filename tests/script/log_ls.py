# SPDX-License-Identifier: Apache-2.0
"""`tailrace log ls` lists all partitions or those asked for, as text and JSON; a name that is not there is an error."""

import json
import subprocess

import broker
import wire


def ls(*words):
    """(exit status, output lines, error lines)"""
    command = [broker.tailrace_binary(), "log", "ls", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()


def names(data, *words):
    status, lines, errors = ls(data, *words, "--json")
    assert (status, errors) == (0, []), (status, errors)
    return [json.loads(line)["directory"] for line in lines]


def main():
    with broker.Tailrace() as server:
        server.start()
        with wire.Connection(server.address) as connection:
            connection.create_topics({"a": 2, "b": 1})
            while any(code for rows in connection.partitions(["a", "b"]).values() for _, code, _ in rows):
                pass
        assert server.stop() == 0
        assert names(server.data) == ["a-0", "a-1", "b-0"]
        assert names(server.data, "a") == ["a-0", "a-1"]
        assert names(server.data, "b", "a-1") == ["a-1", "b-0"]
        status, lines, errors = ls(server.data, "a-0", "a-7", "nosuch")
        assert status == 1 and [line.split()[0] for line in lines[1:]] == ["a-0"], lines
        assert [line.split()[-1] for line in errors] == ["a-7", "nosuch"], errors
    print("log ls lists what is asked for")


if __name__ == "__main__":
    main()
