/* SPDX-License-Identifier: MIT */
/* What a kernel's linker script says of its text; its stubs are nearer to the beginning. */
__asm__(
	".pushsection .data\n"
	".globl ktop_text_begin, ktop_text_end, ktop_stubs_begin, ktop_stubs_end\n"
	"ktop_text_begin: .skip 16\n"
	"ktop_stubs_begin: .skip 32\n"
	"ktop_stubs_end: .skip 64\n"
	"ktop_text_end: .skip 16\n"
	".popsection");
