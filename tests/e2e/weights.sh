# SPDX-License-Identifier: MIT
# What is in the files that ktop exports or saves. Sourced after lib.sh, where $ktop is set.

csv_weight() { awk -F, 'NR > 1 { sum += $(NF - 1) } END { print sum }' "$1"; }
table_weight() { cells "$1" | awk -F'\t' 'NR > 1 { sum += $4 } END { print sum }'; }
# cells FILE: of CSV, with tabs between the fields.
cells() { perl -ne 's/"((?:[^"]|"")*)"/$1 =~ s{,}{\x1f}gr/ge; s/,/\t/g; s/\x1f/,/g; s/""/"/g; print' "$1"; }
folded_weight() { awk '{ sum += $NF } END { print sum }' "$1"; }
# What a file weighs: sampling periods, or nanoseconds where the format has only those. Each format needs a row here.
pprof_ns() {			# the second value of each sample, in the protobuf
	gunzip -c "$1" | perl -e '
		undef $/; my $all = <STDIN>; my $sum = 0;
		sub varint { my ($text, $at) = @_; my ($value, $shift) = (0, 0);
			while (1) { my $byte = ord substr $$text, $$at++, 1; $value |= ($byte & 127) << $shift; $shift += 7;
				return $value if $byte < 128 } }
		sub fields { my ($text, $take) = @_; my $at = 0;
			while ($at < length $$text) { my $key = varint($text, \$at);
				if (($key & 7) == 0) { varint($text, \$at); next }
				my $size = varint($text, \$at); $take->($key >> 3, substr $$text, $at, $size); $at += $size } }
		fields(\$all, sub { my ($field, $sample) = @_; return if $field != 2;
			fields(\$sample, sub { my ($part, $values) = @_; return if $part != 2;
				my $at = 0; varint(\$values, \$at); $sum += varint(\$values, \$at) }) });
		print "$sum\n"'
}
weighs() {
	case $1 in
	folded) folded_weight "$2" ;;
	json) jq .weight "$2" ;;
	csv) table_weight "$2" ;;
	csv-stacks) csv_weight "$2" ;;
	csv-times) awk -F, 'NR > 1 { n += $4 + $5 + $6 + $7 + $8 } END { print n }' "$2" ;;
	json-times) jq '[.slots[] | .kernel + .user + .idle + .irq + .softirq] | add' "$2" ;;
	svg) grep -o 'data-w="[0-9]*"' "$2" | sed '1!d; s/[^0-9]//g' ;;
	html) awk '/<\/script>/ { data = 0 } data { print } /id="data">/ { sub(/.*id="data">/, ""); data = 1; print }' "$2" |
		jq '.weight | add' ;;
	ctf) $ktop report "$2" --json | jq .weight ;;
	json-stacks) jq '[.sums[].weight] | add' "$2" ;;
	*) echo "$(nanoseconds "$@")ns" ;;
	esac
}
nanoseconds() {
	case $1 in
	pprof) pprof_ns "$2" ;;
	speedscope) jq '.profiles[0].weights | add' "$2" ;;
	perf-script) awk '/cpu-clock:$/ { ns += $(NF - 1) } END { printf "%.0f\n", ns }' "$2" ;;
	callgrind) awk '/^totals:/ { print $3 }' "$2" ;;
	firefox) jq '[.threads[] | select(.pid == "CPUs").samples.weight[] | . * 1000000 | round] | add' "$2" ;;
	chrome) jq '[.traceEvents[] | select(.ph == "E" and .cat == "thread").args.ns] | add' "$2" ;;
	*) echo "nobody reads $1" ;;
	esac
}
