# SPDX-License-Identifier: Apache-2.0
# Who listens on a TCP port of this machine. Sourced by tools/run.

# Prints "PID NAME" of a process that listens on port $1, "? USER" if only its user can be told (it is somebody else's, or in
# a container); nothing if nobody does.
port_holder() {
    local inode='' uid='' entry pid
    read -r inode uid < <(awk -v port="$(printf ':%04X' "$1")" \
        'index($2, port) == length($2) - 4 && $4 == "0A" {print $10, $8; exit}' /proc/net/tcp /proc/net/tcp6 2>/dev/null) || true
    [ -n "$inode" ] || return 0
    # One process for all descriptors of the machine: there may be many thousands.
    entry=$(find /proc/[0-9]*/fd -maxdepth 1 -lname "socket:\\[$inode\\]" -print -quit 2>/dev/null) || true
    pid=${entry#/proc/}
    pid=${pid%%/*}
    if [ -n "$pid" ]; then
        echo "$pid $(cat "/proc/$pid/comm" 2>/dev/null)"
    else
        echo "? $(id -nu "$uid" 2>/dev/null || echo "$uid")"
    fi
}
