/* SPDX-License-Identifier: MIT */
/* A stream that writes to another one, packed by gzip. */
#ifndef GZIP_STREAM_H
#define GZIP_STREAM_H

#include <stdio.h>

/* NULL: no memory. fclose ends it, and fails where not all could be written. It leaves `to` open. */
FILE *gzip_stream_open(FILE *to);

#endif
