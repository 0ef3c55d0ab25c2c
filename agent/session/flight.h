/* SPDX-License-Identifier: MIT */
/*
 * A flight recorder: the packets of the last seconds, in memory, so that what led up to a moment can be recorded after
 * it. What the guest tells of itself is kept for longer: all that is needed for those seconds. The ingest thread makes
 * all calls but those marked.
 */
#ifndef FLIGHT_H
#define FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/wire/recording_writer.h"

struct budget;
struct flight;
struct flight_cut;
struct metadata_machine;
struct packet;

struct flight *flight_new(struct budget *budget);	/* it is held */
void flight_free(struct flight *flight);		/* NULL is allowed */

/* From now on, keep so many guest ns, if it is more than before; or less if the budget's part for it is smaller. */
void flight_lead(struct flight *flight, uint64_t lead);

/*
 * Keeps a packet; to be called for each. `end`: guest ns at which it ends; `boot`: a number that changes with each
 * boot. True: the guest is to be asked for all its meta events once more.
 */
bool flight_packet(struct flight *flight, const struct packet *packet, uint64_t end, uint64_t boot);
void flight_told(struct flight *flight);	/* the guest has told its facts, as the first of all its meta events */

/* What is kept of the last `lead` guest ns. It costs no copy of the packets. */
struct flight_cut *flight_cut_new(const struct flight *flight, uint64_t lead, const struct metadata_machine *machine);
void flight_cut_free(struct flight_cut *cut);		/* any thread; NULL is allowed */

uint64_t flight_cut_span(const struct flight_cut *cut);	/* guest ns; any thread */
bool flight_cut_is_short(const struct flight_cut *cut);	/* there was no memory for all; any thread */

/* Any thread; waits for the disk. A recording in a folder that recording_folder has made. False with `error` set. */
bool flight_cut_write(const struct flight_cut *cut, const char *folder, struct recording_sums *sums, char **error);

#endif
