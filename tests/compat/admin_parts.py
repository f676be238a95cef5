# SPDX-License-Identifier: Apache-2.0
"""What admin_answers and admin_configs.py share."""

import time

TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)
ID_OF_NOBODY = bytes(15) + b"\x07"
LONG_NAME = "n" * 250
TIMEOUT = {"TimeoutMs": 20000}


def until(holds):
    """Waits for what a broker does after its answer."""
    for _ in range(300):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError("it never came")


def new_topic(name, partitions=1, replicas=1, assignments=(), configs=(), **more):
    rows = [{"PartitionIndex": index, "BrokerIds": list(brokers)} for index, brokers in assignments]
    settings = [{"Name": key, "Value": value} for key, value in configs]
    if rows:
        partitions = replicas = -1
    topic = {"Name": name, "NumPartitions": partitions, "ReplicationFactor": replicas, "Assignments": rows, "Configs": settings}
    return {**topic, **more}
