# SPDX-License-Identifier: MIT
# Live screens in tmux, servers that misbehave, and the guest's speed by its own count of work. Sourced after lib.sh.
ktop=$PWD/build/ktop
export XDG_RUNTIME_DIR=$dir		# so no other live ktop of this user is found
export TERM=screen-256color
. tests/e2e/tmux.sh

# live NAME OPTIONS...: starts ktop on the machine of that name, 120x30, in $dir/NAME.home; $screen is its pid. $columns: as
# many of them. The title has all that it can tell in one row of 180.
live() {
	local name=$1
	shift
	mkdir -p "$dir/$name.home"
	session -s "$name" -x "${columns-120}" -y 30 -c "$dir/$name.home" \
		"exec $ktop ${*:---qmp $dir/$name.qmp} 2>$dir/$name.err"
	screen=$($tmux list-panes -t "$name" -F '#{pane_pid}')
}
text() { $tmux capture-pane -p -t "$1"; }
# on_screen NAME PATTERN...: all of them are there at once.
on_screen() {
	local pattern screen
	screen=$(text "$1")
	shift
	for pattern; do grep -qE -- "$pattern" <<<"$screen" || return; done
}
gone() { ! $tmux has-session -t "$1" 2>/dev/null; }
off_screen() { ! on_screen "$1" "$2"; }
press() { $tmux send-keys -t "$@"; }

# shows NAME PATTERN..., hides NAME PATTERN: waits, with a bound, until the screen does so; prints the screen if it does
# not.
shows() { await 30 on_screen "$@" || { text "$1"; false; }; }
hides() { await 30 off_screen "$@" || { text "$1"; false; }; }

# by_key NAME on|off: SPACE turns profiling on or off, by key. Where the host was too busy for a key, ktop takes the
# port; then it is tried again. ktop tells the way for some seconds only, but goes on to show the state.
by_key() {
	local -A marks=([on]='● REC' [off]='○ off')
	local other=on
	[ "$2" = off ] || other=off
	for _ in {1..20}; do
		press "$1" Space
		shows "$1" "${marks[$2]}" || return
		if await 1 on_screen "$1" "profiling $2 \\(by" && on_screen "$1" "profiling $2 \\(by key\\)"; then return; fi
		press "$1" Space
		shows "$1" "${marks[$other]}" || return
	done
	return 1
}

# kept NAME: the oracle's functions are still on the screen. again NAME COMMAND: gives it to the machine's second QMP.
kept() { on_screen "$1" ' oracle_flat ' || { text "$1"; false; }; }
again() { qmp "$1.again" "$2" ''; }
# second NAME: QEMU's options for a second QMP socket.
second() { echo "-qmp unix:$dir/$1.again.qmp,server=on,wait=off"; }

# says COMMAND...: runs it; its output is in $dir/out and $dir/err, its status in $status.
says() {
	timeout 200 "$@" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
}
complains() { [ "$status" = 1 ] && grep -qE -- "$1" "$dir/err" || { echo "$status"; cat "$dir/err"; false; }; }
has_table() { grep -q '  SELF%  TOTAL%' "$dir/out" || { cat "$dir/out" "$dir/err"; false; }; }

# server NAME <SCRIPT: the script serves each client of the socket $dir/NAME; $server is the server's pid.
server() {
	rm -f "$dir/$1"
	cat >"$dir/$1.sh"
	socat "UNIX-LISTEN:$dir/$1,fork" "EXEC:sh $dir/$1.sh" 2>"$dir/$1.err" &
	server=$!
	started+=("$server")
	await 10 listens "$dir/$1"
}

# cut_off SERVER: ends the server and its connections.
cut_off() {
	local serving
	serving=$(cat "/proc/$1/task/$1/children")
	# shellcheck disable=SC2086
	kill $1 $serving
}

# ---- the guest's speed: pieces of the oracle's work in a guest second, by the oracle's own count ----

# Where the clock counts instructions, a guest second is a fixed number of them. What the host does elsewhere then does
# not matter; what the guest does beside its work does. One CPU, since two that count starve each other when a timer of
# one has run out.
counted='-smp 1 -icount shift=2,sleep=off'

reports() { grep -c 'oracle: end' "$dir/$1.log"; }
has_reports() { [ "$(reports "$1")" -ge "$2" ]; }

# speed NAME FIRST LAST: the speed between two reports on the machine's console.
speed() {
	tr -d '\r' <"$dir/$1.log" | awk -F '[= ]' -v first="$2" -v last="$3" '
		/^oracle: name=/ { for (i = 1; i < NF; i++) if ($i == "calls") calls += $(i + 1) }
		/^oracle: end/ {
			if (++block == first) { calls0 = calls; time0 = $NF }
			if (block == last) { printf "%.1f\n", (calls - calls0) * 1e9 / ($NF - time0); exit }
			calls = 0
		}'
}

# speed_now NAME: the speed in the next four guest seconds. They count instructions, so they take long on a busy host.
speed_now() {
	local from=$(($(reports "$1") + 1))
	await 240 has_reports "$1" $((from + 4)) && speed "$1" $from $((from + 4))
}

# at_speed NAME FULL: the guest goes on, at nine tenths of that speed or more.
at_speed() {
	local now
	now=$(speed_now "$1") || { echo 'it stands still'; return 1; }
	echo "$now of $2 a second"
	awk -v now="$now" -v full="$2" 'BEGIN { exit !(full > 0 && now >= 0.9 * full) }'
}
