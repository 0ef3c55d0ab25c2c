/* SPDX-License-Identifier: MIT */
/*
 * A slow disk for a program that has this preloaded: fsync waits as long as the file SLOW_DISK exists. One beside it,
 * with ".reached" behind its name, says that it does.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int fsync(int fd);
int fsync(int fd)
{
	const char *slow = getenv("SLOW_DISK");
	char reached[4096];

	snprintf(reached, sizeof(reached), "%s.reached", slow ? slow : "");
	if (slow && access(slow, F_OK) == 0)
		close(open(reached, O_WRONLY | O_CREAT, 0600));
	while (slow && access(slow, F_OK) == 0)
		usleep(10000);
	return fdatasync(fd);
}
