# SPDX-License-Identifier: MIT
# For the tests that boot Debian's own Linux kernel. A test sources lib.sh without a count, and then this with the
# count: `. tests/e2e/linux.sh 7`. This prints the plan, or that the whole test is skipped.
ktop=build/ktop
. tests/e2e/roots.sh

# skip REASON: one result that is no failure.
skip() {
	echo 1..1
	echo "ok 1 - Linux # SKIP $1"
	exit 0
}
(./packages && ./packages linux) >"$dir/packages" 2>&1 || skip "its packages cannot be had: $(tail -1 "$dir/packages")"
mkdir -p build
build() { flock build/linux.lock make -s "$@"; }	# one test of them at a time
build build/linux/vmlinuz >"$dir/packages" 2>&1 || skip "its kernel cannot be had: $(tail -1 "$dir/packages")"
echo "1..$1"
if ! build build/ktop build/ktop-plugin.so build/linux/initramfs >"$dir/make" 2>&1; then
	sed 's/^/# /' "$dir/make"
	exit 1
fi

# linux NAME WORDS QEMU-OPTIONS...: boots the guest with WORDS on its command line. A shell in it reads the commands
# that `guest` gives. Its console is in $dir/NAME.console. The port's device is called `ktop`, its controller
# `controller`.
linux() {
	local name=$1 words=$2
	shift 2
	mkfifo "$dir/$name.in"
	qemu-system-x86_64 -accel "${accel:-tcg}" -m 256 -display none -nodefaults -no-reboot \
		-kernel build/linux/vmlinuz -initrd build/linux/initramfs \
		-append "console=ttyS0 quiet tsc=reliable no_timer_check work=shell $words" \
		-serial "file:$dir/$name.console" -qmp "unix:$dir/$name.qmp,server=on,wait=off" \
		-device virtio-serial-pci,id=shell -chardev stdio,id=shell,signal=off \
		-device virtserialport,bus=shell.0,chardev=shell,name=shell \
		-device virtio-serial-pci,id=controller -chardev "socket,id=ktop,path=$dir/$name.port,server=on,wait=off" \
		-device virtserialport,bus=controller.0,chardev=ktop,name=org.ktop.0,id=ktop \
		"$@" <>"$dir/$name.in" >"$dir/$name.log" 2>"$dir/$name.qemu" &
	pid=$!
	started+=("$pid")
}

booted() { await 200 grep -q "^init: ready" "$dir/$1.log"; }

# ready NAME KIND QEMU-OPTIONS...: the guest as it is after its boot, without ktop.ko. KIND is `two`, with two CPUs, or
# `counted`, with one whose clock counts instructions. It boots once for all tests; its state, saved by QEMU, is where
# each goes on. The options may name no device.
declare -A kinds=([two]='-smp 2' [counted]='-smp 1 -icount shift=3,sleep=off')
ready() {
	local name=$1 kind=$2 state
	shift 2
	state=build/linux/ready-$kind
	(flock 9; is_saved || save_ready) 9>build/linux.lock >"$dir/ready" 2>&1 ||
		{ not_ok 'the guest boots' "$(cat "$dir/ready" "$dir/saving.qemu")"; exit 1; }
	# shellcheck disable=SC2086
	linux "$name" ktop=none ${kinds[$kind]} -incoming "exec:cat $state" "$@"
	await 60 runs "$name" && answers "$name" 'echo ready' ready >/dev/null ||
		{ not_ok 'the guest goes on' "$(cat "$dir/$name.log" "$dir/$name.qemu")"; exit 1; }
}
# Is there a state, of this kernel, initramfs and QEMU?
origin() { stat -L -c '%n %s %Y' build/linux/vmlinuz build/linux/initramfs; qemu-system-x86_64 --version; }
is_saved() { [ -e "$state" ] && origin | cmp -s - "$state.origin"; }
save_ready() {
	rm -f "$state" "$state.origin"
	# shellcheck disable=SC2086
	linux saving ktop=none ${kinds[$kind]} 9>&-
	booted saving && qmp saving migrate "\"uri\":\"exec:cat >$state.new && mv $state.new $state\"" && await 60 migrated
	end "$pid"
	await 10 test -e "$state" && origin >"$state.origin"
}
runs() { qmp "$1" query-status '' && grep -q '"status": "running"' "$dir/$1.answer"; }
migrated() { qmp saving query-migrate '' && grep -q '"status": "completed"' "$dir/saving.answer"; }

