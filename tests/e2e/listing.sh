# SPDX-License-Identifier: MIT
# Compares code as ktop lists it with what binutils say of the same file. Sourced after lib.sh.

# listing FILE FUNCTIONS: so many functions of the file, as Annotate shows them (listing.c).
listing() { timeout 60 build/check/listing "$@"; }

# disassembled FILE ELF: for the functions in FILE (of the tool `listing`), what objdump says: "ADDRESS SIZE MNEMONIC".
# $objdump: another one, for another architecture.
disassembled() {
	sed -n 's/^function //p' "$1" | while read -r low high; do
		${objdump-objdump} -dz --no-show-raw-insn --start-address="0x$low" --stop-address="0x$high" "$2" |
			awk -v high="$high" -F '\t' '/^ *[0-9a-f]+:\t/ { sub(/^ */, "", $1); print $1, $2 } END { print high ": end" }'
	done | awk '{ sub(/:$/, "", $1)
		if (before) print before
		before = $2 == "end" ? "" : $1 " " $2 " " $3 }'
}

# same_places FILE ELF: at least 1,000 instructions, which begin where objdump has one, and nowhere else.
same_places() {
	disassembled "$1" "$2" | cut -d ' ' -f 1 | sort -u >"$dir/objdump"
	grep -v '^function' "$1" | cut -d ' ' -f 1 | sort -u >"$dir/ours"
	diff "$dir/ours" "$dir/objdump" >"$dir/other"
	[ "$(wc -l <"$dir/ours")" -ge 1000 ] && ! head "$dir/other" | grep .
}

# same_code FILE ELF: at least 1,000 instructions; each is where objdump has one, and of 1,000 less than 10 have another
# mnemonic than there. Both libraries have names of their own for some; the size in a name is left out.
same_code() {
	disassembled "$1" "$2" >"$dir/objdump"
	awk '
	function plain(word) {
		if (word ~ /^mov(s|z|n|abs)/) return "mov"
		if (word == "b.lo") return "b.cc"
		if (word == "b.hs") return "b.cs"
		if (word ~ /^(cltq|cdqe|cqto|cltd|cwtl)$/) return "convert"
		if (word ~ /^(data16|cs|ds|es|ss|fs|gs|rep|repz|repnz|lock|notrack|rex.*|bnd|addr32)$/) return "prefix"
		return word
	}
	function same(a, b) { return a == b || a ~ "^" b "[bwlq]$" || b ~ "^" a "[bwlq]$" || a == "prefix" || b == "prefix" ||
		a " " b ~ /^(movd movq|nop xchg)$/ }	# of 64 bits; and xchg %ax,%ax is the nop of two bytes
	FILENAME ~ /objdump/ { there[$1] = plain($2); next }
	/^function/ { next }
	{ count++; if (!($1 in there)) { missing++; print "missing", $0; next }
	  if (!same(plain($4), there[$1])) { other++; print "other", $0, there[$1] } }
	END { print count + 0, "instructions", missing + 0, "missing", other + 0, "other"
	  exit !(count >= 1000 && !missing && other * 100 < count) }' "$dir/objdump" "$1" | tail -12
	return "${PIPESTATUS[0]}"
}

# same_lines FILE ELF: at least 1,000 addresses, each with the line of addr2line. For some functions of headers addr2line
# has the right number, but the name of the file that includes the header: one file in 20 may be another.
same_lines() {
	grep -v '^function' "$1" | head -3000 >"$dir/mine"
	awk '{ print "0x" $1 }' "$dir/mine" | addr2line -e "$2" | sed 's/ (discriminator.*//; s/:?$/:0/; s|.*/||' >"$dir/theirs"
	paste -d ' ' "$dir/mine" "$dir/theirs" | awk '
	$NF ~ /:0$/ { next }			# addr2line knows no line
	{ count++; split($3, mine, ":"); split($NF, its, ":"); files += mine[1] != its[1]
	  if (mine[2] != its[2]) { other++; print } }
	END { print count + 0, "addresses", other + 0, "other lines", files + 0, "other files"
	  exit !(count >= 1000 && !other && files * 20 < count) }' | tail -12
	return "${PIPESTATUS[1]}"
}
