# SPDX-License-Identifier: MIT
# For the tests that boot machines. A test sources this with its number of results, where it is known:
# `. tests/e2e/lib.sh 7`. Prints TAP. Each test works in a folder of its own, $dir, which is removed at the end.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C.UTF-8
dir=$(mktemp -d)
export XDG_CONFIG_HOME=$dir		# a test does not read the user's own settings
number=0 failed=0
started=()
case ${1-} in [0-9]*) echo "1..$1" ;; esac

ok() { number=$((number + 1)); echo "ok $number - $1"; }
not_ok() {
	number=$((number + 1)) failed=$((failed + 1))
	echo "not ok $number - $1"
	shift
	printf '# %s\n' "$@"
}

# check TEXT COMMAND...: one result. The output is shown when the command fails. `printed N` then shows N lines of it.
check() {
	local text=$1
	shift
	if "$@" >"$dir/check" 2>&1; then ok "$text"; else
		not_ok "$text" "$*"
		# The last line ends here, also where it is cut: the next result begins a line.
		printf '%s\n' "$(head -c 8000 "$dir/check")" | sed 's/^/# /'
	fi
}

have() { command -v "$1" >/dev/null; }
# check_with TOOL TEXT COMMAND...: skipped where the tool is not there.
check_with() {
	local tool=$1
	shift
	if have "$tool"; then check "$@"; else
		number=$((number + 1))
		echo "ok $number - $1 # SKIP $tool is not installed (./packages export, ./packages cpus)"
	fi
}

printed() { head -n "$1" "$dir/check" | sed 's/^/# /'; }

# await SECONDS COMMAND...: true as soon as the command succeeds; false when the time is over. The seconds are those of a
# quiet host, generously. A busy host has six times as long, here for all tests; what comes does so sooner. The command
# sees the variable of this function: its name is nobody else's.
await() {
	local await_end=$((SECONDS + 6 * $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $await_end ] || return 1
		sleep 0.1
	done
}

# A wait in vain that no check and no condition heeds is a result of its own, which no plan counts.
in_vain() {
	[ "$BASH_SUBSHELL" = 0 ] || return
	sed -n "$1p" "${BASH_SOURCE[1]}" | grep -v '^shows()\|^hides()' | grep -qE '\b(await|shows|hides) ' || return 0
	not_ok "${BASH_SOURCE[1]}:$1: waited in vain"
}
set -E
trap 'in_vain "$LINENO"' ERR

# So has a program: here `timeout SECONDS COMMAND...` waits six times as long. With options it is that of the system.
mkdir "$dir/path"
cat >"$dir/path/timeout" <<END
#!/bin/sh
case \$1 in -*) exec $(command -v timeout) "\$@" ;; esac
seconds=\$1
shift
exec $(command -v timeout) \$((6 * seconds)) "\$@"
END
chmod +x "$dir/path/timeout"
PATH=$dir/path:$PATH

# says_nothing FILE: ktop has written nothing there; on a busy host it says what it waits for.
says_nothing() { ! grep -vE '^ktop: ((waits|looks) for |.*: (waits for |it has (no QMP socket|not ended) yet))' "$1"; }

# listens SOCKET: can clients connect? A server makes the file first, and listens a moment later.
listens() {
	awk -v path="$1" '$4 == "00010000" && $NF == path { found = 1 } END { exit !found }' /proc/net/unix && test -S "$1"
}

# boot NAME WORK QEMU-OPTIONS...: boots the demo kernel, with QMP at $dir/NAME.qmp, its port at $dir/NAME.port and its
# console in $dir/NAME.log; $pid is the machine. If $port is set, it has QEMU's options for the port.
boot() { launch "$@" && qmp "$1" query-status ''; }

# launch NAME WORK QEMU-OPTION...: likewise, but asks it nothing. QMP serves one client: where a ktop waits for it, or is
# at it, a dialogue beside that ktop stands. A test has a second QMP socket then (live.sh, `second`).
launch() {
	local name=$1 work=$2
	shift 2
	# shellcheck disable=SC2086
	qemu-system-x86_64 -accel tcg -m 256 -display none -nodefaults -no-reboot \
		-kernel build/demo/demo.elf -append "$work" -serial "file:$dir/$name.log" \
		-qmp "unix:$dir/$name.qmp,server=on,wait=off" \
		-chardev "socket,id=ktop,path=$dir/$name.port,server=on,wait=off" \
		${port--device virtio-serial-pci -device virtserialport,chardev=ktop,name=org.ktop.0} "$@" \
		</dev/null >"$dir/$name.qemu" 2>&1 &
	pid=$!
	started+=("$pid")
	await 20 listens "$dir/$name.qmp"
}

# end PID: ends a machine that boot started.
end() {
	kill "$1" 2>/dev/null || :
	wait "$1" 2>/dev/null || :
}

# qmp NAME COMMAND ARGUMENTS: gives one command to the machine whose QMP is at $dir/NAME.qmp. It stays until the answer
# is there, since QEMU drops what it has not obeyed yet when the sender goes. Empty lines show whether QEMU has gone.
qmp() {
	local answer=$dir/$1.answer
	: >"$answer"
	{
		printf '{"execute":"qmp_capabilities"}\n{"execute":"%s","arguments":{%s}}\n' "$2" "$3"
		until [ "$(grep -cE '"(return|error)":' "$answer")" -ge 2 ]; do
			sleep 0.02
			echo || break
		done
	} | timeout 100 socat -t 10 - "unix-connect:$dir/$1.qmp" >>"$answer"
	grep -q '"return"' "$answer" && ! grep error "$answer"
}

finish() {
	local one
	for one in "${started[@]}"; do end "$one"; done
	if declare -F cleanup >/dev/null; then cleanup; fi
	rm -rf "$dir"
}
trap finish EXIT
