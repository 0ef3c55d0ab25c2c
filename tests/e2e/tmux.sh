# SPDX-License-Identifier: MIT
# A server of tmux for one test: `$tmux COMMAND...`. It ends with its last session: one that stays was seen to leave
# programs behind that had ended. `session ARGUMENTS...` begins a session; one that meets a server that is just ending
# begins again. Sourced after lib.sh.
tmux="tmux -L ktop-test-$$ -f /dev/null"
cleanup() { $tmux kill-server 2>/dev/null; }
session() { await 5 $tmux new-session -d "$@"; }
