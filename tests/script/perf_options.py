# SPDX-License-Identifier: Apache-2.0
"""tailrace perf takes rates with a fraction, as Kafka's tool does, and refuses those that mean nothing; --no-group leaves no
group behind; and a consumer ends without its broker."""

import json
import re
import subprocess

import broker
import wire

RECORDS = 30
LIST_GROUPS = 16
END_LIMIT_S = 30  # librdkafka alone waits for minutes, or for ever


def perf(*words):
    """(exit status, output, errors)"""
    command = [broker.tailrace_binary(), "perf", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def check_rates(address):
    words = ["producer", "--bootstrap-server", address, "--topic", "t", "--num-records", RECORDS, "--record-size", 10]
    for option, rate in (("--throughput", "1000.5"), ("--rate", "1e3"), ("--throughput", "-1")):
        status, out, errors = perf(*words, option, rate, "--json")
        assert (status, errors) == (0, "") and json.loads(out)["records"] == RECORDS, (option, rate, out, errors)
    for option, rate in (("--throughput", "0"), ("--throughput", "-2"), ("--rate", "-1"), ("--rate", "nan"), ("--rate", "1e9")):
        status, out, errors = perf(*words, option, rate)
        assert (status, out) == (2, "") and option in errors, (option, rate, errors)


def list_groups(connection):
    answer = connection.ask(LIST_GROUPS, 0, b"")
    assert answer.i16() == 0
    return [name for name, _ in answer.array(lambda: (answer.text(), answer.text()))]


def check_no_group(address):
    words = ["consumer", "--bootstrap-server", address, "--topic", "t", "--messages", 3 * RECORDS, "--json"]
    for options, groups in ((["--no-group"], []), (["--group", "readers"], ["readers"])):
        status, out, errors = perf(*words, *options)
        assert (status, errors) == (0, "") and json.loads(out)["records"] == 3 * RECORDS, (options, out, errors)
        with wire.Connection(address) as connection:
            found = list_groups(connection)
            assert found == groups, (options, found)


def check_end_without_broker(server):
    """The broker is gone when the consumer wants to commit and to leave its group: the result comes, and the end."""
    words = ["consumer", "--bootstrap-server", server.address, "--topic", "t", "--messages", 1000000, "--timeout", 8000]
    words += ["--show-detailed-stats", "--reporting-interval", 100, "--group", "left"]
    command = [broker.tailrace_binary(), "perf", *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as child:
        try:
            next(line for line in child.stdout if re.search(rf" {3 * RECORDS}, ", line))  # everything was read
            server.kill()
            assert child.wait(END_LIMIT_S) == 0
        finally:
            child.kill()


def main():
    with broker.Tailrace() as server:
        server.start()
        with wire.Connection(server.address) as connection:
            connection.create_topics({"t": 1})
        check_rates(server.address)
        check_no_group(server.address)
        check_end_without_broker(server)
    print("rates and groups are as asked for")


if __name__ == "__main__":
    main()
