# SPDX-License-Identifier: MIT
# Compares recordings as ktop reads them with what babeltrace2 reads. Sourced after lib.sh.

# is_on FOLDER: the guest's status that it samples has been recorded there.
is_on() { LC_ALL=C grep -qaP '\x01\0\xe5\x03\0\0\xff\xff\xff\xff' "$1"/*/meta_0; }

# theirs FOLDER NAME, ours FOLDER NAME: events by CPU and kind, in $dir/NAME.theirs, $dir/NAME.ours. What babeltrace2
# complains of is in $dir/NAME.bt, ktop's report in $dir/NAME.json.
theirs() {
	babeltrace2 "$1" 2>"$dir/$2.bt" | sed -nE 's/^\[[^]]*\] \([^)]*\) ([a-z_0-9]+): \{ .*cpu_id = ([0-9]+) .*/\2 \1/p' |
		sort | uniq -c | awk '{ print $2, $3, $1 }' >"$dir/$2.theirs"
}
ours() {
	timeout 120 build/ktop report "$1" --json >"$dir/$2.json" 2>"$dir/$2.err"
	jq -r '.events[] | "\(.cpu) \(.name) \(.count)"' "$dir/$2.json" | sort >"$dir/$2.ours"
}

# same FOLDER NAME: they agree, and babeltrace2 has nothing to complain of. On a busy host events may be lost: then the
# books say so, too. Those lost before a recording begins count there as earlier ones, to babeltrace2 as its first ones.
same() {
	local lost='Tracer (discarded [0-9]+|may have discarded) events?'
	theirs "$1" "$2"
	ours "$1" "$2"
	diff "$dir/$2.ours" "$dir/$2.theirs" && [ -s "$dir/$2.ours" ] && ! grep -Ev "^$|$lost" "$dir/$2.bt" &&
		{ ! grep -qE "$lost" "$dir/$2.bt" || holds '[.books[] | .lost + .earlier] | add > 0' "$2"; }
}

# counts_as_said FILE NAME: what `ktop record` has said at its end, in FILE, are the events that babeltrace2 counts.
counts_as_said() {
	local said
	said=$(sed -nE 's/.*: recorded: samples and gaps ([0-9]+), other events ([0-9]+), .*/\1 \2/p' "$1")
	[ "$said" ] && diff <(echo "$said") <(awk '{ if ($2 ~ /^(sample|missed|raw_sample|task_sample|stacks_sample|walked_sample|program_sample)$/) samples += $3; else others += $3 }
		END { print samples + 0, others + 0 }' "$dir/$2.theirs")
}

# On $dir/NAME.json: holds FILTER NAME: is jq's filter true? balanced NAME: do the books balance? samples NAME and
# functions NAME print what a live report and the report of its recording have in common.
holds() { jq -e "$1" "$dir/$2.json" >/dev/null || { cat "$dir/$2.json"; false; }; }
balanced() { holds '[.books[] | .taken == .earlier + .received + .lost] | all' "$1" && holds '.samples > 0' "$1"; }
samples() { jq -S '[.books[] | select(.stream == "samples")], .samples, .weight, .missed' "$dir/$1.json"; }
functions() { jq -r '.functions[] | "\(.name) \(.object) \(.self) \(.total)"' "$dir/$1.json" | sort; }
