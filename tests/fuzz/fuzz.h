/* SPDX-License-Identifier: MIT */
/*
 * What the fuzz targets share. A target is one function that takes any bytes and must return. It is linked with
 * libFuzzer (`make fuzz`), or with replay.c, which gives it the committed corpus.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "agent/base/util.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Asserts what must be so, whatever the input is. */
static inline void require(bool so)
{
	if (!so)
		abort();
}

/* Asserts what must be so unless memory is out; then the program ends as ktop does. */
static inline void require_memory(bool so)
{
	if (!so)
		util_no_memory();
}

/* Input, read from the front. Beyond its end all bytes are zero. */
struct fuzz_input {
	const uint8_t *at;
	size_t left;
};

/* Up to `size` bytes; returns how many there were. */
static inline size_t input_bytes(struct fuzz_input *input, const uint8_t **bytes, size_t size)
{
	*bytes = input->at;
	size = size < input->left ? size : input->left;
	input->at += size;
	input->left -= size;
	return size;
}

static inline uint8_t input_byte(struct fuzz_input *input)
{
	const uint8_t *byte;

	return input_bytes(input, &byte, 1) ? *byte : 0;
}

/* The bytes before the next zero, which is skipped. False: nothing is left. */
static inline bool input_piece(struct fuzz_input *input, const uint8_t **bytes, size_t *size)
{
	if (input->left == 0)
		return false;
	*bytes = input->at;
	for (*size = 0; *size < input->left && input->at[*size];)
		++*size;
	input->at += *size;
	input->left -= *size;
	input_byte(input);
	return true;
}

#endif
