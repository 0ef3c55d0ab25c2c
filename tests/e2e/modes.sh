# SPDX-License-Identifier: MIT
# Which modes of its terminal a program left on, by all that it sent, which is in $dir/log. Sourced after lib.sh.

# modes_off [begun]: every mode that was switched on was switched off later: screen, cursor, mouse, paste, keypad. All
# of them have to have been on; with `begun`, only those count that were switched on at all.
last() { grep -aboF -- "$1" "$dir/log" | tail -1 | cut -d: -f1; }
modes_off() {
	local pair on off
	for pair in '[?1049h [?1049l' '[?25l [?25h' '1000h 1000l' '[?1006h [?1006l' '[?2004h [?2004l' '[?1h [?1l'; do
		on=$(last "${pair% *}")
		[ "$on" ] || [ "${1-}" != begun ] || continue
		off=$(last "${pair#* }")
		[ "${on:-none}" != none ] && [ "${off:-0}" -gt "$on" ] || { echo "left: $pair"; return 1; }
	done
}
