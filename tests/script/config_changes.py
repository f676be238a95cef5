# SPDX-License-Identifier: Apache-2.0
"""What a change of the broker's settings at run time says: of a setting whose feature is not built, a WARN line, as a file with it gets; of
listeners and of max.connections=0, a refusal, after which all is as before.
"""

import answers
import broker


def change(api, *settings):
    """The error code of setting them, as (name, value), for broker 0."""
    rows = [{"Name": name, "ConfigOperation": 0, "Value": value} for name, value in settings]
    resource = {"ResourceType": 4, "ResourceName": "0", "Configs": rows}
    answer = api.ask("IncrementalAlterConfigs", 1, {"Resources": [resource], "ValidateOnly": False})
    return answer["Responses"][0]["ErrorCode"]


def dynamic(api):
    """{name: value} of what is set for broker 0 at run time."""
    resource = {"ResourceType": 4, "ResourceName": "0", "ConfigurationKeys": None}
    rows = api.ask("DescribeConfigs", 1, {"Resources": [resource]})["Results"][0]["Configs"]
    return {row["Name"]: row["Value"] for row in rows if row["ConfigSource"] == 2}


def main():
    with broker.Tailrace() as server:
        server.start()
        api = answers.Api(server.address)
        assert change(api, ("compression.type", "gzip"), ("message.max.bytes", "5000")) == 0
        assert change(api, ("listener.name.plaintext.max.connections", "7")) == 0
        known = dynamic(api)
        assert known["compression.type"] == "gzip" and known["message.max.bytes"] == "5000", known
        for name, value in (
            ("advertised.listeners", "PLAINTEXT://127.0.0.1:1"),
            ("listeners", "PLAINTEXT://127.0.0.1:1"),
            ("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT"),
            ("max.connections", "0"),
        ):
            assert change(api, (name, value)) == 42, name
        assert dynamic(api) == known
        assert change(answers.Api(server.address), ("message.max.bytes", "6000")) == 0
        assert server.stop() == 0
        lines = [text for text in server.log_path.read_text(encoding="utf-8").splitlines() if " config_without_effect " in text]
        expected = ("compression.type", "recompression"), ("listener.name.plaintext.max.connections", "limits of one listener")
        for key, feature in expected:
            assert any(" WARN  controller " in text and f"key={key} " in text and feature in text for text in lines), lines
        assert not any("message.max.bytes" in text for text in lines), lines
    print("what has no effect is said or refused")


if __name__ == "__main__":
    main()
