# SPDX-License-Identifier: Apache-2.0
"""Fetches the foreign programs that tests run: Apache Kafka's jars, by pinned version, into build/compat/, once.

Happy path: a stamp file that holds the hash of the manifest says that the folder is complete. Failure modes: the
package client's own message and exit status, raised as PeerError; a folder without its stamp is made again.
"""

import fcntl
import hashlib
import pathlib
import shutil
import subprocess

from broker import CACHE

LIB = pathlib.Path(__file__).resolve().parent


class PeerError(Exception):
    """Something that a test needs could not be fetched or built."""


def run(command, cwd=None, env=None, timeout_s=600):
    """Runs a provisioning command; its output is shown only if it fails."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    if done.returncode:
        raise PeerError(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


def once(name, inputs, build):
    """Makes the folder CACHE/name with build(folder) unless its stamp says that it was made from the same inputs (files
    or strings)."""
    digest = hashlib.sha256()
    for item in inputs:
        digest.update(item.read_bytes() if isinstance(item, pathlib.Path) else str(item).encode())
    folder = CACHE / name
    stamp = folder / ".made-from"
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / f".{name}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.exists() and stamp.read_text(encoding="utf-8") == digest.hexdigest():
            return folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        build(folder)
        stamp.write_text(digest.hexdigest(), encoding="utf-8")
    return folder


def maven_jars(name, pom):
    """The jars of a POM's runtime scope."""

    def build(folder):
        shutil.copy(pom, folder / "pom.xml")
        run(
            [
                "mvn",
                "-q",
                "-B",
                "dependency:copy-dependencies",
                "-DincludeScope=runtime",
                f"-DoutputDirectory={folder}/libs",
            ],
            cwd=folder,
        )

    return once(name, [pom], build) / "libs"


def kafka_jars(version):
    """Broker, tools and clients of Apache Kafka 3.9.1."""
    return maven_jars(f"kafka-{version}", LIB / f"kafka-{version}.xml")
