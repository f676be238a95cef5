# SPDX-License-Identifier: Apache-2.0
"""What admin_answers asks about configuration."""

from admin_parts import APPEND, BROKER, CLIENT_METRICS, DELETE, GROUP, LOGGER
from admin_parts import LONG_NAME, SET, SUBTRACT, TIMEOUT, TOPIC, new_topic, until


def describe(player, what, v, *resources, **more):
    rows = [{"ResourceType": t, "ResourceName": n, "ConfigurationKeys": keys} for t, n, keys in resources]
    return player.ask(f"describe {what}", "DescribeConfigs", v, Resources=rows, **more)


def describe_configs(player):
    some = ["retention.ms", "cleanup.policy", "min.insync.replicas", "nosuch", "retention.ms"]
    some_of_broker = ["num.partitions", "log.retention.ms", "log.cleaner.threads", "broker.id", "ssl.key.password", "nosuch"]
    configs = [("retention.ms", "1234"), ("cleanup.policy", "compact,delete")]
    player.on().ask("CreateTopics", 4, {"Topics": [new_topic("described", configs=configs)], **TIMEOUT})
    for v in player.versions("DescribeConfigs"):
        flags = {"IncludeSynonyms": True} if v >= 1 else {}
        if v >= 3:
            flags["IncludeDocumentation"] = True
        for shown, options in (("", {}), (" with all", flags)) if flags else (("", {}),):
            describe(player, f"some of a topic{shown}", v, (TOPIC, "described", some), **options)
            describe(player, f"all of a topic{shown}", v, (TOPIC, "described", None), **options)
            describe(player, f"some of a broker{shown}", v, (BROKER, "0", some_of_broker), **options)
            describe(player, f"the cluster{shown}", v, (BROKER, "", None), **options)
            describe(player, f"a logger{shown}", v, (LOGGER, "0", ["root", "nosuch"]), **options)
        describe(player, "no key", v, (TOPIC, "described", []))
        describe(player, "an unknown topic", v, (TOPIC, "nosuch", None), (TOPIC, "described", ["retention.ms"]))
        describe(player, "nothing", v)
        for kind in (BROKER, LOGGER):
            for name in ("1", "", "x", "00", "-0", "+0", "99999999999"):
                describe(player, f"type {kind} {name!r}", v, (kind, name, ["root", "nosuch"]))
        for name in ("", ".", "sp ace", LONG_NAME):
            describe(player, f"topic {name!r}"[:30], v, (TOPIC, name, None))
        for name in ("", "subscription"):
            describe(player, f"client metrics {name!r}", v, (CLIENT_METRICS, name, None))
        for kind in (0, 1, 3, GROUP, 99, -1):
            describe(player, f"type {kind}", v, (kind, "0", None))
        describe(player, "type 99 and another", v, (99, "0", None), (TOPIC, "described", ["retention.ms"]))
        describe(player, "one twice", v, (TOPIC, "described", ["retention.ms"]), (TOPIC, "described", ["segment.ms"]))
    describe(player, "all of a broker", 4, (BROKER, "0", None), IncludeSynonyms=True)
    describe(player, "all of a broker", 0, (BROKER, "0", None))


def alter(player, what, v, *resources, api="AlterConfigs", **more):
    rows = [{"ResourceType": t, "ResourceName": n, "Configs": [settings(s, api) for s in changes]} for t, n, changes in resources]
    return player.ask(f"{api} {what}", api, v, Resources=rows, **more)


def settings(change, api):
    if api == "AlterConfigs":
        return {"Name": change[0], "Value": change[1]}
    return {"Name": change[0], "Value": change[1], "ConfigOperation": change[2] if len(change) > 2 else SET}


def settled(player, name, key, value):
    """Waits until a change of a broker's setting, which its notification brings, is in force."""
    ask = {"Resources": [{"ResourceType": BROKER, "ResourceName": name, "ConfigurationKeys": [key]}]}
    until(lambda: [row["Value"] for row in player.on().ask("DescribeConfigs", 1, ask)["Results"][0]["Configs"]] == value)


BAD_SETTINGS = {
    "unknown": [("nosuch", "1")],
    "bad value": [("retention.ms", "x")],
    "out of range": [("segment.bytes", "1")],
    "null": [("retention.ms", None)],
    "nulls": [("retention.ms", None), ("segment.ms", None)],
    "twice": [("retention.ms", "1"), ("retention.ms", "2")],
}
BAD_BROKER_SETTINGS = {
    "read only": [("broker.id", "5")],
    "two read only": [("broker.id", "5"), ("log.dirs", "/x")],
    "bad value": [("log.cleaner.threads", "x")],
    "out of range": [("log.cleaner.threads", "-1")],
    "store": [("ssl.keystore.location", "/x")],
    "null": [("log.cleaner.threads", None)],
    "twice": [("log.cleaner.threads", "1"), ("log.cleaner.threads", "2")],
    "too many threads": [("num.io.threads", "100")],
    "too few threads": [("num.io.threads", "1")],
    "no threads": [("num.replica.fetchers", "0")],
    "no connections": [("max.connections", "0")],
    "a throttle": [("leader.replication.throttled.rate", "x")],
}


