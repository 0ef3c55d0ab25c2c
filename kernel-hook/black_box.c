/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "hook.h"
#include "ktop.h"
#include "meta.h"
#include "port.h"
#include "wire.h"

enum {
	PAGE = KTOP_BLACK_BOX_PAGE,
	NAMES_AT_ONCE = 16,
	NAME_MOST = sizeof(struct ktop_wire_number) + 2 + KTOP_ARGUMENTS_MAX,
};
_Static_assert((int)KTOP_ARGUMENTS_MAX >= (int)KTOP_NAME_MAX && sizeof(struct ktop_wire_arguments) <=
	sizeof(struct ktop_wire_number), "a name's bytes, and those of arguments");

/* The list has 8 bytes for each page, its own ones included; memory that begins in a page has part of one more. */
uint64_t ktop_black_box_memory(uint64_t rest)
{
	return 3 * PAGE + (rest + 4 * PAGE) / (PAGE - 8) * 8;
}

uint64_t ktop_black_box_names(const struct ktop_settings *settings)
{
	return settings->ring_size / 4;
}

static struct ktop_wire_black_box_table table_of(const struct ktop *ktop, const struct ktop_table *table)
{
	return (struct ktop_wire_black_box_table) {
		.at = (uint64_t)((const uint8_t *)table->rows - (const uint8_t *)ktop), .rows = table->size,
		.event = table->event,
	};
}

#define IN_RING(field) ((uint16_t)offsetof(struct ktop_ring, field))
#define IN_ROW(field) ((uint16_t)offsetof(struct ktop_row, field))
#define IN_CONTROL(field) ((uint16_t)(offsetof(struct ktop, control) + offsetof(struct ktop_control, field)))

/* The magic is written last: what is found is complete. */
void ktop_black_box_init(struct ktop *ktop, const struct ktop_facts *facts, const struct ktop_settings *settings,
	void *memory, const uint8_t *rings, uint64_t size)
{
	uint8_t *first = (uint8_t *)ktop - (uintptr_t)ktop % PAGE;
	struct ktop_wire_black_box *box = (void *)((uint8_t *)memory + (-(uintptr_t)memory & (PAGE - 1)));
	uint64_t *pages = (uint64_t *)(box + 1);
	struct ktop_meta *meta = &ktop->meta;
	static const char magic[] = KTOP_BLACK_BOX_MAGIC;

	if (facts->physical == NULL)
		return;
	*box = (struct ktop_wire_black_box) {
		.version = KTOP_BLACK_BOX_VERSION, .at = (uint64_t)((uint8_t *)box - (uint8_t *)ktop), .size = size,
		.skew = (uint32_t)((uint8_t *)ktop - first),
		.cpus = ktop->cpus, .cpu_at = (uint64_t)((uint8_t *)ktop->cpu - (uint8_t *)ktop),
		.cpu_size = sizeof(struct ktop_cpu),
		.names_at = (uint64_t)(rings - ktop_black_box_names(settings) - (const uint8_t *)ktop),
		.rings_at = (uint64_t)(rings - (const uint8_t *)ktop), .ring_size = settings->ring_size,
		.ring = offsetof(struct ktop_cpu, rings), .ring_step = sizeof(struct ktop_ring),
		.head = IN_RING(head), .tail = IN_RING(tail), .committed = IN_RING(committed), .full = IN_RING(full),
		.nested = IN_RING(nested), .given_up = IN_RING(given_up),
		.row_size = sizeof(struct ktop_row), .row_sequence = IN_ROW(sequence), .row_bytes = IN_ROW(size),
		.row_words = IN_ROW(words),
		.rate = IN_CONTROL(rate), .sampler = IN_CONTROL(sampler), .events = IN_CONTROL(events),
		.event_words = KTOP_TRACE_WORDS,
		.tables = { table_of(ktop, &meta->processes), table_of(ktop, &meta->threads),
			table_of(ktop, &meta->objects), table_of(ktop, &meta->events), table_of(ktop, &meta->texts) },
	};
	box->guest_size = (uint16_t)(ktop_meta_guest(ktop, box->guest) - box->guest);
	for (uint8_t *page = first; page < (uint8_t *)ktop + size; page += PAGE)
		pages[box->pages++] = facts->physical(page);
	__builtin_memcpy(box->boot_id, meta->boot_id, sizeof(box->boot_id));
	__builtin_memcpy(box->magic, magic, sizeof(box->magic));
	ktop->box = box;
}

/* The kernel may have more names later, so it is asked again. */
void ktop_black_box_keep(struct ktop *ktop)
{
	struct ktop_wire_black_box *box = ktop->box;
	struct ktop_numbers_told *kept = &ktop->meta.numbers_kept;
	uint16_t head[2];		/* id, bytes */

	for (int i = 0; box && !box->names_full && i < NAMES_AT_ONCE; i++) {
		uint8_t *to = (uint8_t *)ktop + box->names_at + box->names, payload[NAME_MOST];
		uint32_t before = kept->count, size = ktop_meta_number(&ktop->meta, kept, payload, &head[0]);

		if (size == 0) {
			kept->count = before;
			return;
		}
		box->names_full = box->names_at + box->names + sizeof(head) + size > box->rings_at;
		if (box->names_full)
			return;
		head[1] = (uint16_t)size;
		__builtin_memcpy(to, head, sizeof(head));
		__builtin_memcpy(to + sizeof(head), payload, size);
		box->names += (uint32_t)sizeof(head) + size;
	}
}

/*
 * What comes now is not written any more; the drainer may still send what is there. Other CPUs may be in the middle of
 * anything: one that is writing an event ends it.
 */
void ktop_died(struct ktop *ktop, const char *why)
{
	struct ktop_wire_black_box *box = ktop->box;

	__atomic_store_n(&ktop->dead, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&ktop->running, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&ktop->wanted, KTOP_NONE, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < KTOP_TRACE_WORDS; i++)
		__atomic_store_n(&ktop->trace[i], 0, __ATOMIC_RELAXED);
	__atomic_store_n(&ktop->sampler, KTOP_NONE, __ATOMIC_RELAXED);
	if (box == NULL || box->died)
		return;
	box->why_size = (uint16_t)ktop_str_fit(why, sizeof(box->why) - 1);
	__builtin_memcpy(box->why, why, box->why_size);
	box->died = ktop_port_clock();
}
