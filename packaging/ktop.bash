# SPDX-License-Identifier: MIT
# Completion for bash. Commands, options and values come from the program's own --help.

_ktop_help() {
	"${COMP_WORDS[0]/#\~/$HOME}" "$@" --help 2>/dev/null
}

# The words that the hook takes after those that were typed.
_ktop_control() {
	case $* in
	'') echo 'start stop rate sampler cpu events mark keys read task function place status hello echo help' ;;
	sampler) echo 'timer nmi' ;;
	keys) echo 'chord plain' ;;
	cpu) echo 'all' ;;
	'cpu '*) [ $# = 2 ] && echo 'on off' ;;
	events*) echo '+sched -sched +irq -irq +syscall -syscall +all -all' ;;
	esac
}

# Completes a value. Its kind is the word that stands for it in the help.
_ktop_value() {
	case $1 in
	*'|'*) mapfile -t COMPREPLY < <(compgen -W "${1//|/ }" -- "$2") ;;
	FORMAT) mapfile -t COMPREPLY < <(compgen -W \
		"$("${COMP_WORDS[0]/#\~/$HOME}" export --format help | sed -nE 's/^  ([a-z-]+) .*/\1/p')" -- "$2") ;;
	FILE | ELF | SOCKET) compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
	DIR) compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -d -- "$2") ;;
	esac
}

# Completes QEMU's own command line, from word $1 on.
_ktop_other() {
	if declare -F _command_offset >/dev/null; then
		_command_offset "$1"
	elif [ "$1" = "$COMP_CWORD" ]; then
		mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
	fi
}

_ktop() {
	local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} help at=2 value='' name
	local more=--help
	local -a control=()

	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ] && [[ $word != -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W \
			"$(_ktop_help | sed -nE 's/^  ktop ([a-z]+) .*/\1/p')" -- "$word")
		return
	fi
	if [[ $command == -* ]]; then
		command=top at=1 more='--help --version'
	fi
	help=$(_ktop_help "$command")
	# bash makes the = in --name=VALUE a word of its own
	while [ "$at" -lt "$COMP_CWORD" ]; do
		name=${COMP_WORDS[at]}
		case $name in
		--) _ktop_other $((at + 1)); return ;;
		--*[!a-z-]*) ;;
		--*) value=$(sed -nE "s/^  $name ([^ ]+) .*/\1/p" <<<"$help") ;;
		=) ;;
		*) [ -n "$value" ] || control+=("$name")
			value= ;;
		esac
		at=$((at + 1))
	done
	if [ "$word" = = ]; then
		word=
	fi
	if [ -n "$value" ]; then
		_ktop_value "$value" "$word"
	elif [[ $word == -* && ${#control[@]} = 0 ]]; then
		mapfile -t COMPREPLY < <(compgen -W \
			"$(sed -nE 's/^  (--[a-z-]+) .*/\1/p' <<<"$help") $more" -- "$word")
	elif [ "$command" = ctl ]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_ktop_control "${control[@]}")" -- "$word")
	elif [[ $command == @(diff|size) ]]; then
		_ktop_value FILE "$word"
	elif [[ $command == @(report|export) ]]; then
		_ktop_value DIR "$word"
	fi
}

complete -F _ktop ktop
