# SPDX-License-Identifier: Apache-2.0
# Who listens on a TCP port of this machine. Sourced by tools/run.

# Prints "PID NAME" of a process that listens on port $1, "?" if it belongs to somebody else; nothing if nobody does.
port_holder() {
    local hex inode fd pid
    hex=$(printf '%04X' "$1")
    inode=$(awk -v port=":$hex" \
        'index($2, port) == length($2) - 4 && $4 == "0A" {print $10; exit}' /proc/net/tcp /proc/net/tcp6 2>/dev/null)
    [ -n "$inode" ] || return 0
    for fd in /proc/[0-9]*/fd/*; do
        if [ "$(readlink "$fd" 2>/dev/null)" = "socket:[$inode]" ]; then
            pid=${fd#/proc/}
            pid=${pid%%/*}
            echo "$pid $(cat "/proc/$pid/comm" 2>/dev/null)"
            return 0
        fi
    done
    echo "?"
}
