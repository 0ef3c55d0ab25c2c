/* SPDX-License-Identifier: MIT */
/*
 * thread_switch(uint64_t *save, uint64_t load): pushes the caller's registers and stores its stack pointer in *save.
 * Then it goes on with the thread whose stack pointer is `load`. Interrupts off.
 */
	.text
	.globl thread_switch, thread_begin

	.type thread_switch, @function
thread_switch:
	push %rbp
	mov %rsp, %rbp			/* a frame record, as in any C function */
	push %rbx
	push %r12
	push %r13
	push %r14
	push %r15
	mov %rsp, (%rdi)
	mov %rsi, %rsp
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbx
	pop %rbp
	ret
	.size thread_switch, . - thread_switch

/* Where every kernel thread begins. RBP is zero, so a walk ends here. */
	.type thread_begin, @function
thread_begin:
	call thread_main
	ud2
	.size thread_begin, . - thread_begin

	.section .note.GNU-stack, "", @progbits
