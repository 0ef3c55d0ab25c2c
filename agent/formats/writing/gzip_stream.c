/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>
#include <zlib.h>

#include "gzip_stream.h"

enum { OUTPUT = 1 << 16 };		/* bytes */

struct gzip_stream {
	FILE *to;
	z_stream zip;
	Bytef output[OUTPUT];
};

/* Gives all input to zlib; with Z_FINISH also writes what zlib still holds. */
static bool pack(struct gzip_stream *stream, int flush)
{
	do {
		size_t size;

		stream->zip.next_out = stream->output;
		stream->zip.avail_out = OUTPUT;
		if (deflate(&stream->zip, flush) == Z_STREAM_ERROR)
			return false;
		size = OUTPUT - stream->zip.avail_out;
		if (fwrite(stream->output, 1, size, stream->to) != size)
			return false;
	} while (stream->zip.avail_out == 0);
	return true;
}

static ssize_t gzip_write(void *cookie, const char *bytes, size_t size)
{
	struct gzip_stream *stream = cookie;

	stream->zip.next_in = (Bytef *)bytes;
	stream->zip.avail_in = (uInt)size;	/* stdio gives a buffer at most, or what one fwrite has */
	return pack(stream, Z_NO_FLUSH) ? (ssize_t)size : 0;
}

static int gzip_close(void *cookie)
{
	struct gzip_stream *stream = cookie;
	bool whole;

	stream->zip.avail_in = 0;
	whole = pack(stream, Z_FINISH);
	deflateEnd(&stream->zip);
	free(stream);
	return whole ? 0 : EOF;
}

FILE *gzip_stream_open(FILE *to)
{
	cookie_io_functions_t functions = { .write = gzip_write, .close = gzip_close };
	struct gzip_stream *stream = calloc(1, sizeof(*stream));
	FILE *file = NULL;

	if (!stream)
		return NULL;
	stream->to = to;
	/* 16: with gzip's header, which has neither name nor time: the same set is the same file. */
	if (deflateInit2(&stream->zip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) ==
			Z_OK &&
		!(file = fopencookie(stream, "w", functions)))
		deflateEnd(&stream->zip);
	if (!file)
		free(stream);
	return file;
}
