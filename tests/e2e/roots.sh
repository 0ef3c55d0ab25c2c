# SPDX-License-Identifier: MIT
# Where the stacks of a Linux kernel begin. Sourced after lib.sh.

# By architecture: where it is entered, and where its own threads and CPUs begin.
declare -A roots=(
	[amd64]='entry_|asm_|ret_from_fork|error_entry|error_return|syscall_return_via_sysret|secondary_startup_64|common_interrupt_return|swapgs_'
	[i386]='entry_|asm_|ret_from_fork|handle_exception|common_interrupt|restore_all_switch_stack|startup_32_smp'
	[arm64]='el0t_64_|el0_|ret_to_user|ret_from_fork|vectors|\[entry_trampoline\]|__primary_switched|__secondary_switched'
	[riscv64]='handle_exception|ret_from_exception|ret_from_fork|_start_kernel|secondary_start_sbi|smp_callin'
)

# rooted [PERCENT [ARCHITECTURE]]: of the stacks in $dir/folded with kernel frames, so many have to begin there; 98 % of
# amd64 if not said.
rooted() {
	percent=${1:-98} roots=${roots[${2:-amd64}]} perl -ne '
		my ($stack, $weight) = /^(.*) (\d+)$/ or next;
		my ($first) = grep { /_\[k\]$/ } split /;/, $stack or next;
		$all += $weight;
		if ($first =~ /^($ENV{roots})/) { $good += $weight }
		else { $other{$first} += $weight }
		END {
			printf "%d of %d, %.1f %%\n", $good, $all, $all ? 100 * $good / $all : 0;
			print "$_ $other{$_}\n" for sort { $other{$b} <=> $other{$a} } keys %other;
			exit !($all > 500 && 100 * $good >= $ENV{percent} * $all);
		}' "$dir/folded"
}
