/* SPDX-License-Identifier: MIT */
/* The phase `mail`: even workers write packets; odd workers read them, find their routes and check them. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mix.h"
#include "ports/demo/kernel/demo_events.h"
#include "ports/demo/kernel/hook_calls.h"
#include "ports/demo/kernel/sched.h"
#include "ports/demo/machine/checksum.h"
#include "ports/demo/machine/random.h"
#include "ports/demo/machine/spin.h"
#include "ports/demo/machine/string.h"
#include "ports/demo/memory/slab.h"

enum { BOXES = 8, BOX_SIZE = 16, ROUTES = 64, BODY = 400, PAUSE = 200000 };

struct packet {
	uint32_t address, sum;
	uint8_t body[BODY];
};

static struct slab packets = { .size = sizeof(struct packet) };

static struct mailbox {
	struct spin lock;		/* guards the fields below */
	struct packet *packets[BOX_SIZE];
	uint32_t first, count;
} boxes[BOXES];

static bool mailbox_put(struct mailbox *box, struct packet *packet)
{
	bool room;

	spin_lock(&box->lock);
	room = box->count < BOX_SIZE;
	if (room) {
		box->packets[(box->first + box->count++) % BOX_SIZE] = packet;
		ktop_trace_mail_put(hook, (uint32_t)(box - boxes), box->count, packet->address);
	}
	spin_unlock(&box->lock);
	return room;
}

static struct packet *mailbox_take(struct mailbox *box)
{
	struct packet *packet = NULL;

	spin_lock(&box->lock);
	if (box->count > 0) {
		packet = box->packets[box->first++ % BOX_SIZE];
		box->count--;
		ktop_trace_mail_take(hook, (uint32_t)(box - boxes), box->count, -1);
	}
	spin_unlock(&box->lock);
	return packet;
}

static void packet_fill(struct packet *packet, struct random *random)
{
	for (uint32_t i = 0; i < BODY; i++)
		packet->body[i] = (uint8_t)random_next(random);
}

static void packet_encrypt(struct packet *packet, uint32_t key)
{
	for (uint32_t i = 0; i < BODY; i++) {
		key = key * 1664525 + 1013904223;
		packet->body[i] ^= (uint8_t)(key >> 24);
	}
}

static struct packet *packet_write(struct random *random)
{
	struct packet *packet = slab_alloc(&packets);

	if (packet == NULL)
		return NULL;
	packet->address = (uint32_t)random_next(random);
	packet_fill(packet, random);
	packet->sum = checksum_adler32(1, packet->body, BODY);
	packet_encrypt(packet, packet->address);
	return packet;
}

/* Finds the longest prefix that matches, as a router does. */
static uint32_t route_find(uint32_t address)
{
	uint32_t best = 0, length = 0;

	for (uint32_t route = 0; route < ROUTES; route++) {
		uint32_t prefix = route * 0x04000000u, bits = 2 + route % 5;

		if ((address ^ prefix) >> (32 - bits) == 0 && bits > length) {
			best = route;
			length = bits;
		}
	}
	return best;
}

static bool packet_deliver(struct packet *packet)
{
	uint32_t sum;

	packet_encrypt(packet, packet->address);
	sum = checksum_adler32(1, packet->body, BODY);
	route_find(packet->address);
	return sum == packet->sum;
}

static void mail_send(uint32_t worker, struct random *random)
{
	struct packet *packet = packet_write(random);
	uint32_t tries = 0;

	while (packet != NULL && !mailbox_put(&boxes[worker / 2 % BOXES], packet)) {
		if (++tries == 20) {
			slab_free(&packets, packet);
			return;
		}
		sched_sleep(PAUSE);
	}
}

static void mail_receive(uint32_t worker)
{
	struct packet *packet = mailbox_take(&boxes[worker / 2 % BOXES]);

	if (packet == NULL) {
		sched_sleep(PAUSE);
		return;
	}
	packet_deliver(packet);
	slab_free(&packets, packet);
}

void mail_work(uint32_t worker, uint32_t round)
{
	struct random random = random_seed((uint64_t)worker << 32 | round);

	if (worker % 2 == 0)
		mail_send(worker, &random);
	else
		mail_receive(worker);
}