def bad_changes(player, v, api):
    def ask(what, *resources, **more):
        alter(player, what, v, *resources, api=api, **more)

    for what, changes in BAD_SETTINGS.items():
        ask(f"of a topic: {what}", (TOPIC, "altered", changes))
    for what, changes in BAD_BROKER_SETTINGS.items():
        ask(f"of a broker: {what}", (BROKER, "0", changes))
        ask(f"of the cluster: {what}", (BROKER, "", changes))
    ask("of a broker: too many cleaners", (BROKER, "0", [("log.cleaner.threads", "16")]))
    ask("of nothing")
    ask("of an unknown topic", (TOPIC, "nosuch", [("retention.ms", "1")]), (TOPIC, "altered", [("retention.ms", "7")]))
    for name in ("", "sp ace"):
        ask(f"of topic {name!r}", (TOPIC, name, [("retention.ms", "1")]))
    for name in ("1", "x", "99999999999"):
        ask(f"of broker {name!r}", (BROKER, name, [("log.cleaner.threads", "1")]))
    for kind in (0, 1, GROUP, 99):
        ask(f"of type {kind}", (kind, "0", [("a", "1")]))
    if api != "AlterConfigs":  # to those Kafka never answers: its own handling of the error fails
        ask("of one twice", (TOPIC, "altered", []), (TOPIC, "altered", [("retention.ms", "1")]), (TOPIC, "nosuch", []))
    ask("of another type and a topic", (99, "0", [("a", "1")]), (TOPIC, "altered", [("retention.ms", "8")]))
    own = [("some.plugin.setting", "1"), ("follower.replication.throttled.rate", "007")]
    ask("of an unknown broker setting and a throttle", (BROKER, "0", own))
    settled(player, "0", "some.plugin.setting", [None])
    names = ["some.plugin.setting", "num.io.threads", "follower.replication.throttled.rate"]
    describe(player, "with them", 4, (BROKER, "0", names), IncludeSynonyms=True)


def alter_configs(player):
    player.on().ask("CreateTopics", 4, {"Topics": [new_topic("altered")], **TIMEOUT})
    for v in player.versions("AlterConfigs"):
        alter(player, "of a topic", v, (TOPIC, "altered", [("retention.ms", "5"), ("segment.ms", "6")]))
        alter(player, "only to validate", v, (TOPIC, "altered", [("retention.ms", "9")]), ValidateOnly=True)
        describe(player, "it", 4, (TOPIC, "altered", ["retention.ms", "segment.ms"]))
        alter(player, "to defaults", v, (TOPIC, "altered", []))
        describe(player, "it", 4, (TOPIC, "altered", ["retention.ms", "segment.ms"]))
        alter(player, "of the broker", v, (BROKER, "0", [("log.cleaner.threads", "2")]))
        alter(player, "of the cluster", v, (BROKER, "", [("log.retention.ms", "123456")]))
        settled(player, "0", "log.cleaner.threads", ["2"])
        settled(player, "", "log.retention.ms", ["123456"])
        describe(player, "both", 4, (BROKER, "0", ["log.cleaner.threads", "log.retention.ms"]), (BROKER, "", None), IncludeSynonyms=True)
        alter(player, "of a logger", v, (LOGGER, "0", [("root", "INFO")]))
        alter(player, "of client metrics", v, (CLIENT_METRICS, "x", [("interval.ms", "1000")]))
        bad_changes(player, v, "AlterConfigs")
        alter(player, "of all back", v, (BROKER, "0", []), (BROKER, "", []))
        settled(player, "0", "some.plugin.setting", [])
        settled(player, "", "log.retention.ms", [])
        describe(player, "the cluster", 4, (BROKER, "", None))


