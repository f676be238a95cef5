# SPDX-License-Identifier: Apache-2.0
"""Above the seam there is no writable global state and no way round os/os.h: the archives have empty data sections and import nothing
that reaches the system, a clock, randomness, a thread or a stream. os/linux and cli/ are outside the rule.

usage: purity.py ROOT BUILD"""
import glob
import os
import re
import subprocess
import sys

import tree

FREE = {"os_linux", "os_sim", "cli"}
# Listed files of third-party code with threads or clocks of their own: {object: symbols that it may import}.
EXCEPTIONS = {}

WRITABLE = re.compile(r"^\.(data|bss|tdata|tbss)(?!\.rel\.ro)")

DENIED = """
open openat creat close read write pread pwrite readv writev preadv preadv2 pwritev pwritev2 lseek dup dup2 dup3 pipe pipe2 fcntl ioctl
fsync fdatasync sync syncfs sync_file_range ftruncate truncate fallocate posix_fallocate posix_fadvise readahead sendfile splice tee
stat fstat lstat fstatat statx statfs fstatfs statvfs fstatvfs access faccessat rename renameat renameat2 link unlink unlinkat symlink
readlink realpath mkdir mkdirat rmdir remove chdir getcwd chmod chown utimes utimensat futimens umask flock lockf opendir readdir
closedir scandir nftw ftw glob mkstemp mkdtemp tmpfile tmpnam
mmap munmap mremap mprotect madvise mlock mlockall msync brk sbrk shm_open memfd_create
socket socketpair bind listen accept accept4 connect shutdown send sendto sendmsg sendmmsg recv recvfrom recvmsg recvmmsg getsockopt
setsockopt getsockname getpeername getaddrinfo freeaddrinfo getnameinfo gethostbyname gethostname if_nametoindex
select pselect poll ppoll epoll_create epoll_create1 epoll_ctl epoll_wait eventfd timerfd_create signalfd inotify_init syscall
clock_gettime clock_getres clock_settime clock_nanosleep gettimeofday time times clock nanosleep usleep sleep alarm setitimer timer_create
localtime localtime_r mktime ctime ctime_r tzset strftime_l
rand srand rand_r random srandom drand48 lrand48 getrandom getentropy arc4random
printf vprintf puts putchar putc fputc fputs fprintf vfprintf dprintf vdprintf fwrite fread fopen fdopen freopen fclose fflush fgets
getline fscanf scanf perror stdin stdout stderr popen syslog err errx warn warnx
fork vfork clone execve execv execvp execl posix_spawn system wait waitpid kill raise signal sigaction sigprocmask
exit _exit _Exit quick_exit abort atexit getpid gettid getppid getuid geteuid getenv setenv putenv secure_getenv
sched_yield sched_getaffinity sched_setaffinity sysconf getrlimit setrlimit getrusage sysinfo uname
setlocale strerror __assert_fail __assert dlopen setjmp longjmp _setjmp
""".split()
DENIED_SHAPES = re.compile(r"^(pthread_|thrd_|mtx_|cnd_|tss_|call_once|sem_|io_uring_|aio_|mq_|__tls_get_addr|_?IO_)")
# 64-bit and fortified names of the same functions.
VARIANTS = re.compile(r"^(?:__)?(?P<name>\w+?)(?:64)?(?:_chk|_2)?$")
KNOWN_PURE = {"__errno_location", "__stack_chk_fail"}


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def is_denied(symbol):
    if symbol in KNOWN_PURE:
        return False
    name = VARIANTS.match(symbol).group("name") if VARIANTS.match(symbol) else symbol
    return symbol in DENIED or name in DENIED or DENIED_SHAPES.match(symbol) is not None


def writable_sections(archive):
    found, member = [], "?"
    for line in run("size", "-A", archive).splitlines():
        head = re.match(r"^(\S+)\s+\(ex ", line)
        if head:
            member = head.group(1)
        row = re.match(r"^(\.\S+)\s+(\d+)\s", line)
        if row and int(row.group(2)) > 0 and WRITABLE.match(row.group(1)):
            found.append((member, row.group(1), int(row.group(2))))
    return found


def writable_names(archive, member):
    """Which variables they are, for the message."""
    names, here = [], False
    for line in run("nm", archive).splitlines():
        if line.endswith(":"):
            here = line[:-1] == member
        row = re.match(r"^[0-9a-f]+ [bBdDuC] (\S+)$", line)
        if here and row:
            names.append(row.group(1))
    return ", ".join(names)


def imports(archive):
    member = "?"
    for line in run("nm", "-u", archive).splitlines():
        if line.endswith(":"):
            member = line[:-1]
        row = re.match(r"^\s+[Uw] (\S+)$", line)
        if row:
            yield member, row.group(1).split("@")[0]


def check_archive(archive, name):
    problems = []
    for member, section, size in writable_sections(archive):
        names = writable_names(archive, member)
        problems.append(f"{name}: {member}: {size} bytes in {section} ({names}): no writable globals or statics above the seam")
    for member, symbol in imports(archive):
        if is_denied(symbol) and symbol not in EXCEPTIONS.get(member, ()):
            problems.append(f"{name}: {member}: uses {symbol}: everything goes through os/os.h")
    return problems


def main():
    build = sys.argv[2]
    archives = sorted(glob.glob(os.path.join(build, "**", "libtr_*.a"), recursive=True))
    problems, checked = [], 0
    for archive in archives:
        name = os.path.basename(archive)[len("libtr_"):-2]
        if name in FREE:
            continue
        checked += 1
        problems += check_archive(archive, name)
    if checked == 0:
        problems.append(f"no archive in {build}: build first")
    tree.end(problems, checked)


main()