# guest NAME COMMANDS: runs them in the guest. Their output is in $dir/answer.
guest() {
	local mark=$RANDOM$RANDOM
	printf 'echo begin-%s\n%s\necho end-%s\n' "$mark" "$2" "$mark" >"$dir/$1.in"
	await 120 grep -q "^end-$mark" "$dir/$1.log"
	sed "0,/^begin-$mark/d; /^end-$mark/,\$d" "$dir/$1.log" >"$dir/answer"
}
# put NAME FILE: the guest has the file, in its root folder, executable.
put() {
	guest "$1" "base64 -d <<END | gunzip >/$(basename "$2")
$(gzip -c "$2" | base64)
END
chmod +x /$(basename "$2")"
}
answers() { guest "$1" "$2"; grep -qxF -- "$3" "$dir/answer" || { cat "$dir/answer"; false; }; }

# report NAME OPTIONS...: makes a report, in $dir/report; behind it stands what else ktop says, but for what it waits for
# on a busy host.
report() {
	local name=$1 status
	shift
	timeout 300 $ktop report --qmp "$dir/$name.qmp" --wait 60 "$@" >"$dir/report" 2>"$dir/said" </dev/null
	status=$?
	grep -vE '^ktop: (waits|looks) for ' "$dir/said" >>"$dir/report"
	return $status
}

# longer CHECK: reports of more and more seconds, until one passes. On a busy host samples are few, since the guest gets
# little of its CPUs' time; and ktop takes a while to read files, before which stacks are not whole, or have no lines.
longer() {
	local seconds
	for seconds in 4 10 30 60 120 300; do "$1" $seconds && return; done
	return 1
}

# row FUNCTION OBJECT: has the report such a row?
row() { awk -v f="$1" -v o="$2" '$5 == f && $6 == o {found = 1} END {exit !found}' "$dir/report"; }

# placed NAME: the kernel is at another address in each boot. Are functions named where this guest has them?
placed() {
	guest "$1" 'grep -E " (_text|vfs_read|__do_sys_getppid|ktop_drain)\b" /proc/kallsyms'
	sed -n 's/ . _text$//p' "$dir/answer" >"$dir/$1.place"
	sed -nE '/ _text$/!s/^0*([0-9a-f]+) . ([a-z_]+).*/\1 \2/p' "$dir/answer" | sort >"$dir/$1.is"
	[ "$(wc -l <"$dir/$1.is")" = 3 ] && { told "$1" 1 || told "$1" 5 || told "$1" 20; }
}
# told NAME SECONDS: are these three names in a recording of so many seconds, and nowhere else? The guest tells them again
# when ktop has read QEMU's file of the kernel: a fast one has told them all before.
told() {
	rm -rf "$dir/$1.raw"
	report "$1" --seconds "$2" --raw "$dir/$1.raw"
	babeltrace2 "$dir/$1.raw" 2>/dev/null |
		sed -nE 's/.* symbol: .*address = ([0-9]+), .*[ ,]name = "(vfs_read|__do_sys_getppid|ktop_drain)" .*/\1 \2/p' |
		while read -r address name; do printf '%x %s\n' "$address" "$name"; done | sort -u | diff "$dir/$1.is" -
}

# books NAME: makes a report on a guest whose profiler is off. $dir/books then has what the guest says of each CPU:
# number, events taken, events lost.
books() {
	rm -rf "$dir/books.raw"
	report "$1" --seconds 0.5 --top 0 --json --raw "$dir/books.raw"
	babeltrace2 "$dir/books.raw" 2>/dev/null | sed -nE \
		's/.* cpu_status: .*[{ ]cpu = ([0-9]+), stream = 1, enabled = 0, taken = ([0-9]+), lost = ([0-9]+).*/\1 \2 \3/p' |
		awk '{last[$1] = $0} END {for (cpu in last) print last[cpu]}' | sort >"$dir/books"
}

# agree NAME: has ktop received, or counted as lost, every event that the guest has ever taken?
agree() {
	books "$1"
	jq -r '.books[] | select(.stream == "samples") | "\(.cpu) \(.taken)"' "$dir/report" | sort | diff - <(cut -d' ' -f1,2 "$dir/books") &&
		[ -s "$dir/books" ]
}
