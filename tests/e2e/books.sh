# SPDX-License-Identifier: MIT
# The books of a machine from three sides, for tests/e2e/books and tests/soak; sourced after lib.sh.
#
# A machine's guest prints its own counts (books=on). `ktop report --json --raw` has ktop's, and makes a
# recording, from which babeltrace2 gives what it finds: the events, those that the packets call discarded,
# and those between the packets, by their count of events before. The profiler is off when they are compared.

ktop=build/ktop
export XDG_RUNTIME_DIR=$dir		# no other live ktop of this user is in the way
tmux="tmux -L ktop-test-$$ -f /dev/null"
cleanup() { $tmux kill-server 2>/dev/null; }

# random N: $chance, below N. What is left to chance comes from $SEED.
SEED=${SEED:-$((RANDOM << 15 | RANDOM))}
echo "# SEED=$SEED"
draw=$SEED
random() {
	draw=$(((draw * 1103515245 + 12345) & 0x7fffffff))
	chance=$(((draw >> 8) % $1))
}

# machine NAME WORDS QEMU-OPTIONS...: a guest that counts, and traces all.
machine() {
	boot "$1" "books=on mix.seconds=1 $2" "${@:3}" && await 60 blocks "$1" 1 &&
		await 10 $ktop ctl --qmp "$dir/$1.qmp" events +all
}

# Has the console shown so many times what was counted?
blocks() { [ "$(grep -c '^books: end' "$dir/$1.log")" -ge "$2" ]; }

# more NAME N: awaits what the guest counts N of its seconds from now.
more() { await $((10 * $2 + 20)) blocks "$1" $(($(grep -c '^books: end' "$dir/$1.log") + $2)); }

# listen NAME RECORDING OPTIONS...: a host that records until it is told to end, or has done its seconds.
declare -A hosts
listen() {
	$ktop report --qmp "$dir/$1.qmp" --json --wait 60 --raw "$dir/$2.raw" "${@:3}" >"$dir/$2.json" \
		2>"$dir/$2.err" </dev/null &
	hosts[$2]=$!
	started+=("$!")
}
hears() { await 20 eval "test -s $dir/$2.raw/*/samples_0" && more "$1" 1; }
ends() { kill -TERM "${hosts[$1]}" && wait "${hosts[$1]}"; }

# cpu stream taken, by the guest itself; and what it dropped
guests() {
	tr -d '\r' <"$dir/$1.log" | awk -F '[ =/]' '
		/^books: cpu=/ { block = block $3 " samples " $5 " " $6 "\n" $3 " trace " $8 " " $9 "\n" }
		/^books: end/ { last = block; block = "" }
		END { printf "%s", last }' | sort
}

# cpu stream taken earlier received lost, by ktop
ours() {
	jq -r '.books[] | "\(.cpu) \(.stream) \(.taken) \(.earlier) \(.received) \(.lost)"' "$dir/$1.json" | sort
}

# cpu stream received lost, by babeltrace2; of the lost, those on the way
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

# agree NAME RECORDING: what the guest took is what ktop accounts for, as soon as it has said so; and ktop
# and babeltrace2 have received and lost the same.
same_taken() { cmp <(guests "$1" | cut -d ' ' -f 1-3) <(ours "$2" | cut -d ' ' -f 1-3); }
agree() {
	await 20 same_taken "$1" "$2" || { guests "$1"; echo; ours "$2"; cat "$dir/$2.err"; return 1; }
	diff <(ours "$2" | cut -d ' ' -f 1,2,5,6) <(theirs "$2" | cut -d ' ' -f 1-4)
}

# What the guest says it dropped is what babeltrace2 finds discarded: for a recording from the beginning.
same_dropped() { diff <(guests "$1" | cut -d ' ' -f 1,2,4) <(theirs "$2" | awk '{ print $1, $2, $4 - $5 }'); }

# Sums over all CPUs and streams, for those who read the log.
tell() {
	theirs "$1" | awk -v ours="$(ours "$1" | awk '{ n += $3 } END { print n }')" -v name="$1" '
		{ received += $3; lost += $4; way += $5 }
		END { printf "# %s: taken %d, received %d, lost %d (%d on the way)\n", name, ours, received, lost, way }'
}
lost() { theirs "$1" | awk '{ n += $4 } END { print n + 0 }'; }
received() { theirs "$1" | awk '{ n += $3 } END { print n + 0 }'; }
lossy() { [ "$(lost "$1")" -gt 0 ] && [ "$(received "$1")" -gt 0 ]; }

# ---- what is done to them ----

# unread NAME RECORDING SECONDS OPTIONS...: a host that stops reading for so many of the guest's seconds.
unread() {
	listen "$1" "$2" --seconds 100000 "${@:4}"
	hears "$1" "$2" && kill -STOP "${hosts[$2]}" && more "$1" "$3" && kill -CONT "${hosts[$2]}" &&
		more "$1" 1 && ends "$2"
}

# relayed NAME RECORDING OPTIONS...: listens through a relay, $relay, that can be cut.
relayed() {
	socat "unix-listen:$dir/$1.relay,fork" "unix-connect:$dir/$1.port" 2>"$dir/$1.socat" &
	relay=$!
	started+=("$relay")
	await 10 test -S "$dir/$1.relay" &&
		listen "$1" "$2" --port "$dir/$1.relay" --seconds 100000 "${@:3}" && hears "$1" "$2"
}
relaying() { grep -o '[0-9]*' "/proc/$relay/task/$relay/children"; }
sever() { relaying >"$dir/relaying" && xargs kill -KILL <"$dir/relaying"; }
severed() {
	local time
	for ((time = 0; time < $1; time++)); do
		random 300
		await 10 relaying && sleep "0.$(printf %03d "$chance")" && await 10 sever || return
	done
	await 10 relaying
}

# once NAME RECORDING OPTIONS...: a report, to its end.
once() {
	listen "$@"
	wait "${hosts[$2]}"
}

# words NAME TIMES: words for the hook, by chance; each is answered, by a refusal where NMIs have no CPU.
words() {
	local answer time words=(start stop 'mode timer' 'mode nmi' 'cpu 0 off' 'cpu 0 on' 'cpu all on' 'events -irq'
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

# restarts NAME TIMES: a few words, then a report, which starts and stops; each agrees.
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

# live NAME: a screen that listens from now on; reported NAME: its books, at a moment when nothing is taken.
live() {
	$tmux new-session -d -s "$1" -x 120 -y 30 "exec $ktop --qmp $dir/$1.qmp 2>$dir/$1.live.err"
}
reported() { $ktop report --qmp "$dir/$1.qmp" --seconds 0.2 --json >"$dir/$1.live.json"; }
