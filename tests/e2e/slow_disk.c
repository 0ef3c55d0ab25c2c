/* SPDX-License-Identifier: MIT */
/* A slow disk for a program that has this preloaded: fsync waits as long as the file SLOW_DISK exists. */
#include <stdlib.h>
#include <unistd.h>

int fsync(int fd);
int fsync(int fd)
{
	const char *slow = getenv("SLOW_DISK");

	while (slow && access(slow, F_OK) == 0)
		usleep(10000);
	return fdatasync(fd);
}
