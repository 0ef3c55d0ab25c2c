/* SPDX-License-Identifier: MIT */
/* The programs' files and their table (program.h). The folder of the files is an option of the assembler. */

.macro program name
	.section .rodata
	.balign 16
\name\()_image:
	.incbin "\name"
\name\()_image_end:
\name\()_name:
	.asciz "\name"
	.section .data
	.quad \name\()_name, \name\()_image, \name\()_image_end
.endm

	.data
	.globl programs, program_count
	.balign 16
programs:
	program hash
	program primes
	program queens
	program sort
	program pulse

	.balign 4
program_count:
	.long (program_count - programs) / 24

	.section .note.GNU-stack, "", @progbits
