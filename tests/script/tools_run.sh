#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/run as a person uses it, at a terminal: it says when it is ready, the lines that it then shows work as they are, who holds
# a busy port is named, Ctrl-C stops it in order.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
runner=
finish() {
    [ -z "$runner" ] || kill -TERM "$runner" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
fail() {
    echo "FAILED: $1"
    cat "$work/out"
    exit 1
}

# A terminal of its own: what is written to descriptor 3 is typed there.
mkfifo "$work/keys"
python3 -c 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' \
    "$root/tools/run" --port "$port" --data "$work/data" <"$work/keys" >"$work/out" 2>&1 &
runner=$!
exec 3>"$work/keys"
for _ in $(seq 3000); do
    grep -q 'Ctrl-C stops it' "$work/out" && break
    kill -0 "$runner" 2>/dev/null || fail "tools/run ended"
    sleep 0.1
done
grep -q "Tailrace is ready on 127.0.0.1:$port" "$work/out" || fail "it never said that it was ready"
sed -n 's/\r$//; s/^  \(.*kcat .*\)/\1/p' "$work/out" >"$work/shown" # what there is to paste
[ "$(wc -l <"$work/shown")" -eq 3 ] || fail "three kcat lines are not shown: $(cat "$work/shown")"
bash -eu -o pipefail "$work/shown" >"$work/pasted" 2>"$work/pasted.err" || fail "the lines shown fail: $(cat "$work/pasted.err")"
read=$(head -10 "$work/pasted" | tr '\n' ' ')
[ "$read" = "1 2 3 4 5 6 7 8 9 10 " ] || fail "the records are not there: $read"
grep -q 'topic "hello" with 1 partitions' "$work/pasted" || fail "the topic is not listed: $(cat "$work/pasted")"

# The port may be written in any way, and held by somebody else.
if "$root/tools/run" --port="0$port" --data="$work/other" >"$work/second" 2>&1; then fail "a second one started on the same port"; fi
grep -q "port $port is in use by process [0-9]* tailrace" "$work/second" ||
    fail "the holder of the port is not named: $(cat "$work/second")"
if [ "$(id -u)" -eq 0 ] && setpriv --reuid=65534 --clear-groups test -r "$root/tools/run"; then
    if setpriv --reuid=65534 --clear-groups "$root/tools/run" --port "$port" >"$work/second" 2>&1; then fail "and another's"; fi
    grep -q "port $port is in use by a process of root" "$work/second" ||
        fail "the user who holds the port is not named: $(cat "$work/second")"
fi
printf '\003' >&3 # Ctrl-C
status=0
wait "$runner" || status=$?
runner=
grep -q 'broker core=[0-9]* stopped status=0' "$work/out" || fail "it did not stop in order"
[ "$status" -eq 0 ] || fail "exit status $status after the stop"
[ -f "$work/data/.kafka_cleanshutdown" ] || fail "no clean-shutdown marker"
echo "tools/run works"
