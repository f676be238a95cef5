# SPDX-License-Identifier: Apache-2.0
"""io_uring refused, as container runtimes and hardened kernels do, or short of locked memory: one line that says what to
do, exit status 1, and nothing was written."""

import ctypes
import errno
import itertools
import pathlib
import struct
import subprocess
import tempfile

import broker

IO_URING_SETUP, IO_URING_ENTER, IO_URING_REGISTER = 425, 426, 427  # on every architecture that has them
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD_NUMBER, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ERROR, ALLOW = 0x50000, 0x7FFF0000


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]


def refuse(call, code):
    """For subprocess: what runs in the child before the broker."""
    rows = [(LOAD_NUMBER, 0, 0, 0), (JUMP_IF_EQUAL, 0, 1, call), (RETURN, 0, 0, ERROR | code), (RETURN, 0, 0, ALLOW)]
    bytecode = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
    program = Program(len(rows), ctypes.cast(bytecode, ctypes.c_void_p))
    prctl = ctypes.CDLL(None).prctl

    def install():
        ok = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 and prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program)) == 0
        assert ok and bytecode

    return install


def main():
    with tempfile.TemporaryDirectory() as directory:
        data = pathlib.Path(directory) / "data"
        command = [broker.tailrace_binary(), "broker", "--standalone", "--override", f"log.dirs={data}"]
        command += ["--override", "listeners=PLAINTEXT://127.0.0.1:0"]
        calls = IO_URING_SETUP, IO_URING_ENTER, IO_URING_REGISTER
        for call, code in itertools.product(calls, (errno.EPERM, errno.ENOSYS)):
            done = subprocess.run(command, preexec_fn=refuse(call, code), capture_output=True, text=True, timeout=20, check=False)
            assert done.returncode == 1, done
            lines = done.stderr.splitlines()
            assert len(lines) == 1 and "io_uring" in lines[0] and "kernel.io_uring_disabled" in lines[0], done.stderr
            assert not data.exists()
        # What the kernel answers when RLIMIT_MEMLOCK is too small.
        install = refuse(IO_URING_SETUP, errno.ENOMEM)
        done = subprocess.run(command, preexec_fn=install, capture_output=True, text=True, timeout=20, check=False)
        assert done.returncode == 1, done
        assert len(done.stderr.splitlines()) == 1 and "ulimit -l" in done.stderr, done.stderr
        assert not data.exists()
    print("without io_uring the broker says what to do")


if __name__ == "__main__":
    main()
