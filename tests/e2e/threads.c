/* SPDX-License-Identifier: MIT */
/*
 * For tests of stacks: two threads of a program whose calls are known, compiled as distributions do, without frame
 * pointers. Each thread computes, and calls the kernel. The frame pointer has a chance word that leads into the stack:
 * a walk that believes in it goes astray.
 */
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noclone))

static KEPT long work_inner(volatile char *bytes, long sum)
{
	for (int i = 0; i < 20000; i++)
		sum = sum * 31 + bytes[i % 64];
	for (int i = 0; i < 20; i++)
		sum += getppid();
	return sum;
}

static KEPT long work_middle(volatile char *bytes, long more)
{
	char room[200];

	for (int i = 0; i < 64; i++)
		room[i] = bytes[i];
	return work_inner(room, more) * 3 + room[more & 63];
}

static KEPT long work_outer(volatile char *bytes, long more)
{
	return work_middle(bytes, more + 1) * 5;
}

static KEPT void *second_thread(void *argument)
{
	volatile char bytes[64] = { 1 };

	for (long sum = 0;;)
		sum = work_outer(bytes, sum);
	return argument;
}

int main(void)
{
	volatile char bytes[64] = { 2 };
	pthread_t thread;

	pthread_create(&thread, NULL, second_thread, NULL);
	for (long sum = 0;;)
		sum = work_outer(bytes, sum);
}
