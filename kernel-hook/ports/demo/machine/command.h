/* SPDX-License-Identifier: MIT */
/*
 * The kernel's command line: words of the form key=value.
 *
 *   work=mix | oracle | spike | cost | idle     the work: mix.h, oracle.h and so on, or none; the default is mix
 *   mix.seconds=N                length of a phase; the default is 10
 *   oracle.change=N              the oracle's work has other shares from second N on; 0: never
 *   oracle.seconds=N             power off after N reports, of which there is one a second; 0: never
 *   poweroff=N                   power off after N seconds, whatever the work is
 *   panic=N                      panic after N seconds
 *   books=on                     print what ktop has counted, once a second: main.c
 *   ktop=on                      sample from the start
 *   ktop.sampler=nmi             sample by NMI, if there are two CPUs or more
 *   ktop.hotplug=off             do not look for a port that is plugged in later (template.h)
 *   ktop.rate=N ktop.ring=BYTES ktop.keys=plain     as in struct ktop_settings (ktop.h)
 *   ktop.trace=+sched,+syscall   likewise, with commas
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* thread, at start-up. The text is copied. */
void command_read(const char *line);

/* thread. Does the command line have this key=value? */
bool command_is(const char *key, const char *value);

/* thread. The number after key=; 0 if there is none. */
uint32_t command_number(const char *key);

/* thread. The words after key=, with spaces in place of commas, as much as `to` has room for. NULL: there are none. */
const char *command_words(const char *key, char *to, size_t size);

#endif
