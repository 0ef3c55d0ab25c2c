/* The first instruction of a program: the argument is in RDI, and the walk by frame pointers ends here. */
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
