# SPDX-License-Identifier: MIT
# What the oracle's work took in truth, from the machine's console. Sourced after lib.sh.

# truth NAME [MACHINE]: for the blocks of the machine's console that lie within the range of the report $dir/NAME.json:
# "FUNCTION SELF TOTAL", in percent of the time between the first and the last of them; "of FUNCTION CALLER TOTAL" for each
# caller, in clock ticks; "all PERCENT": what all of them took together. Into $dir/NAME.truth.
truth() {
	tr -d '\r' <"$dir/${2-a}.log" | awk -v from="$(jq .from "$dir/$1.json")" -v to="$(jq .to "$dir/$1.json")" '
		function value(field) { sub(/.*=/, "", field); return field }
		$2 == "begin" { begin = value($3) / 1e9 }
		$1 == "oracle:" && $2 ~ /^name=/ {
			name = value($2); self[name] = value($3); total[name] = value($5)
			parts = split(value($7), callers, ",")
			for (i = 1; i <= parts; i++) { split(callers[i], caller, ":"); of[name " " caller[1]] = caller[2] }
		}
		$2 == "end" {
			at = begin + value($6) / value($4)
			if (at < from || at > to) next
			if (!first) {
				first = value($6)
				for (i in self) { self0[i] = self[i]; total0[i] = total[i] }
				for (i in of) of0[i] = of[i]
			}
			ticks = value($6) - first
			for (i in self) { self1[i] = self[i]; total1[i] = total[i] }
			for (i in of) of1[i] = of[i]
		}
		END {
			for (i in self1) {
				print i, 100 * (self1[i] - self0[i]) / ticks, 100 * (total1[i] - total0[i]) / ticks
				all += self1[i] - self0[i]
			}
			for (i in of1) print "of", i, of1[i] - of0[i]
			print "all", 100 * all / ticks
			exit !(ticks > 0)
		}' >"$dir/$1.truth"
}
near() { awk -v a="$1" -v b="$2" -v by="$3" 'BEGIN { d = a - b; exit !(a != "" && d <= by && d >= -by) }'; }

# true_change FUNCTION COLUMN: in percentage points. COLUMN: 2 is self, 3 is total.
true_change() {
	awk -v name="$1" -v column="$2" '$1 == name { if (FILENAME ~ /before/) was = $column; else is = $column; found++ }
		END { print found == 2 ? is - was : "" }' "$dir/before.truth" "$dir/after.truth"
}
