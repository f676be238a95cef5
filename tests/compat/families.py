# SPDX-License-Identifier: Apache-2.0
"""The client families: how each one's program is made (once, into build/compat/) and started.

Happy path: `family(name).provide()` gives the words that start its program; everything is pinned in the manifests under
clients/. Failure modes: peers.PeerError with the package client's or compiler's output.
"""

import json
import pathlib
import re
import shutil

import peers

CLIENTS = pathlib.Path(__file__).resolve().parent / "clients"
ALL_CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
JAVA_OPTIONS = ("-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")


def provide_c():
    inputs = sorted((CLIENTS / "c").iterdir())
    sources = [path for path in inputs if path.suffix == ".c"]
    flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror"]
    folder = peers.once(
        "client-c",
        inputs,
        lambda folder: peers.run(["cc", *flags, *sources, "-o", folder / "client", "-lrdkafka", "-lcrypto"]),
    )
    return [folder / "client"]


def python_packages(name, manifest):
    """The folder of a virtual environment with what the manifest pins, prebuilt."""

    def build(folder):
        peers.run(["/usr/bin/python3", "-m", "venv", folder / "venv"])
        pip = [folder / "venv/bin/pip", "install", "--quiet", "--disable-pip-version-check"]
        peers.run([*pip, "--only-binary", ":all:", "--no-deps", "-r", manifest])

    return peers.once(name, [manifest], build) / "venv"


def provide_python(script):
    venv = python_packages("client-python", CLIENTS / "python" / "requirements.txt")
    return [venv / "bin/python", CLIENTS / "python" / script]


def provide_java(version):
    jars = peers.maven_jars(f"kafka-clients-{version}", CLIENTS / "java" / f"kafka-clients-{version}.xml")
    source = CLIENTS / "java" / "Client.java"
    classes = peers.once(
        f"client-java-{version}",
        [source, version],
        lambda folder: peers.run(["javac", "-Xlint:all", "-Werror", "-cp", f"{jars}/*", "-d", folder, source]),
    )
    return ["java", *JAVA_OPTIONS, "-cp", f"{classes}:{jars}/*", "Client"]


def version_of(words):
    """The numbers of the first version that the words name, `go1.26.8` or `go 1.26.0`; () if there is none."""
    found = re.search(r"\bgo ?(\d+(?:\.\d+)+)", words)
    return tuple(int(part) for part in found.group(1).split(".")) if found else ()


def go_command():
    """The machine's Go if it is as new as go.mod asks; an older one (Debian 12's) fetches Go's own toolchain module, as a
    newer one would by itself. It is checked against Go's checksum database."""
    wanted = version_of((CLIENTS / "go" / "go.mod").read_text(encoding="utf-8"))
    found = shutil.which("go") or "go"
    if version_of(peers.run([found, "version"])) >= wanted:
        return found
    version = ".".join(map(str, wanted))

    def build(folder):
        platform = "-".join(peers.run([found, "env", "GOOS", "GOARCH"]).split())
        module = f"golang.org/toolchain@v0.0.1-go{version}.{platform}"
        said = peers.run([found, "mod", "download", "-json", module], cwd=folder)
        shutil.copytree(json.loads(said[said.index("{") :])["Dir"], folder / "go")
        for path in (folder / "go", *(folder / "go").rglob("*")):  # a module is read-only, and no file of it executable
            path.chmod(0o755)

    return peers.once("toolchain-go", [version], build) / "go/bin/go"


def provide_go(name):
    source = CLIENTS / "go"
    inputs = sorted(path for path in source.rglob("*") if path.is_file())

    def build(folder):
        peers.run(
            [go_command(), "build", "-mod=readonly", "-o", f"{folder}/", "./franz", "./sarama", "./segmentio"],
            cwd=source,
        )

    return [peers.once("client-go", inputs, build) / name]


def provide_node():
    source = CLIENTS / "node"

    def build(folder):
        for name in ("package.json", "package-lock.json"):
            shutil.copy(source / name, folder / name)
        peers.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder)

    folder = peers.once("client-node", [source / "package.json", source / "package-lock.json"], build)
    return ["env", f"NODE_PATH={folder}/node_modules", "node", "--no-warnings", source / "client.js"]


class Family:
    """One client family; `assignors` are the names that --assignor of its program takes."""

    def __init__(
        self,
        name,
        version,
        provide,
        codecs=ALL_CODECS,
        assignors=("range", "roundrobin"),
        static=True,
        murmur2=True,
        null_pair=True,
        blurs_empty=False,
        keeps_positions=False,
    ):
        self.name, self.version, self.codecs, self.assignors, self.static = name, version, codecs, assignors, static
        self.murmur2 = murmur2  # partitions keys as Java does
        self.null_pair = null_pair  # sends a record with neither key nor value
        self.blurs_empty = blurs_empty  # reads an empty key or value as null
        self.keeps_positions = keeps_positions  # over a rebalance, see history.Events
        self._provide, self._command = provide, None

    def provide(self):
        """The words that start the program; made on first use."""
        if self._command is None:
            self._command = [str(word) for word in self._provide()]
        return self._command


FAMILIES = {
    family.name: family
    for family in (
        Family(
            "rdkafka", "librdkafka 2.0 (Debian)", provide_c, assignors=("range", "roundrobin", "cooperative-sticky")
        ),
        Family(
            "confluent",
            "confluent-kafka 2.16.1 (PyPI)",
            lambda: provide_python("confluent_client.py"),
            assignors=("range", "roundrobin", "cooperative-sticky"),
        ),
        Family(
            "java39",
            "kafka-clients 3.9.1",
            lambda: provide_java("3.9.1"),
            assignors=("range", "roundrobin", "cooperative-sticky"),
        ),
        Family(
            "java44",
            "kafka-clients 4.4.0",
            lambda: provide_java("4.4.0"),
            assignors=("range", "roundrobin", "cooperative-sticky"),
        ),
        Family(
            "franz",
            "franz-go 1.22.3",
            lambda: provide_go("franz"),
            assignors=("range", "roundrobin", "cooperative-sticky"),
        ),
        Family("sarama", "sarama 1.61.1", lambda: provide_go("sarama"), murmur2=False),
        Family(
            "segmentio", "segmentio/kafka-go 0.4.51", lambda: provide_go("segmentio"), static=False, blurs_empty=True
        ),
        Family(
            "kafka-python",
            "kafka-python 3.0.12",
            lambda: provide_python("kafka_python_client.py"),
            null_pair=False,
            keeps_positions=True,
        ),
        Family("kafkajs", "kafkajs 2.2.4", provide_node, assignors=("roundrobin",), static=False),
    )
}
