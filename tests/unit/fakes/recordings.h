/* SPDX-License-Identifier: MIT */
/* Recordings made of packets that a test has built, and what stands in them. */
#ifndef RECORDINGS_H
#define RECORDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;
struct packet;
struct packets;

enum { RECORDINGS_CPUS = 2, RECORDINGS_OWN = 100 };	/* of the guest; the id of its own trace event */

/* Packets of their own. The guest's clock has `hz` ticks a second. */
void recordings_guest(struct packets *packets, uint64_t time, uint64_t hz);
void recordings_status(struct packets *packets, uint64_t time, bool running);
void recordings_missed(struct packets *packets, uint32_t cpu, uint64_t time, int count);	/* a tick apart */

/* A trace event of the guest's own, mail_put, and what the guest says of it. */
void recordings_own_event(struct packets *packets, uint64_t time);
void recordings_descriptor(struct packets *packets, uint64_t time);

/* All of them, into a new folder, with "vm" for a machine and "/boot/kernel" for its kernel. */
void recordings_write(const char *folder, const struct packets *packets);

/* For a decoder whose boots, packets or events a test does not look at. */
void recordings_no_boot(void *context, const uint8_t *boot_id);
void recordings_no_packet(void *context, const struct packet *packet);
void recordings_no_events(void *context, const struct event *events, size_t count);

#endif
