/* SPDX-License-Identifier: MIT */
/*
 * The kernel's command line: words of the form key=value.
 *
 *   work=mix | oracle | cost | idle     what to do: mix.h, oracle.h, cost.h, or nothing; mix when
 *                                not said
 *   mix.seconds=N                length of a phase; 10
 *   oracle.seconds=N             power off after so many reports; 0: never
 *   poweroff=N                   power off after N seconds, whatever the work
 *   panic=N                      panic after N seconds
 *   books=on                     print what ktop has counted, once a second: books.h
 *   ktop=on                      sample from the beginning
 *   ktop.mode=nmi                by NMI, when there are two CPUs
 *   ktop.rate=N ktop.ring=BYTES ktop.keys=plain     as in ktop.h, struct ktop_settings
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <stdint.h>

/* thread, at start-up. The text is copied. */
void command_read(const char *line);

/* thread. Is there key=value? */
bool command_is(const char *key, const char *value);

/* thread. The number after key=, or 0. */
uint32_t command_number(const char *key);

#endif
