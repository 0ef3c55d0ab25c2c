# SPDX-License-Identifier: MIT
# For the tests that disturb machines at random while they are sampled. Sourced after lib.sh. SEED repeats the choices.
# A machine is $machine, with QMP at $dir/qmp; $arch is its CPU; $plugged: `no`, or it has other CPUs than at first.
ktop=build/ktop
ROUNDS=${ROUNDS:-8}
SEED=${SEED:-$((RANDOM << 15 | RANDOM))}
draw=$SEED
# random N: $chance is one of 0 to N - 1
random() {
	draw=$(((draw * 1103515245 + 12345) & 0x7fffffff))
	chance=$(((draw >> 8) % $1))
}
# pause N: up to N ms
pause() {
	random "$1"
	sleep "0.$(printf %03d "$chance")"
}

# say LINES: to QMP, in one connection; the answers are in $dir/answer. It stays until all are there, for 20 s at most:
# QEMU drops what it has not obeyed yet when the sender goes.
say() {
	local commands
	commands=$(grep -o '"execute"' <<<"$1" | wc -l)
	: >"$dir/answer"
	{
		printf '{"execute":"qmp_capabilities"}\n'"$1"'\n'
		until [ "$(grep -cE '"(return|error)":' "$dir/answer")" -gt "$commands" ]; do
			sleep 0.02
			echo || break
		done
	} 2>/dev/null | timeout 20 socat -t 10 - "unix-connect:$dir/qmp" >>"$dir/answer" 2>/dev/null
}
command() { say "{\"execute\":\"$1\"}"; }
is_running() { command query-status; grep -q '"status": "running"' "$dir/answer"; }

human() { printf '{"execute":"human-monitor-command","arguments":{"command-line":"%s"}}\\n' "$1"; }

# An empty disk for snapshots, 64 MiB of qcow2: header, table of reference counts, counts, table of contents.
perl -e 'print pack("a4NQ>NNQ>NNQ>Q>NNQ>", "QFI\xfb", 2, 0, 0, 16, 64 << 20, 0, 1, 0x30000, 0x10000, 1, 0, 0),
	"\0" x (0x10000 - 72), pack("Q>", 0x20000), "\0" x (0x10000 - 8), pack("n4", 1, 1, 1, 1), "\0" x (0x20000 - 8)' >"$dir/empty"
uboot=/usr/lib/u-boot/qemu_arm64/u-boot.bin
[ -e "$uboot" ] && type -P qemu-system-aarch64 >"$dir/found" || uboot=

# ---- machines ----

