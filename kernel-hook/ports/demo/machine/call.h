/* SPDX-License-Identifier: MIT */
/*
 * System calls: number in RAX, arguments in RDI, RSI, RDX and R10, result in RAX; SYSCALL destroys
 * RCX and R11. A negative result is a failure. Shared with the programs.
 */
#ifndef CALL_H
#define CALL_H

enum call {
	CALL_EXIT,		/* status */
	CALL_WRITE,		/* address, size: to the console */
	CALL_PROCESS,		/* the caller's id */
	CALL_YIELD,
	CALL_SLEEP,		/* ns */
	CALL_MAP,		/* bytes: more heap; the result is its address */
	CALL_READ,		/* file, offset, address, size: bytes read */
	CALL_DIGEST,		/* address, size: a checksum that the kernel makes of them */
	CALLS,
};

#endif
