/* SPDX-License-Identifier: MIT */
/*
 * Where things are in memory. There are only macros, since the assembler reads this, too.
 *
 *   virtual                                physical
 *   0000000000400000  program, heap,  --->  pages of the process
 *   00007ffffffff000  end of its stack
 *   ffff800000000000  direct map      --->  0 to 4 GiB, RAM and devices
 *   ffffffff80000000  kernel          --->  0 to 1 GiB; the image lies at 2 MiB
 */
#ifndef LAYOUT_H
#define LAYOUT_H

#define KERNEL_BASE 0xffffffff80000000
#define KERNEL_LOAD 0x200000
#define DIRECT_BASE 0xffff800000000000
#define DIRECT_SIZE 0x100000000
#define USER_HEAP 0x10000000
#define USER_STACK 0x7ffffffff000	/* its end; the page above stays unmapped */

#define PAGE_SIZE 4096
#define STACK_SIZE 16384		/* of a thread in the kernel; also its alignment */

/* Where the other CPUs start, in real mode. Its page number, of a page below 1 MiB, is in the start-up message. */
#define TRAMPOLINE 0x8000

/* Segment selectors. SYSRET needs user data and user code in this order (Intel SDM 2B, SYSRET). */
#define KERNEL_CODE 0x08
#define KERNEL_DATA 0x10
#define USER_DATA (0x18 | 3)
#define USER_CODE (0x20 | 3)
#define CPU_STATE 0x28			/* the first CPU's task state segment; 16 bytes each */

#define CPU_MAX 64

#endif
