# SPDX-License-Identifier: Apache-2.0
"""`tailrace log ls` lists all partitions or those asked for, as text and JSON; a name that is not there is an error; and no
command of `tailrace log` takes any other directory for a sound log directory. Ctrl-C ends them, and so does a reader that has gone."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

import broker
import wire


def log(*words):
    """(exit status, output lines, error lines)"""
    command = [broker.tailrace_binary(), "log", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()


def ls(*words):
    return log("ls", *words)


def check_other_directories():
    """Neither a broker's nor a partition's: an error that a script sees. One that a broker has just made is empty and sound."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "library-2").mkdir()
        for command, failed in (("ls", 1), ("verify", 2), ("dump", 2)):
            status, lines, errors = log(command, folder)
            assert status == failed and name in errors[0], (command, status, errors)
            assert not any("sound:" in line for line in lines), lines
            assert log(command, folder / "nosuch")[0] == (2 if command == "verify" else 1)
        assert "neither a log directory" in log("verify", folder)[2][0]
        (folder / "file").touch()
        for command in ("ls", "verify"):
            assert log(command, folder / "file")[2] == [f"tailrace log {command}: {folder / 'file'}: Not a directory"]
        (folder / "meta.properties").write_text("version=0\nbroker.id=0\n")
        assert [log(command, folder)[0] for command in ("ls", "verify")] == [0, 0]


def check_help():
    for command in ("ls", "dump", "verify"):
        for words in ([], ["somewhere"]):
            status, lines, errors = log(command, *words, "--help")
            assert (status, errors) == (0, []) and lines[0].startswith("usage:"), (command, status, errors)


def check_strange_files():
    """A FIFO is named and not waited for, the rest is listed; what others wrote into a name does not reach the terminal."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "orders-0").mkdir()
        (folder / "orders-0" / "00000000000000000000.log").touch()
        (folder / "\x1b[31mred").mkdir()
        os.mkfifo(folder / "recovery-point-offset-checkpoint")
        for command, failed in (("ls", 1), ("verify", 1)):
            status, lines, errors = log(command, folder)
            shown = "\n".join(lines + errors)
            assert status == failed and "recovery-point-offset-checkpoint: neither a file" in shown, (status, shown)
            assert "\x1b" not in shown and "\\x1b[31mred" in shown, shown
            assert "orders-0" in shown or "1 partitions" in shown, shown
        os.mkfifo(folder / "orders-0" / "leader-epoch-checkpoint")
        assert log("dump", folder / "orders-0" / "leader-epoch-checkpoint")[0] == 1


def names(data, *words):
    status, lines, errors = ls(data, *words, "--json")
    assert (status, errors) == (0, []), (status, errors)
    return [json.loads(line)["directory"] for line in lines]


def check_signals(data):
    """`tailrace log ls | head` ends without a word, and Ctrl-C ends it while it writes to a reader that does not read."""
    command = [broker.tailrace_binary(), "log", "ls", str(data)]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b""), done
    os.close(writer)
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        while os.write(writer, bytes(4096)):
            pass
    except BlockingIOError:
        os.set_blocking(writer, True)
    child = subprocess.Popen(command, stdout=writer)
    stat, end = pathlib.Path(f"/proc/{child.pid}/stat"), time.monotonic() + 60
    while stat.read_text().rsplit(")", 1)[1].split()[0] != "S":  # it waits for the pipe
        assert child.poll() is None and time.monotonic() < end
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=60) == -signal.SIGINT
    os.close(reader)
    os.close(writer)


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
        check_signals(server.data)
    check_other_directories()
    check_help()
    check_strange_files()
    print("log ls lists what is asked for")


if __name__ == "__main__":
    main()
