/* SPDX-License-Identifier: MIT */
/* Lays struct ktop and all that belongs to it into the memory that the kernel gives. Nothing is allocated later. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hook.h"
#include "ktop.h"
#include "port.h"

enum {
	DEFAULT_RATE = 997,		/* a prime: seldom in step with the kernel's own ticks */
	DEFAULT_RING = 256 * 1024,	/* bytes */
	RING_MAX = 1 << 30,		/* bytes */
	CPUS_MAX = 4096,
};

/* A power of two, or 0; the defaults have taken the place of 0. */
static bool is_rows(uint32_t rows)
{
	return rows <= KTOP_ROWS_MAX && (rows & (rows - 1)) == 0;
}

/* Puts the default in the place of each 0. False: a setting is out of its range. */
static bool complete(struct ktop_settings *settings)
{
	if (settings->rate == 0)
		settings->rate = DEFAULT_RATE;
	if (settings->ring_size == 0)
		settings->ring_size = DEFAULT_RING;
	if (settings->processes == 0)
		settings->processes = KTOP_PROCESSES;
	if (settings->threads == 0)
		settings->threads = KTOP_THREADS;
	if (settings->objects == 0)
		settings->objects = KTOP_OBJECTS;
	if (settings->events == 0)
		settings->events = KTOP_USER_EVENTS;
	return settings->rate <= KTOP_RATE_MAX && is_rows(settings->processes) &&
		is_rows(settings->threads) && is_rows(settings->objects) && is_rows(settings->events) &&
		settings->events <= KTOP_USER_EVENTS_MAX && settings->ring_size >= KTOP_RING_MIN &&
		settings->ring_size <= RING_MAX &&
		(settings->ring_size & (settings->ring_size - 1)) == 0;
}

/* Up to a multiple of 64 bytes, a cache line, so that CPUs do not share one. */
static uint64_t align(uint64_t size)
{
	return (size + 63) & ~63ull;
}

/*
 * Bytes of all but the black box and the rings. The order in memory: struct ktop; the black box, whose list of pages
 * has to begin in one of the first; the CPUs; the name tables of meta.c; the names for the box; the rings.
 */
static uint64_t fixed_size(uint32_t cpus, const struct ktop_settings *settings)
{
	return align(sizeof(struct ktop)) + cpus * align(sizeof(struct ktop_cpu)) +
		align(ktop_meta_memory(settings)) + ktop_black_box_names(settings);
}

size_t ktop_memory_size(uint32_t cpus, const struct ktop_settings *settings)
{
	struct ktop_settings all = settings ? *settings : (struct ktop_settings) { 0 };
	uint64_t size;

	if (cpus == 0 || cpus > CPUS_MAX || !complete(&all))
		return 0;
	size = fixed_size(cpus, &all) + (uint64_t)cpus * KTOP_CLASSES * all.ring_size;
	size += align(ktop_black_box_memory(size));
	return (size_t)size == size ? (size_t)size : 0;	/* a 32-bit CPU cannot address more */
}

/* Each CPU has another seed, so that the CPUs' samples do not fall on the same moments. */
static void init_cpu(struct ktop_cpu *cpu, uint32_t number, uint8_t *rings, uint64_t ring_size)
{
	*cpu = (struct ktop_cpu) { .grid.seed = (number + 1) * 2654435761u };
	ktop_grid_stop(&cpu->grid);
	for (uint32_t class = 0; class < KTOP_CLASSES; class++)
		ktop_ring_init(&cpu->rings[class], rings + class * ring_size, ring_size);
}

struct ktop *ktop_init(const struct ktop_facts *facts, const struct ktop_settings *settings,
	struct ktop_transport *transport, void *memory, size_t size)
{
	struct ktop_settings all = settings ? *settings : (struct ktop_settings) { 0 };
	size_t need = ktop_memory_size(facts->cpus, settings);
	struct ktop *ktop = memory;
	uint8_t *rings, *box = (uint8_t *)memory + align(sizeof(*ktop));
	uint64_t ring_bytes, box_size;

	if (need == 0 || size < need || (uintptr_t)memory % 64 != 0 || !complete(&all))
		return NULL;
	ring_bytes = (uint64_t)facts->cpus * KTOP_CLASSES * all.ring_size;
	box_size = align(ktop_black_box_memory(fixed_size(facts->cpus, &all) + ring_bytes));
	*ktop = (struct ktop) {
		.cpus = facts->cpus,
		.hz = facts->clock_hz ? facts->clock_hz : 1000000000,
		.cpu = (struct ktop_cpu *)(box + box_size),
		.transport = transport,
		.counters = facts->counters,
		.untraced = facts->untraced,
		.pacer.seed = 1,
		.keys.plain = all.plain_keys,
		.accounted = ktop_port_clock(),
	};
	rings = (uint8_t *)memory + need - ring_bytes;
	for (uint32_t i = 0; i < facts->cpus; i++)
		init_cpu(&ktop->cpu[i], i, rings + (uint64_t)i * KTOP_CLASSES * all.ring_size,
			all.ring_size);
	ktop_meta_init(&ktop->meta, facts, &all, ktop->cpu + facts->cpus);
	if (!ktop_control_init(ktop, &all))
		return NULL;
	ktop_black_box_init(ktop, facts, &all, box, rings, need);
	return ktop;
}
