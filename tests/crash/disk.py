# SPDX-License-Identifier: Apache-2.0
"""A file system of its own in an image file, whose power can be cut.

Happy path: `with Disk(directory, 256) as disk:` mounts an ext4 at disk.path; cut() drops what was not synchronised
(xfs_io shutdown without flushing the log), remount() mounts what is left. The test runs in a mount and process
namespace of its own (enter_namespace), so that no mount and no loop device is left behind, however the test ends.
Failure modes: the message of the program that failed, as DiskError.
"""

import os
import pathlib
import subprocess
import sys
import time

ENTERED = "CRASH_NAMESPACE_ENTERED"


class DiskError(Exception):
    """mkfs, mount, xfs_io or umount failed."""


def call(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=60)
    if done.returncode:
        raise DiskError(f"{' '.join(map(str, command))}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout.strip()


def enter_namespace():
    """Starts this program again as the first process of namespaces of its own; does not return the first time."""
    if os.environ.get(ENTERED):
        return
    os.environ[ENTERED] = "1"
    os.execvp(
        "unshare",
        ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, *sys.argv],
    )


class Disk:
    """One ext4 on a loop device that goes with its mount."""

    def __init__(self, directory, size_mib):
        self.image = pathlib.Path(directory) / "disk.img"
        self.path = pathlib.Path(directory) / "disk"
        self.path.mkdir()
        with open(self.image, "wb") as image:
            image.truncate(size_mib << 20)
        call("mkfs.ext4", "-q", "-m", "0", self.image)
        self.mounted = False

    def __enter__(self):
        self.mount()
        return self

    def __exit__(self, *unused):
        if self.mounted:
            subprocess.run(["umount", "-l", str(self.path)], check=False)
        self.image.unlink(missing_ok=True)

    def mount(self):
        call("mount", "-o", "loop", self.image, self.path)  # the loop device is freed with the mount
        self.mounted = True

    def cut(self):
        """The power is gone: nothing that was not synchronised will be there."""
        call("xfs_io", "-x", "-c", "shutdown", self.path)

    def remount(self):
        """After cut(), when no process has a file open there any more."""
        end = time.monotonic() + 10
        while True:
            try:
                call("umount", self.path)
                break
            except DiskError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.02)
        self.mounted = False
        self.mount()