def incremental_alter_configs(player):
    player.on().ask("CreateTopics", 4, {"Topics": [new_topic("altered2")], **TIMEOUT})
    for v in player.versions("IncrementalAlterConfigs"):

        def ask(what, kind, name, *changes, **more):
            alter(player, what, v, (kind, name, changes), api="IncrementalAlterConfigs", **more)

        keys = ["retention.ms", "cleanup.policy", "leader.replication.throttled.replicas"]
        ask("set", TOPIC, "altered2", ("retention.ms", "5"), ("cleanup.policy", "compact", APPEND))
        describe(player, "it", 4, (TOPIC, "altered2", keys))
        ask("only to validate", TOPIC, "altered2", ("retention.ms", "6"), ValidateOnly=True)
        ask("append again", TOPIC, "altered2", ("cleanup.policy", "compact", APPEND))
        ask("subtract", TOPIC, "altered2", ("cleanup.policy", "delete", SUBTRACT))
        describe(player, "it", 4, (TOPIC, "altered2", keys))
        ask("subtract what is not there", TOPIC, "altered2", ("leader.replication.throttled.replicas", "1:1", SUBTRACT))
        ask("subtract the last", TOPIC, "altered2", ("cleanup.policy", "compact", SUBTRACT))
        describe(player, "it", 4, (TOPIC, "altered2", keys))
        ask("delete", TOPIC, "altered2", *((key, None, DELETE) for key in keys))
        describe(player, "it", 4, (TOPIC, "altered2", keys))
        for operation, name in ((APPEND, "append"), (SUBTRACT, "subtract"), (7, "7"), (-1, "-1")):
            ask(f"{name} to a number", TOPIC, "altered2", ("retention.ms", "1", operation))
            ask(f"{name} to the unknown", TOPIC, "altered2", ("nosuch", "1", operation))
            ask(f"{name} null", TOPIC, "altered2", ("retention.ms", None, operation))
            ask(f"{name} to a broker's number", BROKER, "0", ("log.cleaner.threads", "1", operation))
            ask(f"{name} to a broker's unknown", BROKER, "0", ("nosuch", "1", operation))
            ask(f"{name} of a logger", LOGGER, "0", ("root", "INFO", operation))
        for key in ("retention.ms", "nosuch", "cleanup.policy"):
            ask(f"append to {key} of an unknown topic", TOPIC, "nosuch", (key, "compact", APPEND))
        ask("delete the unknown", TOPIC, "altered2", ("nosuch", None, DELETE))
        ask("delete with a value", TOPIC, "altered2", ("retention.ms", "1", DELETE))
        ask("broker list", BROKER, "0", ("log.cleanup.policy", "compact", APPEND))
        ask("cluster list", BROKER, "", ("log.cleanup.policy", "compact", APPEND))
        settled(player, "0", "log.cleanup.policy", ["delete,compact"])
        settled(player, "", "log.cleanup.policy", ["delete,compact"])
        describe(player, "both", 4, (BROKER, "0", ["log.cleanup.policy"]), (BROKER, "", None), IncludeSynonyms=True)
        bad_changes(player, v, "IncrementalAlterConfigs")
        for name in ("0", ""):
            keys = ("log.cleanup.policy", "some.plugin.setting", "follower.replication.throttled.rate")
            ask("back", BROKER, name, *((key, None, DELETE) for key in keys))
        settled(player, "0", "log.cleanup.policy", ["delete"])
        settled(player, "", "log.cleanup.policy", [])
        describe(player, "the cluster", 4, (BROKER, "", None))


def loggers(player):
    for v in player.versions("IncrementalAlterConfigs"):

        def ask(what, *changes, name="0", **more):
            alter(player, what, v, (LOGGER, name, changes), api="IncrementalAlterConfigs", **more)
            describe(player, "root", 4, (LOGGER, "0", ["root"]))

        ask("root", ("root", "ERROR"))
        ask("root only to validate", ("root", "WARN"), ValidateOnly=True)
        ask("root in small letters", ("root", "warn"))
        ask("bad level", ("root", "LOUD"))
        ask("off", ("root", "OFF"))
        ask("unknown logger", ("nosuch", "INFO"))
        ask("one good and one bad", ("root", "TRACE"), ("nosuch", "INFO"))
        ask("delete root", ("root", None, DELETE))
        ask("delete the unknown", ("nosuch", None, DELETE))
        ask("twice", ("root", "INFO"), ("root", "WARN"))
        ask("null", ("root", None))
        ask("nothing")
        for name in ("1", "", "x", "00"):
            ask(f"of {name!r}", ("root", "WARN"), name=name)
        for level in ("FATAL", "WARN", "DEBUG", "TRACE", "INFO"):
            ask(level, ("root", level))
        resources = [(LOGGER, "0", [("root", "ERROR")]), (TOPIC, "altered2", [("retention.ms", "7")])]
        alter(player, "with a topic", v, *resources, api="IncrementalAlterConfigs")
        alter(player, "twice", v, resources[0], resources[0], api="IncrementalAlterConfigs")
        ask("back", ("root", "INFO"))
        alter(player, "client metrics", v, (CLIENT_METRICS, "x", [("interval.ms", "1000")]), api="IncrementalAlterConfigs")
