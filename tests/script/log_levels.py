# SPDX-License-Identifier: Apache-2.0
"""The levels of a broker's loggers at run time: what is below them is not printed any more, from the next line on."""

import answers
import broker

LOGGER, SET, DELETE = 8, 0, 1


def change(api, name, operation, value=None):
    row = {"Name": name, "ConfigOperation": operation, "Value": value}
    resource = {"ResourceType": LOGGER, "ResourceName": "0", "Configs": [row]}
    (answer,) = api.ask("IncrementalAlterConfigs", 1, {"Resources": [resource]})["Responses"]
    assert answer["ErrorCode"] == 0, answer


def levels(api):
    resource = {"ResourceType": LOGGER, "ResourceName": "0", "ConfigurationKeys": None}
    (answer,) = api.ask("DescribeConfigs", 4, {"Resources": [resource]})["Results"]
    return {row["Name"]: row["Value"] for row in answer["Configs"]}


def create(api, name):
    topic = {"Name": name, "NumPartitions": 1, "ReplicationFactor": 1}
    (answer,) = api.ask("CreateTopics", 7, {"Topics": [topic], "TimeoutMs": 20000})["Topics"]
    assert answer["ErrorCode"] == 0, answer


def main():
    with broker.Tailrace() as server:
        api = answers.Api(server.start().address)
        assert set(levels(api).values()) == {"INFO"} and "controller" in levels(api), levels(api)
        create(api, "shown1")
        change(api, "root", SET, "ERROR")
        assert set(levels(api).values()) == {"ERROR"}, levels(api)
        create(api, "hidden1")
        change(api, "controller", SET, "DEBUG")
        assert levels(api)["controller"] == "DEBUG" and levels(api)["net"] == "ERROR", levels(api)
        create(api, "shown2")
        change(api, "controller", DELETE)
        create(api, "hidden2")
        change(api, "root", SET, "INFO")
        create(api, "shown3")
        server.stop()
        made = [line.split()[5] for line in server.log_path.read_text().splitlines() if " topic_created " in line]
        assert made == ["shown1", "shown2", "shown3"], made
        api = answers.Api(server.start().address)
        assert set(levels(api).values()) == {"INFO"}, "levels are not kept over a restart"


main()
