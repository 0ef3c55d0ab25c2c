# SPDX-License-Identifier: MIT
# The books of a machine from three sides, for tests/e2e/books and tests/soak. Sourced after lib.sh.
#
# The guest prints its own counts (books=on). `ktop report --json --raw` has ktop's counts, and makes a recording. In
# the recording, babeltrace2 counts the events, those that the packets call discarded, and those that are missing
# between packets, by events_before. The profiler is off when the three are compared.

ktop=build/ktop
export XDG_RUNTIME_DIR=$dir		# so no other live ktop of this user is found
. tests/e2e/tmux.sh

# random N: sets $chance to a random number below N. All random choices come from $SEED.
SEED=${SEED:-$((RANDOM << 15 | RANDOM))}
echo "# SEED=$SEED"
draw=$SEED
random() {
	draw=$(((draw * 1103515245 + 12345) & 0x7fffffff))
	chance=$(((draw >> 8) % $1))
}

# machine NAME WORDS QEMU-OPTIONS...: boots a guest that prints its counts, and switches all its trace events on.
machine() {
	boot "$1" "books=on mix.seconds=1 $2" "${@:3}" && await 60 blocks "$1" 1 &&
		await 10 $ktop ctl --qmp "$dir/$1.qmp" events +all -memory -fault
}

# blocks NAME N: has the guest printed its counts N times?
blocks() { [ "$(grep -c '^books: end' "$dir/$1.log")" -ge "$2" ]; }

# more NAME N: awaits the counts that the guest prints N guest seconds from now.
more() { await $((10 * $2 + 20)) blocks "$1" $(($(grep -c '^books: end' "$dir/$1.log") + $2)); }

# listen NAME RECORDING OPTIONS...: starts a host that records until it is told to end, or its seconds are over.
declare -A hosts
listen() {
	$ktop report --qmp "$dir/$1.qmp" --json --wait 60 --raw "$dir/$2.raw" "${@:3}" >"$dir/$2.json" \
		2>"$dir/$2.err" </dev/null &
	hosts[$2]=$!
	started+=("$!")
}
# hears NAME RECORDING: awaits that samples are recorded. ends RECORDING: ends that host, which then writes its report.
hears() { await 20 eval "test -s $dir/$2.raw/*/samples_0" && more "$1" 1; }
ends() { kill -TERM "${hosts[$1]}" && wait "${hosts[$1]}"; }

# Prints "cpu stream taken dropped", as the guest itself counts.
guests() {
	tr -d '\r' <"$dir/$1.log" | awk -F '[ =/]' '
		/^books: cpu=/ { block = block $3 " samples " $5 " " $6 "\n" $3 " trace " $8 " " $9 "\n" }
		/^books: end/ { last = block; block = "" }
		END { printf "%s", last }' | sort
}

# Prints "cpu stream taken earlier received lost", as ktop counts.
ours() {
	jq -r '.books[] | "\(.cpu) \(.stream) \(.taken) \(.earlier) \(.received) \(.lost)"' "$dir/$1.json" | sort
}

