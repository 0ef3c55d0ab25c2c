# SPDX-License-Identifier: MIT
# Compares recordings as ktop reads them with what babeltrace2 reads. Sourced after lib.sh.

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

# same FOLDER NAME: they agree, and babeltrace2 has nothing to complain of.
same() {
	theirs "$1" "$2"
	ours "$1" "$2"
	diff "$dir/$2.ours" "$dir/$2.theirs" && [ -s "$dir/$2.ours" ] && ! grep -v '^$' "$dir/$2.bt"
}

# On $dir/NAME.json: holds FILTER NAME: is jq's filter true? balanced NAME: do the books balance? samples NAME and
# functions NAME print what a live report and the report of its recording have in common.
holds() { jq -e "$1" "$dir/$2.json" >/dev/null || { cat "$dir/$2.json"; false; }; }
balanced() { holds '[.books[] | .taken == .earlier + .received + .lost] | all' "$1" && holds '.samples > 100' "$1"; }
samples() { jq -S '[.books[] | select(.stream == "samples")], .samples, .weight, .missed' "$dir/$1.json"; }
functions() { jq -r '.functions[] | "\(.name) \(.object) \(.self) \(.total)"' "$dir/$1.json" | sort; }
