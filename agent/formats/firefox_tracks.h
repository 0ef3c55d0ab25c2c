/* SPDX-License-Identifier: MIT */
/*
 * The tracks of a Firefox profile, its threads: one for each CPU, and one for each thread of the guest, with the
 * samples of both, the trace events as markers, and where events were lost.
 */
#ifndef FIREFOX_TRACKS_H
#define FIREFOX_TRACKS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct sample_set;
struct set_sum;
struct set_writing;
struct firefox_tracks;

/* Reads all samples and events of the set. NULL with `error` set. */
struct firefox_tracks *firefox_tracks_new(const struct sample_set *set, const struct set_writing *writing,
	char **error);
void firefox_tracks_free(struct firefox_tracks *tracks);

void firefox_tracks_put_schemas(const struct firefox_tracks *tracks, FILE *to);	/* the list of kinds of markers */

/* The names of markers, each with a comma before it: texts of the profile, from number `first` on. */
void firefox_tracks_put_names(struct firefox_tracks *tracks, FILE *to, uint32_t first);

/* The list of threads. `stack_of` gives the number of a sum's stack in the profile. False with `error` set. */
bool firefox_tracks_put(struct firefox_tracks *tracks, FILE *to,
	uint32_t (*stack_of)(const void *context, const struct set_sum *sum), const void *context, char **error);

void firefox_put_ms(FILE *to, uint64_t ns);

#endif
