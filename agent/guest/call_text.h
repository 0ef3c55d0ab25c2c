/* SPDX-License-Identifier: MIT */
/*
 * What trace events tell as text: a system call, its arguments by their types and names, its errors by theirs; a pair
 * of other events, with their fields; and the stack of a span. Ingest thread.
 */
#ifndef CALL_TEXT_H
#define CALL_TEXT_H

#include <stdbool.h>
#include <stdint.h>

struct epoch;
struct trace_span;

/* Bytes: the longest name, and all values of two events with theirs, fit; a result with an error's name. */
enum { CALL_TEXT = 1408, CALL_RESULT = 48, STACK_TEXT = 512 };

/* "read", or "syscall_39" if the guest has no name for it. All return `text`. */
const char *call_text_name(const struct epoch *epoch, uint64_t number, char text[CALL_TEXT]);

/* "read(file=3, size=256", without the ')'; "read(..." if its arguments were not told. */
const char *call_text(const struct epoch *epoch, const struct trace_span *call, char text[CALL_TEXT]);

/*
 * "disk(block=7, bytes=512) = error=0": the fields of its beginning but for its thread, and those that its end has
 * alone; "disk(...) = ?" if they are not known. Of a field that is a list, and of all behind it, dots.
 */
const char *call_text_pair(const struct epoch *epoch, const struct trace_span *pair, char text[CALL_TEXT]);

/* "256", "-2 ENOENT", "0x7f3200001000" */
const char *call_text_result(const struct epoch *epoch, uint64_t result, char text[CALL_RESULT]);

bool call_is_error(uint64_t result);

/*
 * "mutex_lock < log_add < ...": at most so many functions of a span's stack, from where it began; dots: there are more.
 * "": not told.
 */
const char *call_text_stack(const struct epoch *epoch, uint32_t stack, unsigned most, char text[STACK_TEXT]);

#endif
