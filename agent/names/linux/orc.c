/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "orc.h"

enum { IP_SIZE = 4, ENTRY_SIZE = 6, ENTRIES_MAX = 4 << 20 };

struct orc_row {
	uint32_t at;			/* its address minus orc->start */
	uint32_t index;			/* in the table; of rows at the same address the last one counts */
	uint8_t packed[ENTRY_SIZE];
};

struct orc {
	struct budget *budget;
	struct orc_row *rows;
	size_t count;
	uint64_t start;
	enum orc_format format;
};

/* The bits after both registers. 5.x: type:2 end:1. 6.3: type:2 signal:1 end:1. 6.4: type:3 signal:1. */
static unsigned kind_of(const uint8_t *packed)
{
	return packed[5];
}

static size_t count_of(const struct orc_tables *tables)
{
	return tables->entries_size / ENTRY_SIZE;
}

/*
 * Most entries are calls: type 0 up to 6.3, type 2 since 6.4. The fourth bit is new in 6.3: it marks the end of a
 * stack.
 */
enum orc_format orc_format_of(const struct orc_tables *kernel)
{
	size_t count = count_of(kernel), old_calls = 0, new_calls = 0;
	bool fourth = false;

	for (size_t i = 0; i < count; i++) {
		const uint8_t *packed = kernel->entries + i * ENTRY_SIZE;
		bool defined = (packed[4] & 15) != ORC_UNDEFINED;

		old_calls += defined && (kind_of(packed) & 7) == 0;
		new_calls += defined && (kind_of(packed) & 7) == ORC_TYPE_CALL;
		fourth = fourth || kind_of(packed) & 8;
	}
	if (new_calls > old_calls)
		return ORC_6_4;
	return fourth ? ORC_6_3 : ORC_5_X;
}

static int by_address(const void *left, const void *right)
{
	const struct orc_row *a = left, *b = right;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* Each word of the table is the distance from itself to the code. */
static uint64_t address_at(const struct orc_tables *tables, size_t index)
{
	int32_t distance = (int32_t)bytes_32(tables->ips + index * IP_SIZE);

	return tables->address + index * IP_SIZE + (uint64_t)(int64_t)distance;
}

/* Fills the rows, and sorts them. False: the addresses are further apart than in any kernel. */
static bool fill(struct orc *orc, const struct orc_tables *tables)
{
	bool sorted = true;

	orc->start = UINT64_MAX;
	for (size_t i = 0; i < orc->count; i++) {
		if (address_at(tables, i) < orc->start)
			orc->start = address_at(tables, i);
	}
	for (size_t i = 0; i < orc->count; i++) {
		struct orc_row *row = &orc->rows[i];
		uint64_t above = address_at(tables, i) - orc->start;

		if (above > UINT32_MAX)
			return false;
		*row = (struct orc_row) { .at = (uint32_t)above, .index = (uint32_t)i };
		memcpy(row->packed, tables->entries + i * ENTRY_SIZE, ENTRY_SIZE);
		sorted = sorted && (!i || row[-1].at <= row->at);
	}
	if (!sorted && tables->sorted)
		return false;
	if (!sorted)
		qsort(orc->rows, orc->count, sizeof(*orc->rows), by_address);
	return true;
}

struct orc *orc_new(const struct orc_tables *tables, enum orc_format format, struct budget *budget)
{
	size_t count = count_of(tables);
	struct orc *orc;
	bool filled;

	if (!count || count > ENTRIES_MAX || tables->ips_size / IP_SIZE != count)
		return NULL;
	orc = util_alloc(sizeof(*orc));
	*orc = (struct orc) { .budget = budget, .count = count, .format = format };
	orc->rows = budget_resize(budget, NULL, 0, count * sizeof(*orc->rows));
	filled = orc->rows && fill(orc, tables);
	if (!filled) {
		orc_free(orc);
		return NULL;
	}
	return orc;
}

void orc_free(struct orc *orc)
{
	if (!orc)
		return;
	if (orc->rows)
		budget_free(orc->budget, orc->rows, orc->count * sizeof(*orc->rows));
	free(orc);
}

enum orc_format orc_format(const struct orc *orc)
{
	return orc->format;
}

static enum orc_type type_of(unsigned type)
{
	return type <= ORC_TYPE_REGS_PARTIAL ? (enum orc_type)type : ORC_TYPE_UNDEFINED;
}

/* Up to 6.3, the end of a stack has its own bit, and an undefined entry has no stack pointer. */
static enum orc_type old_type_of(unsigned type, bool end, unsigned sp)
{
	if (end)
		return ORC_TYPE_END;
	return sp == ORC_UNDEFINED ? ORC_TYPE_UNDEFINED : type_of(type + ORC_TYPE_CALL);
}

static struct orc_entry unpack(const uint8_t *packed, enum orc_format format)
{
	unsigned kind = kind_of(packed), sp = packed[4] & 15, bp = packed[4] >> 4;
	struct orc_entry entry = {
		.sp = (enum orc_register)sp,
		.bp = (enum orc_register)bp,
		.sp_offset = (int16_t)bytes_16(packed),
		.bp_offset = (int16_t)bytes_16(packed + 2),
	};

	if (format == ORC_6_4) {
		entry.type = type_of(kind & 7);
		entry.signal = kind & 8;
		return entry;
	}
	entry.type = old_type_of(kind & 3, kind & (format == ORC_6_3 ? 8 : 4), sp);
	entry.signal = format == ORC_6_3 ? kind & 4 :
		entry.type == ORC_TYPE_REGS || entry.type == ORC_TYPE_REGS_PARTIAL;
	return entry;
}

bool orc_find(const struct orc *orc, uint64_t address, struct orc_entry *entry)
{
	size_t low = 0, high = orc->count;

	if (address < orc->start)
		return false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (orc->rows[middle].at <= address - orc->start)
			low = middle + 1;
		else
			high = middle;
	}
	*entry = unpack(orc->rows[low - 1].packed, orc->format);
	return true;
}

/*
 * linux/arch/x86/lib/retpoline.S: a thunk for each register, 32 bytes. The caller's return address is on top of the
 * stack; the first instruction calls over a trap of one byte, which puts another one above it.
 */
bool orc_of_thunk(uint64_t distance, struct orc_entry *entry)
{
	enum { THUNKS = 16, SIZE = 32, CALLED = 6 };
	uint64_t offset = distance % SIZE;

	if (distance >= THUNKS * SIZE || (offset && offset != CALLED))
		return false;
	*entry = (struct orc_entry) {
		.sp = ORC_SP, .sp_offset = offset ? 16 : 8, .bp = ORC_UNDEFINED, .type = ORC_TYPE_CALL,
	};
	return true;
}
