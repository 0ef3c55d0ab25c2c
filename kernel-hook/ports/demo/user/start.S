/* SPDX-License-Identifier: MIT */
/* Where a program begins. RDI has the argument. Walks by frame pointers end here. */
	.text
	.globl _start
	.type _start, @function
_start:
	xor %ebp, %ebp
	call main
	mov %rax, %rdi
	xor %eax, %eax			/* CALL_EXIT */
	syscall
	ud2
	.size _start, . - _start
	.section .note.GNU-stack, "", @progbits
