# SPDX-License-Identifier: MIT
# A server of tmux for one test: `$tmux COMMAND...`. It stays when its last session ends, or else a session that begins
# in that moment would find a server that goes. It starts here, so that it holds no file that the test opens later.
# Sourced after lib.sh.
echo 'set -s exit-empty off' >"$dir/tmux.conf"
tmux="tmux -L ktop-test-$$ -f $dir/tmux.conf"
cleanup() { $tmux kill-server 2>/dev/null; }
$tmux start-server
