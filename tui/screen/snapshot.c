/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdio.h>

#include "snapshot.h"

/* Copies the characters that are safe in a file's name. No name begins with a '.'. */
static void clean(const char *kernel, char *name, size_t size)
{
	size_t used = 0;

	for (; *kernel != '\0' && used + 1 < size; kernel++) {
		unsigned char c = (unsigned char)*kernel;

		if (c < 128 && (isalnum(c) || c == '_' || c == '-' || (c == '.' && used != 0)))
			name[used++] = (char)c;
	}
	name[used] = '\0';
}

const char *snapshot_name(const char *kernel, time_t when, const char *ending,
	char name[SNAPSHOT_NAME])
{
	char cleaned[64], stamp[32] = "";
	struct tm local;

	clean(kernel, cleaned, sizeof(cleaned));
	if (localtime_r(&when, &local))
		strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &local);
	snprintf(name, SNAPSHOT_NAME, "ktop-%s-%s%s", cleaned[0] ? cleaned : "kernel", stamp, ending);
	return name;
}
