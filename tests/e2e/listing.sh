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

# same_text FILE CODE OPTIONS...: at least 1,000 instructions of riscv64, each with the mnemonic, the operands and the target
# that objdump has with these options. Behind the name of what takes a number LLVM has an i, where binutils 2.40 have none;
# it writes numbers as decimal ones, zext.b as andi, and a fence of nothing as 0. What binutils do not know yet are words
# there.
same_text() {
	sed -n 's/^function //p' "$1" | while read -r low high; do
		riscv64-linux-gnu-objdump -z --no-show-raw-insn "${@:3}" --start-address="0x$low" --stop-address="0x$high" "$2"
	done | sed -nE 's/^ *([0-9a-f]+):\t/\1 1 - /p' | sed 's/\t/ /; s/ <.*//' >"$dir/objdump"
	awk '
	function decimal(text,  i, value) {
		if (text !~ /^0x/ || length(text) > 10) { sub(/^0x/, "", text); return text }	# or an address
		for (i = 3; i <= length(text); i++) value = 16 * value + index("0123456789abcdef", substr(text, i, 1)) - 1
		return value
	}
	function plain(mnemonic, operands, target,  at) {
		if (mnemonic == "zext.b") return "and " operands ",255"
		sub(/^0x/, "", target)
		sub(/unknown$/, "0", operands)
		at = match(operands, /[^,]*$/)
		operands = substr(operands, 1, at - 1) decimal(substr(operands, at))
		if (operands ~ /,-?[0-9]+$/ && mnemonic ~ /^(add|and|or|xor|sll|srl|sra|slt|csrr?[csw])i[wu]?$/) sub(/i/, "", mnemonic)
		return mnemonic " " operands (mnemonic ~ /^j/ ? " " target : "")
	}
	/^function/ { next }
	FILENAME ~ /objdump$/ { there[$1] = plain($4, $5, $7); next }
	{ count++; words += there[$1] ~ /^\.[24]byte/
	  if (there[$1] !~ /^\.[24]byte/ && plain($4, $5, $7) != there[$1]) { other++; print $0 " | " there[$1] } }
	END { print count + 0, "instructions", other + 0, "other", words + 0, "words"
	  exit !(count >= 1000 && !other && words * 100 < count) }' "$dir/objdump" "$1" | tail -12
	return "${PIPESTATUS[0]}"
}

# same_lines FILE ELF: at least 1,000 addresses, each with the line of addr2line. For some functions of headers addr2line
# has the right number, but the name of the file that includes the header: of ten headers and sources one may be so. Of
# 20 addresses one may be in another file for another reason.
same_lines() {
	grep -v '^function' "$1" | head -3000 >"$dir/mine"
	awk '{ print "0x" $1 }' "$dir/mine" | addr2line -e "$2" | sed 's/ (discriminator.*//; s/:?$/:0/; s|.*/||' >"$dir/theirs"
	paste -d ' ' "$dir/mine" "$dir/theirs" | awk '
	$NF ~ /:0$/ { next }			# addr2line knows no line
	{ count++; split($3, mine, ":"); split($NF, its, ":"); all += !(mine[1] in seen); seen[mine[1]]
	  if (mine[1] != its[1] && mine[1] ~ /\.h$/ && its[1] ~ /\.c$/) {
		headers += !((mine[1], its[1]) in included); included[mine[1], its[1]]
	  } else files += mine[1] != its[1]
	  if (mine[2] != its[2]) { other++; print } }
	END { print count + 0, "addresses", other + 0, "other lines", files + 0, "in other files;", all + 0, "files",
		headers + 0, "headers by the name of who includes them"
	  exit !(count >= 1000 && !other && files * 20 < count && headers * 10 < all + 10) }' | tail -12
	return "${PIPESTATUS[1]}"
}
