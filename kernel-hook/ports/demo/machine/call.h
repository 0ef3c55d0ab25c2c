/* SPDX-License-Identifier: MIT */
/*
 * The system calls. RAX has the number, RDI, RSI, RDX and R10 the arguments, then RAX the result. SYSCALL changes RCX
 * and R11. A negative result is a failure. The kernel and the programs share this file.
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
	CALL_READ,		/* file, offset, address, size; the result is the bytes read */
	CALL_DIGEST,		/* address, size; the result is a checksum, which the kernel computes */
	CALL_MARK,		/* address, size: marks this moment, for ktop, with a text of at most 63 bytes */
	CALLS,
};

#endif
