# SPDX-License-Identifier: Apache-2.0
"""Any Kafka request in any version, from the message definitions that lie in the kafka-clients 3.9.1 jar.

Happy path: `Api(connection, definitions())` asks; requests and answers are dicts by Kafka's field names, bytes as hex
text. A field that a request does not name has its default. Failure modes: a field that the version lacks and that is
not at its default raises ValueError; an answer with bytes left over raises ValueError; a closed connection OSError.
"""

import json
import re
import struct
import zipfile

import peers


def definitions():
    """{(api key, "request" or "response"): definition}"""
    (jar,) = peers.kafka_jars("3.9.1").glob("kafka-clients-3.9.1.jar")
    found = {}
    with zipfile.ZipFile(jar) as archive:
        for name in archive.namelist():
            if re.match(r"common/message/.*\.json$", name):
                text = "\n".join(line.split("//")[0] for line in archive.read(name).decode().splitlines())
                definition = json.loads(text)
                if definition["type"] in ("request", "response"):
                    found[definition["apiKey"], definition["type"]] = definition
    return found


def in_range(versions, version):
    """Whether "0-5", "3+", "7" or "none" holds the version."""
    if versions in (None, "none"):
        return False
    low, _, high = versions.partition("-")
    if low.endswith("+"):
        return version >= int(low[:-1])
    return int(low) <= version <= int(high or low)


NUMBERS = {"int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint16": "H", "bool": "?", "float64": "d"}


class Codec:
    """One definition in one version."""

    def __init__(self, definition, version):
        self.version = version
        self.flexible = in_range(definition.get("flexibleVersions"), version)
        self.structs = {s["name"]: s["fields"] for s in definition.get("commonStructs", [])}
        self.fields = definition["fields"]

    # ---- writing
    def uvarint(self, value):
        out = b""
        while value >= 0x80:
            out += bytes([value & 0x7F | 0x80])
            value >>= 7
        return out + bytes([value])

    def length(self, form, size):
        return self.uvarint(size + 1) if self.flexible else struct.pack(">" + form, size)

    def default(self, field):
        default = field.get("default")
        kind = field["type"]
        if default == "null":
            return None
        if kind.startswith("[]"):
            return []
        if kind in NUMBERS:
            return default == "true" if kind == "bool" else int(str(default or 0), 0)
        if kind == "string":
            return default or ""
        return "" if kind in ("bytes", "records") else {}

    def value(self, field, kind, value):
        if kind.startswith("[]"):
            if value is None:
                return self.length("i", -1)
            return self.length("i", len(value)) + b"".join(self.value(field, kind[2:], item) for item in value)
        if kind in NUMBERS:
            return struct.pack(">" + NUMBERS[kind], value)
        if kind == "string":
            data = None if value is None else value.encode()
            return self.length("h", -1) if data is None else self.length("h", len(data)) + data
        if kind in ("bytes", "records"):
            data = None if value is None else bytes.fromhex(value)
            return self.length("i", -1) if data is None else self.length("i", len(data)) + data
        return self.write(field.get("fields") or self.structs[kind], value)

    def write(self, fields, values):
        out = b""
        for field in fields:
            given = values.get(field["name"], self.default(field))
            if in_range(field["versions"], self.version):
                if not in_range(field.get("taggedVersions"), self.version):
                    out += self.value(field, field["type"], given)
            elif field["name"] in values and not field.get("ignorable"):
                raise ValueError(f"{field['name']} does not exist in version {self.version}")
        return out + (b"\0" if self.flexible else b"")

    def encode(self, values):
        return self.write(self.fields, values)

    # ---- reading
    def take_uvarint(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def take(self, form):
        value = struct.unpack_from(">" + form, self.data, self.at)[0]
        self.at += struct.calcsize(">" + form)
        return value

    def take_length(self, form):
        return self.take_uvarint() - 1 if self.flexible else self.take(form)

    def read_value(self, field, kind):
        if kind.startswith("[]"):
            count = self.take_length("i")
            return None if count < 0 else [self.read_value(field, kind[2:]) for _ in range(count)]
        if kind in NUMBERS:
            return self.take(NUMBERS[kind])
        if kind in ("string", "bytes", "records"):
            size = self.take_length("h" if kind == "string" else "i")
            if size < 0:
                return None
            self.at += size
            data = self.data[self.at - size : self.at]
            return data.decode() if kind == "string" else data.hex()
        return self.read(field.get("fields") or self.structs[kind])

    def read(self, fields):
        values = {}
        for field in fields:
            tagged = in_range(field.get("taggedVersions"), self.version)
            if in_range(field["versions"], self.version) and not tagged:
                values[field["name"]] = self.read_value(field, field["type"])
        if self.flexible:
            for _ in range(self.take_uvarint()):
                self.take_uvarint()
                size = self.take_uvarint()
                self.at += size
        return values

    def decode(self, data):
        self.data, self.at = data, 0
        values = self.read(self.fields)
        if self.at != len(data):
            raise ValueError(f"{len(data) - self.at} bytes are left over")
        return values


class Api:
    """Asks on one connection (wire.Connection)."""

    def __init__(self, connection, all_definitions, client_id="driver"):
        self.connection, self.definitions, self.client_id = connection, all_definitions, client_id
        self.correlation = 0

    def versions(self, key):
        low, _, high = self.definitions[key, "request"]["validVersions"].partition("-")
        return range(int(low), int(high or low) + 1)

    def send(self, key, version, values):
        """Sends; receive() takes the answer."""
        self.correlation += 1
        codec = Codec(self.definitions[key, "request"], version)
        name = self.client_id.encode()
        header = struct.pack(">hhih", key, version, self.correlation, len(name)) + name
        frame = header + (b"\0" if codec.flexible else b"") + codec.encode(values)
        self.connection.socket.sendall(struct.pack(">i", len(frame)) + frame)
        self.waits = Codec(self.definitions[key, "response"], version)

    def receive(self):
        size = struct.unpack(">i", self.connection._receive(4))[0]
        data = self.connection._receive(size)
        if struct.unpack_from(">i", data)[0] != self.correlation:
            raise OSError("the answer has another request's correlation id")
        return self.waits.decode(data[5 if self.waits.flexible else 4 :])

    def ask(self, key, version, values):
        self.send(key, version, values)
        return self.receive()
