/* SPDX-License-Identifier: MIT */
/*
 * The ways into the kernel. Each lays a struct frame on the stack, then calls C.
 *
 * If the kernel itself was interrupted, they also lay a frame record { frame pointer, rip } of the interrupted code,
 * so that a walk by frame pointers goes on there:
 *
 *   rbp of C's caller --> | interrupted rbp | interrupted rip | struct frame ... |
 *
 * If a program was interrupted, the frame pointer is zero: the walk ends here.
 */
#include "ports/demo/machine/layout.h"

#define FRAME_RBP 64
#define FRAME_RIP 136
#define FRAME_CS 144
#define VECTOR_NMI 2
#define VECTOR_SYSCALL 256

/* struct cpu begins with these two. Only here, between two SWAPGS, does GS point to it. */
#define CPU_KERNEL_STACK 0
#define CPU_USER_STACK 8

.macro push_registers
	push %rax
	push %rbx
	push %rcx
	push %rdx
	push %rsi
	push %rdi
	push %rbp
	push %r8
	push %r9
	push %r10
	push %r11
	push %r12
	push %r13
	push %r14
	push %r15
.endm

.macro pop_registers
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %r11
	pop %r10
	pop %r9
	pop %r8
	pop %rbp
	pop %rdi
	pop %rsi
	pop %rdx
	pop %rcx
	pop %rbx
	pop %rax
.endm

/* RDI and RBX get the address of the frame; RBP that of a frame record, or zero. */
.macro lay_record
	mov %rsp, %rdi
	mov %rsp, %rbx
	cld
	xor %ebp, %ebp
	testb $3, FRAME_CS(%rdi)
	jnz 1f
	push FRAME_RIP(%rdi)
	push FRAME_RBP(%rdi)
	mov %rsp, %rbp
1:
.endm

	.section .entry, "ax"
	.globl entry_stubs, entry_syscall, entry_leave

/* A stub of 16 bytes for each vector. For some exceptions the CPU pushes an error code; the others push 0. */
	.type entry_stubs, @function
entry_stubs:
	.set vector, 0
	.rept 256
	.balign 16
	.if !(vector == 8 || (vector >= 10 && vector <= 14) || vector == 17 || vector == 21)
	push $0
	.endif
	push $vector
	.if vector == VECTOR_NMI
	jmp entry_nmi
	.else
	jmp entry_interrupt
	.endif
	.set vector, vector + 1
	.endr
	.size entry_stubs, . - entry_stubs

	.type entry_interrupt, @function
entry_interrupt:
	push_registers
	lay_record
	call trap_handle
	mov %rbx, %rsp
	pop_registers
	add $16, %rsp
	iretq
	.size entry_interrupt, . - entry_interrupt

/* The NMI's stub has a stack of its own. It uses neither GS nor any other stack, whatever was interrupted. */
	.type entry_nmi, @function
entry_nmi:
	push_registers
	lay_record
	call trap_nmi
	mov %rbx, %rsp
	pop_registers
	add $16, %rsp
	iretq
	.size entry_nmi, . - entry_nmi

/* SYSCALL comes here. RCX has the caller's rip, R11 its flags; interrupts are off (MSR_FMASK). */
	.type entry_syscall, @function
entry_syscall:
	swapgs
	mov %rsp, %gs:CPU_USER_STACK
	mov %gs:CPU_KERNEL_STACK, %rsp
	push $USER_DATA
	push %gs:CPU_USER_STACK
	swapgs
	push %r11
	push $USER_CODE
	push %rcx
	push $0
	push $VECTOR_SYSCALL
	push_registers
	lay_record
	call syscall_handle
	mov %rbx, %rsp
	pop_registers
	add $16, %rsp
	pop %rcx
	add $8, %rsp
	pop %r11
	pop %rsp
	sysretq
	.size entry_syscall, . - entry_syscall

/* entry_leave(frame): goes to user mode for the first time. Interrupts off. */
	.type entry_leave, @function
entry_leave:
	mov %rdi, %rsp
	pop_registers
	add $16, %rsp
	iretq
	.size entry_leave, . - entry_leave

	.section .note.GNU-stack, "", @progbits
