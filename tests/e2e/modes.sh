# SPDX-License-Identifier: MIT
# What a program left of a terminal's modes, by all that it sent, which is in $dir/log; sourced after lib.sh.

# modes_off [begun]: behind whatever was switched on it was switched off: screen, cursor, mouse, paste, keypad.
# All of them were on, or those that it has `begun`.
last() { grep -aboF -- "$1" "$dir/log" | tail -1 | cut -d: -f1; }
modes_off() {
	local pair on off
	for pair in '[?1049h [?1049l' '[?25l [?25h' '1000h 1000l' '[?2004h [?2004l' '[?1h [?1l'; do
		on=$(last "${pair% *}")
		[ "$on" ] || [ "${1-}" != begun ] || continue
		off=$(last "${pair#* }")
		[ "${on:-none}" != none ] && [ "${off:-0}" -gt "$on" ] || { echo "left: $pair"; return 1; }
	done
}
