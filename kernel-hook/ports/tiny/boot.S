/* SPDX-License-Identifier: MIT */
/*
 * What C cannot express: the way from the loader to main(), the stubs of interrupts, and the switch of threads. The
 * loader comes in 32-bit protected mode (the Xen PVH boot protocol). Virtual addresses are physical ones.
 */
#define FRAME_RBP 64
#define FRAME_RIP 120

.macro function name
	.globl \name
	.type \name, @function
\name:
.endm

	.section .note.pvh, "a", @note
	.balign 4
	.long 4, 8, 18
	.asciz "Xen"
	.quad boot_start

	.section .stubs, "ax"
	.code32
function boot_start
	cld
	mov $table_4, %eax
	mov %eax, %cr3
	mov $0x20, %eax			/* CR4.PAE */
	mov %eax, %cr4
	mov $0xc0000080, %ecx		/* EFER.LME */
	mov $0x100, %eax
	xor %edx, %edx
	wrmsr
	mov $0x80000001, %eax		/* CR0.PG, PE */
	mov %eax, %cr0
	lgdt segments_pointer
	ljmp $0x08, $1f
	.code64
1:	mov $0x10, %eax			/* the data segment: IRET checks SS */
	mov %eax, %ss
	mov $boot_stack_end, %esp
	xor %ebp, %ebp
	call main

/*
 * The CPU has aligned the stack to 16 bytes and pushed 5 words. With 15 more the stack is aligned again, as C wants it;
 * the frame record { rbp, rip } of the interrupted code keeps that.
 */
function stub_timer
	.irp register, rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15
	push %\register
	.endr
	cld
	mov %rsp, %rdi			/* struct frame */
	mov %rsp, %rbx
	push FRAME_RIP(%rdi)
	push FRAME_RBP(%rdi)
	mov %rsp, %rbp
	call timer_interrupt
	mov %rbx, %rsp			/* takes the record away */
	.irp register, r15, r14, r13, r12, r11, r10, r9, r8, rbp, rdi, rsi, rdx, rcx, rbx, rax
	pop %\register
	.endr
function stub_other			/* a spurious interrupt: nothing to do */
	iretq
	.size stub_timer, . - stub_timer

/* switch_stacks(uint64_t *save, uint64_t load). Interrupts off. */
	.text
function switch_stacks
	push %rbp
	mov %rsp, %rbp
	.irp register, rbx, r12, r13, r14, r15
	push %\register
	.endr
	mov %rsp, (%rdi)
	mov %rsi, %rsp
	.irp register, r15, r14, r13, r12, rbx, rbp
	pop %\register
	.endr
	ret
	.size switch_stacks, . - switch_stacks

function thread_begin			/* rbx: the function to run; rbp is zero, so walks end here */
	sti
	call *%rbx
	.size thread_begin, . - thread_begin

	.data
	.balign 8
segments:
	.quad 0
	.quad 0x00af9a000000ffff	/* 64-bit code */
	.quad 0x00cf92000000ffff	/* data */
segments_pointer:
	.word . - segments - 1
	.long segments

	.balign 4096			/* 1 GiB in pages of 2 MiB */
table_4:
	.quad table_3 + 3
	.fill 511, 8, 0
table_3:
	.quad table_2 + 3
	.fill 511, 8, 0
table_2:
	.set page, 0
	.rept 512
	.quad page * 0x200000 + 0x83
	.set page, page + 1
	.endr

	.bss
	.balign 16
	.skip 4096
boot_stack_end:

	.section .note.GNU-stack, "", @progbits
