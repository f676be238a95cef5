# SPDX-License-Identifier: Apache-2.0
"""A network of one's own: loopback only, with Linux's default congestion control whatever the machine's is.

Some machines send with bbr by default. On loopback it paces: the fetches of any broker then cost up to twice the CPU, and
vary by a factor of two from run to run. The congestion control belongs to a network namespace, so nothing outside changes.

Happy path: enter() starts this program again inside such a namespace, and returns there. Failure modes: where namespaces are
not allowed, it returns in the machine's own network; the report names the congestion control that was used.
"""

import contextlib
import fcntl
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys

CONGESTION_CONTROL = "cubic"
MARK = "TAILRACE_BENCH_NETWORK"
CHOSEN = pathlib.Path("/proc/sys/net/ipv4/tcp_congestion_control")
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1


def unshare():
    """The command that makes a namespace, or None."""
    for command in (["unshare", "--net"], ["unshare", "--map-root-user", "--net"]):
        if shutil.which("unshare") and subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0:
            return command
    return None


def loopback_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        name = b"lo".ljust(16, b"\0")
        flags = struct.unpack_from("H", fcntl.ioctl(any_socket, SIOCGIFFLAGS, name + bytes(24)), 16)[0]
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, name + struct.pack("H", flags | IFF_UP) + bytes(22))


def enter():
    """Returns inside the namespace, or in the machine's network if there can be none."""
    if MARK in os.environ:
        loopback_up()
        with contextlib.suppress(OSError):  # a kernel without it
            CHOSEN.write_text(CONGESTION_CONTROL, encoding="ascii")
        return
    command = unshare()
    if command:
        os.environ[MARK] = "1"
        os.execvp(command[0], [*command, sys.executable, *sys.argv])


def congestion_control():
    return CHOSEN.read_text(encoding="ascii").strip()