# Prints "cpu stream received lost on-the-way", as babeltrace2 counts; on-the-way is a part of lost.
theirs() {
	[ -f "$dir/$1.theirs" ] || count "$1" >"$dir/$1.theirs"
	cat "$dir/$1.theirs"
}
count() {
	babeltrace2 "$dir/$1.raw" -c sink.text.details -p with-metadata=false 2>"$dir/$1.bt" | tr -d ',' | awk '
		/^\{Trace/ { at = $6 " " $9 }
		/^Event / { received[at]++; next_one[at]++ }
		/^Discarded events/ { dropped[at] += substr($3, 2) }
		/^    events_before: / {
			if (at in next_one)
				missing[at] += $2 - next_one[at]
			next_one[at] = $2
		}
		/^    cpu_id: / { cpu[at] = $2 }
		END {
			split("samples trace", names, " ")
			for (at in cpu) {
				split(at, part, " ")
				if (part[1] > 0)
					print cpu[at], names[part[1]], received[at] + 0,
						dropped[at] + missing[at], missing[at] + 0
			}
		}' | sort
}

# same_taken NAME RECORDING: is ktop's taken the guest's? agree NAME RECORDING: awaits that; then ktop and babeltrace2
# must have the same received and lost.
same_taken() { cmp <(guests "$1" | cut -d ' ' -f 1-3) <(ours "$2" | cut -d ' ' -f 1-3); }
agree() {
	await 20 same_taken "$1" "$2" || { guests "$1"; echo; ours "$2"; cat "$dir/$2.err"; return 1; }
	diff <(ours "$2" | cut -d ' ' -f 1,2,5,6) <(theirs "$2" | cut -d ' ' -f 1-4)
}

# The guest's dropped is babeltrace2's discarded. Only for a recording from the beginning of the boot.
same_dropped() { diff <(guests "$1" | cut -d ' ' -f 1,2,4) <(theirs "$2" | awk '{ print $1, $2, $4 - $5 }'); }

# Prints the sums over all CPUs and streams, for the reader of the log.
tell() {
	theirs "$1" | awk -v ours="$(ours "$1" | awk '{ n += $3 } END { print n }')" -v name="$1" '
		{ received += $3; lost += $4; way += $5 }
		END { printf "# %s: taken %d, received %d, lost %d (%d on the way)\n", name, ours, received, lost, way }'
}
lost() { theirs "$1" | awk '{ n += $4 } END { print n + 0 }'; }
received() { theirs "$1" | awk '{ n += $3 } END { print n + 0 }'; }
lossy() { [ "$(lost "$1")" -gt 0 ] && [ "$(received "$1")" -gt 0 ]; }

# ---- what the tests do to machines and hosts ----

# unread NAME RECORDING SECONDS OPTIONS...: a host that does not read for so many guest seconds.
unread() {
	listen "$1" "$2" --seconds 100000 "${@:4}"
	hears "$1" "$2" && kill -STOP "${hosts[$2]}" && more "$1" "$3" && kill -CONT "${hosts[$2]}" &&
		more "$1" 1 && ends "$2"
}

# relayed NAME RECORDING OPTIONS...: listens through a relay, $relay. severed NAME TIMES: cuts the relay's connection so
# many times, each time after a random moment. Before the last time the relay stands still for a second of the guest: on a
# host that is quick, nothing may be on its way at any moment, but then all of that second is.
relayed() {
	socat "unix-listen:$dir/$1.relay,fork" "unix-connect:$dir/$1.port" 2>"$dir/$1.socat" &
	relay=$!
	started+=("$relay")
	await 10 listens "$dir/$1.relay" &&
		listen "$1" "$2" --port "$dir/$1.relay" --seconds 100000 "${@:3}" && hears "$1" "$2"
}
relaying() { grep -o '[0-9]*' "/proc/$relay/task/$relay/children"; }
sever() { relaying >"$dir/relaying" && xargs kill -KILL <"$dir/relaying"; }
severed() {
	local time
	for ((time = 1; time < $2; time++)); do
		random 300
		await 10 relaying && sleep "0.$(printf %03d "$chance")" && await 10 sever || return
	done
	await 10 relaying && relaying | xargs kill -STOP && more "$1" 1 && sever && await 10 relaying
}

# once NAME RECORDING OPTIONS...: makes a report, to its end.
once() {
	listen "$@"
	wait "${hosts[$2]}"
}

# words NAME TIMES: random control lines. Each has to be answered; nmi may be refused where only one CPU is there.
words() {
	local answer time words=(start stop 'sampler timer' 'sampler nmi' 'cpu 0 off' 'cpu 0 on' 'cpu all on' 'events -irq'
		'events +all' 'rate 20' 'rate 997' 'rate 20000' status hello help)
	for ((time = 0; time < $2; time++)); do
		random ${#words[@]}
		# shellcheck disable=SC2086
		answer=$($ktop ctl --qmp "$dir/$1.qmp" ${words[chance]} 2>&1) ||
			[[ $answer == *'nmi needs two CPUs'* ]] || { echo "$answer"; return 1; }
	done
	$ktop ctl --qmp "$dir/$1.qmp" cpu all on && $ktop ctl --qmp "$dir/$1.qmp" events +all &&
		$ktop ctl --qmp "$dir/$1.qmp" stop
}

# restarts NAME TIMES: a few control lines, then a report, which starts and stops profiling. Each report has to agree.
restarts() {
	local time one
	for ((time = 1; time <= $2; time++)); do
		one=$1$time
		random 5
		words "$1" "$chance" || return
		random 1000
		once "$1" "$one" --seconds "0.$(printf %03d $((chance + 1)))" && agree "$1" "$one" || return
	done
}

# live NAME: starts a screen, which listens from now on, and to the hook alone: on a busy host a hook may be late, and no
# word is to go to another source meanwhile. One that has ended is started again: such a QEMU may not answer in time.
# reported NAME: its books, while no sample is taken.
live() {
	$tmux has-session -t "$1" 2>/dev/null ||
		session -s "$1" -x 120 -y 30 "exec $ktop --qmp $dir/$1.qmp --source hook 2>>$dir/$1.live.err"
}
# lives NAME: has it the socket of the live ktop of this VM? `ctl status` would not tell: other VMs may have theirs.
lives() {
	live "$1"
	[ -S "${XDG_RUNTIME_DIR:?}/ktop/$(stat -c %D "$dir/$1.qmp")-$(printf %x "$(stat -c %i "$dir/$1.qmp")")" ]
}
reported() { $ktop report --qmp "$dir/$1.qmp" --wait 60 --seconds 0.2 --json >"$dir/$1.live.json"; }
