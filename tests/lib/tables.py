# SPDX-License-Identifier: Apache-2.0
"""Any Kafka request or response, of any version, from and to Python values, by the tables that `tailrace protocol
--json` prints (a test compares those with Kafka's own).

Happy path: encode("ProduceRequest", 9, {"Acks": -1, ...}) and decode("ProduceResponse", 9, data); a field that is not
named gets its default. A value Raw(bytes) stands for a field's whole encoding, however wrong: that is how hostile
tests lie about lengths. "_tags" in a struct replaces its tagged-field section. Failure modes: an unknown field name or
missing bytes raise ValueError or struct.error.
"""

import functools
import json
import struct
import subprocess

from broker import tailrace_binary

FIXED = {"int8": "b", "int16": "h", "int32": "i", "int64": "q", "float64": "d", "bool": "?"}


class Raw(bytes):
    """The encoding of a field, as it is."""


def uvarint(value):
    """An unsigned varint; values above 32 bits are written as they are, wrong or not."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def zigzag(value):
    """A signed varint or varlong, as in records."""
    return uvarint(value << 1 if value >= 0 else (-value << 1) - 1)


def spans(text, version):
    """Whether a range such as "3+", "0-4", "2" or "none" holds the version."""
    if text in (None, "none"):
        return False
    low, _, high = text.partition("-")
    if low.endswith("+"):
        return version >= int(low[:-1])
    return int(low) <= version <= int(high or low)


@functools.lru_cache
def _tables():
    """{name: message} of everything that the binary knows."""
    shown = subprocess.run([tailrace_binary(), "protocol", "--json"], capture_output=True, check=True, timeout=30)
    return {message["name"]: message for message in json.loads(shown.stdout)["messages"]}


def api_key(name):
    """18 for ApiVersions."""
    return _tables()[name + "Request"]["apiKey"]


def versions(name):
    """range(0, 10) for JoinGroup."""
    low, _, high = _tables()[name + "Request"]["validVersions"].partition("-")
    return range(int(low), int(high or low) + 1)


def is_flexible(name, version):
    return spans(_tables()[name]["flexibleVersions"], version)


def default_of(field):
    text = field.get("default", "")
    kind = field["type"]
    if text == "null":
        return None
    if kind.startswith("[]"):
        return []
    if kind in FIXED:
        if kind == "bool":
            return text == "true"
        return float(text or 0) if kind == "float64" else int(text or "0", 0)
    if kind == "string":
        return text
    return b"" if kind == "bytes" else bytes(16) if kind == "uuid" else None if kind == "records" else {}


def _sized(size, flexible, short):
    if flexible:
        return uvarint(size + 1)
    return struct.pack(">h" if short else ">i", size)


def _encode_value(field, kind, value, version, flexible):
    if isinstance(value, Raw):
        return bytes(value)
    if kind.startswith("[]"):
        if value is None:
            return _sized(-1, flexible, False)
        return _sized(len(value), flexible, False) + b"".join(
            _encode_value(field, kind[2:], item, version, flexible) for item in value
        )
    if kind in FIXED:
        return struct.pack(">" + FIXED[kind], value)
    if kind == "uuid":
        return value
    if kind in ("string", "bytes", "records"):
        if value is None:
            return _sized(-1, flexible, kind == "string")
        data = value.encode() if isinstance(value, str) else value
        return _sized(len(data), flexible, kind == "string") + data
    return _encode_struct(field["fields"], value, version, flexible)


def _encode_struct(fields, values, version, flexible):
    unknown = set(values) - {field["name"] for field in fields} - {"_tags"}
    if unknown:
        raise ValueError(f"no such field: {unknown}")
    out, tags = b"", {}
    for field in fields:
        if not spans(field["versions"], version):
            continue
        value = values.get(field["name"], default_of(field))
        tagged = spans(field.get("taggedVersions"), version)
        if not tagged:
            out += _encode_value(field, field["type"], value, version, flexible)
        elif field["name"] in values:
            tags[field["tag"]] = _encode_value(field, field["type"], value, version, flexible)
    if not flexible:
        return out
    if "_tags" in values:
        return out + values["_tags"]
    return out + tag_section(sorted(tags.items()))


def tag_section(tags):
    """Tagged fields, in the order given: [(tag, data)]."""
    return uvarint(len(tags)) + b"".join(uvarint(tag) + uvarint(len(data)) + data for tag, data in tags)


def encode(name, version, values):
    """The body of a message."""
    table = _tables()[name]
    return _encode_struct(table["fields"], values, version, spans(table["flexibleVersions"], version))


def header(key, version, correlation, client_id="hostile", flexible=False, tags=b"\x00"):
    """A request header; client_id may be Raw or None."""
    client = _encode_value(None, "string", client_id, 0, False)
    return struct.pack(">hhi", key, version, correlation) + client + (tags if flexible else b"")


def request(name, version, values, correlation=1, client_id="hostile"):
    """A whole frame without its length."""
    full = name + "Request"
    return header(api_key(name), version, correlation, client_id, is_flexible(full, version)) + encode(
        full, version, values
    )


def framed(payload):
    """With its length."""
    return struct.pack(">i", len(payload)) + payload


class _Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def fixed(self, form):
        value = struct.unpack_from(">" + form, self.data, self.at)[0]
        self.at += struct.calcsize(">" + form)
        return value

    def bytes(self, size):
        if size < 0 or self.at + size > len(self.data):
            raise ValueError("an answer ends too early")
        self.at += size
        return self.data[self.at - size : self.at]

    def uvarint(self):
        value = shift = 0
        while True:
            byte = self.bytes(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def size(self, flexible, short):
        return self.uvarint() - 1 if flexible else self.fixed("h" if short else "i")


def _decode_value(reader, field, kind, version, flexible):
    if kind.startswith("[]"):
        count = reader.size(flexible, False)
        return None if count < 0 else [_decode_value(reader, field, kind[2:], version, flexible) for _ in range(count)]
    if kind in FIXED:
        return reader.fixed(FIXED[kind])
    if kind == "uuid":
        return reader.bytes(16)
    if kind in ("string", "bytes", "records"):
        size = reader.size(flexible, kind == "string")
        data = None if size < 0 else reader.bytes(size)
        return data.decode(errors="replace") if kind == "string" and data is not None else data
    return _decode_struct(reader, field["fields"], version, flexible)


def _decode_struct(reader, fields, version, flexible):
    values, tagged = {}, {}
    for field in fields:
        if not spans(field["versions"], version):
            continue
        if spans(field.get("taggedVersions"), version):
            tagged[field["tag"]] = field
            values[field["name"]] = default_of(field)
        else:
            values[field["name"]] = _decode_value(reader, field, field["type"], version, flexible)
    if flexible:
        for _ in range(reader.uvarint()):
            tag, size = reader.uvarint(), reader.uvarint()
            data = reader.bytes(size)
            if tag in tagged:
                field = tagged[tag]
                values[field["name"]] = _decode_value(_Reader(data), field, field["type"], version, flexible)
    return values


def decode(name, version, data):
    """The values of a message; bytes that are left over are an error."""
    table = _tables()[name]
    reader = _Reader(data)
    values = _decode_struct(reader, table["fields"], version, spans(table["flexibleVersions"], version))
    if reader.at != len(data):
        raise ValueError(f"{len(data) - reader.at} bytes after {name} v{version}")
    return values


def decode_response(name, version, frame):
    """(correlation id, values) of a response frame."""
    full = name + "Response"
    start = 4
    if name != "ApiVersions" and is_flexible(full, version):
        start = 5
    return struct.unpack_from(">i", frame)[0], decode(full, version, frame[start:])
