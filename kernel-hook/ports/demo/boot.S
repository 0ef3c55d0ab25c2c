/* SPDX-License-Identifier: MIT */
/*
 * From the loader to C. The first CPU arrives in 32-bit protected mode; by the Xen PVH boot protocol, EBX has the
 * address of the start information. The others arrive in real mode at TRAMPOLINE. All of them come to boot_long,
 * which turns on paging and 64-bit mode and jumps to the upper half of the address space.
 */
#include "ports/demo/machine/layout.h"

#define PHYSICAL(symbol) (symbol - KERNEL_BASE)
#define RELOCATED(label) (TRAMPOLINE + label - boot_trampoline)

#define PRESENT_WRITE 0x3
#define LARGE_PAGE 0x83
#define KERNEL_CODE_64 0x18		/* in the GDT that is used only here */
#define CR0_PROTECTED 0x1
#define CR0_PAGED 0x80010001		/* with WP: the kernel cannot write to read-only pages, either */
#define CR4_PAE 0x20
#define EFER 0xc0000080
#define EFER_LONG_SYSCALL 0x101

	.section .note.pvh, "a", @note	/* XEN_ELFNOTE_PHYS32_ENTRY; QEMU reads 8 bytes of it */
	.balign 4
	.long 4, 8, 18
	.asciz "Xen"
	.quad PHYSICAL(boot_start)

	.section .boot, "ax"
	.globl boot_start, boot_trampoline, boot_trampoline_end
	.code32
boot_start:
	cld
	lgdt PHYSICAL(boot_gdt_pointer)
	ljmp $KERNEL_CODE, $PHYSICAL(boot_long)

	.code16
boot_trampoline:
	cli
	xor %ax, %ax
	mov %ax, %ds
	lgdtl RELOCATED(boot_gdt_pointer)
	mov $CR0_PROTECTED, %eax
	mov %eax, %cr0
	xor %ebx, %ebx
	ljmpl $KERNEL_CODE, $PHYSICAL(boot_long)
boot_gdt_pointer:
	.word boot_gdt_end - boot_gdt - 1
	.long PHYSICAL(boot_gdt)
boot_trampoline_end:

	.code32
boot_long:
	mov $KERNEL_DATA, %eax
	mov %eax, %ds
	mov %eax, %es
	mov %eax, %ss
	mov $CR4_PAE, %eax
	mov %eax, %cr4
	mov $PHYSICAL(boot_table), %eax
	mov %eax, %cr3
	mov $EFER, %ecx
	mov $EFER_LONG_SYSCALL, %eax
	xor %edx, %edx
	wrmsr
	mov $CR0_PAGED, %eax
	mov %eax, %cr0
	ljmp $KERNEL_CODE_64, $PHYSICAL(boot_wide)

	.code64
boot_wide:
	movabs $boot_high, %rax
	jmp *%rax
boot_high:
	xor %ebp, %ebp
	mov %ebx, %edi
	test %edi, %edi
	jz 1f
	mov $boot_stack + STACK_SIZE, %rsp
	call main
1:	mov smp_stack, %rsp
	call smp_main

	.data
	.balign 8
boot_gdt:
	.quad 0
	.quad 0x00cf9a000000ffff	/* 32-bit code */
	.quad 0x00cf92000000ffff	/* data */
	.quad 0x00af9a000000ffff	/* 64-bit code */
boot_gdt_end:

/* The kernel's address space. The first entry is the identity map, which is removed when all CPUs are up. */
	.globl boot_table, boot_stack
	.balign PAGE_SIZE
boot_table:
	.quad PHYSICAL(boot_direct) + PRESENT_WRITE
	.fill 255, 8, 0
	.quad PHYSICAL(boot_direct) + PRESENT_WRITE
	.fill 254, 8, 0
	.quad PHYSICAL(boot_kernel) + PRESENT_WRITE
boot_direct:
	.set gigabyte, 0
	.rept 4
	.quad PHYSICAL(boot_pages) + gigabyte * PAGE_SIZE + PRESENT_WRITE
	.set gigabyte, gigabyte + 1
	.endr
	.fill 508, 8, 0
boot_kernel:
	.fill 510, 8, 0
	.quad PHYSICAL(boot_pages) + PRESENT_WRITE
	.quad 0
boot_pages:				/* 4 GiB in pages of 2 MiB */
	.set address, 0
	.rept 2048
	.quad address + LARGE_PAGE
	.set address, address + 0x200000
	.endr

	.bss
	.balign STACK_SIZE
boot_stack:
	.skip STACK_SIZE

	.section .note.GNU-stack, "", @progbits