# Every fourth one is an aarch64 one, which runs U-Boot, where that is installed. The firmware of the others leaves out
# an option ROM by which one CPU waits for each of the others: QEMU hangs, also without a plugin, when one is taken away
# just then.
x86_64() {
	random 4
	smp=$((chance + 1))
	[ ! -s "$dir/saved" ] || { random 3; [ "$chance" -gt 0 ] || incoming=(-incoming "exec:cat $dir/saved"); }
	[ ${#incoming[@]} = 0 ] || smp=$saved_smp
	words=(-smp "$smp,maxcpus=4,sockets=4" -global apic.vapic=off -kernel build/demo/demo.elf -append work=mix)
}
aarch64() {
	random 2
	smp=$((chance + 1))
	words=(-M virt -cpu cortex-a57 -smp "$smp" -bios "$uboot")
}

# begin ROUND QEMU-OPTIONS...: boots the machine of this round, and waits until it runs; $log tells what happens to it.
begin() {
	local round=$1 incoming=() words
	shift
	plugged=no kept=none killed='' arch=x86_64
	[ -z "$uboot" ] || [ $((round % 4)) != 2 ] || arch=aarch64
	$arch
	random 4
	thread=multi
	[ "$chance" -gt 0 ] || thread=single
	rm -f "$dir/qmp"
	cp "$dir/empty" "$dir/disk"
	"qemu-system-$arch" -accel "tcg,thread=$thread" -m 64 -display none -nodefaults "${words[@]}" \
		-drive "if=none,id=disk,format=qcow2,file=$dir/disk" -qmp "unix:$dir/qmp,server=on,wait=off" \
		"$@" "${incoming[@]}" </dev/null >"$dir/qemu" 2>&1 &
	machine=$!
	started+=("$machine")
	log="$arch -smp $smp $thread ${incoming[*]}:"
	await 20 is_running && return
	command cont			# it was saved while it stood
	await 20 is_running
}

# act ACT: the log names it.
act() {
	log="$log $1"
	$1
}

# ---- what may happen to a machine while it is sampled ----

reset() { command system_reset; }
stop() { command stop; pause 200; command cont; }
plug() {
	[ "$arch" = x86_64 ] && [ "$plugged" != gone ] || { reset; return; }
	random 3
	human 'o /w 0xaf00 0' >"$dir/acpi"
	say "$(cat "$dir/acpi"){\"execute\":\"device_add\",\"arguments\":{\"id\":\"cpu$((chance + 1))\",\"driver\":\"qemu64-x86_64-cpu\",\"socket-id\":$((chance + 1)),\"core-id\":0,\"thread-id\":0}}"
	plugged=yes
}
# A snapshot, and back to it, unless there were other CPUs then. QEMU 10.0 asks all CPUs that there ever were before it
# makes a snapshot, and waits: it hangs when one was taken away, also without a plugin.
snapshot() {
	[ "$plugged" != gone ] || { reset; return; }
	say "$(human 'savevm one')"
	snapshots=$((snapshots + 1)) kept=$plugged
}
back() {
	[ "$kept" = "$plugged" ] && [ "$plugged" = no ] || { snapshot; return; }
	say "$(human 'loadvm one')"
	command cont
}
save() {
	[ "$plugged" != gone ] || { reset; return; }
	[ $arch != x86_64 ] || saved_smp=$smp
	say "{\"execute\":\"migrate\",\"arguments\":{\"uri\":\"exec:cat >$dir/saved\"}}"
	await 20 eval 'say "{\"execute\":\"query-migrate\"}"; grep -qE "completed|failed" $dir/answer'
	command cont
}

# ---- ways to end it ----

quit() { command quit; }
terminate() { kill -TERM "$machine"; }
power() { say '{"execute":"system_powerdown"}\n{"execute":"quit"}'; }
paused() { say '{"execute":"stop"}\n{"execute":"quit"}'; }
murder() { killed=yes; kill -KILL "$machine"; }
at_once() { say '{"execute":"system_reset"}\n{"execute":"quit"}'; }
ends=(quit terminate power paused at_once murder)

# Where the threads of a machine stand that hangs, where gdb is installed; $dir/threads is for a person to see.
threads() {
	: >"$dir/threads"
	type -P gdb >"$dir/found" || return
	timeout 60 gdb -batch -p "$machine" -ex 'thread apply all bt' 2>&1 |
		sed -nE '/^Thread |^#/s/ \(.*//p' >"$dir/threads"
}

# ended: ends it by one of these ways. True: in time, and well.
ended() {
	local well=0 hung=''
	random ${#ends[@]}
	act "${ends[chance]}"
	[ $plugged = no ] && [ $arch = x86_64 ] || rm -f "$dir/saved"	# another machine by then
	await 20 eval "! kill -0 $machine" || {
		hung=yes
		command query-status
		threads
		kill -KILL "$machine"
	}
	{ wait "$machine" || well=$?; } 2>/dev/null
	[ -z "$killed" ] || [ $well != 137 ] || well=0
	# QEMU also says so where one CPU writes to the registers by which another one is being taken away.
	sed -i '/terminating on signal 15/d; /Blocked re-entrant IO/d; /^$/d' "$dir/qemu"
	[ "$well" != 0 ] || [ -s "$dir/qemu" ] || return 0
	echo "# $log: ended with $well"
	[ -z "$hung" ] || { echo "# it did not end, and answered: $(tail -1 "$dir/answer")"; sed 's/^/# /' "$dir/threads"; }
	head -3 "$dir/qemu" | sed 's/^/# /'
	return 1
}
snapshots=0
