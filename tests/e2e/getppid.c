/* SPDX-License-Identifier: MIT */
/* For tests: a program of a guest that calls getppid() so many times. It tells how many that were, and its number. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **words)
{
	long calls = count > 1 ? atol(words[1]) : 0;

	for (long i = 0; i < calls; i++)
		syscall(SYS_getppid);
	printf("called %ld, thread %d\n", calls, (int)getpid());
	return 0;
}
