/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "flow.h"
#include "function_starts.h"

/* What is known of a byte of code. */
enum mark {
	CALLED = 1,
	JUMPED = 2,			/* a jump leads here */
	NEAR = 4,			/* one of the same function */
	BLIND = 8,			/* behind a jump of which it is not known where it leads */
	ENDLESS = 16,			/* a function that does not return */
	KNOWN = 32,			/* a known function begins here, or has ended; or a page of zeros begins */
	EDGE = 64,			/* an instruction that is not reached from the one before it */
	START = 128,			/* a function begins here */
};

enum {
	PAGE = 4096,
	ALIGNED = 16,			/* bytes to which padding leads, at least */
	STRIDE = 64,			/* bytes of code for which the starts are counted together */
	TABLE_NEAR = 24,		/* instructions between a table's address and the jump by it, at most */
};

struct search {
	const struct bare_file *file;
	flow_reader *read;
	uint8_t *marks;			/* of all parts with code, one after another */
	size_t size;
	uint32_t *counts;		/* of starts before each stride */
	size_t entries_left;		/* of tables: no more are read than the file has room for */
};

/* ---- marks ---- */

/* The part at an address, and *before: how many marks are before its own. */
static const struct file_part *part_at(const struct bare_file *file, uint64_t address, size_t *before)
{
	*before = 0;
	for (size_t i = 0; i < file->count; i++) {
		const struct file_part *part = &file->parts[i];

		if (address >= part->address && address - part->address < part->size)
			return part;
		*before += part->code ? part->size : 0;
	}
	return NULL;
}

/* The mark of an address; NULL: there is no code. */
static uint8_t *mark_at(const struct search *search, uint64_t address)
{
	size_t before;
	const struct file_part *part = part_at(search->file, address, &before);

	return part && part->code ? search->marks + before + (address - part->address) : NULL;
}

static void mark(const struct search *search, uint64_t address, unsigned marks)
{
	uint8_t *at = mark_at(search, address);

	if (at)
		*at |= (uint8_t)marks;
}

static bool has(const struct search *search, uint64_t address, unsigned marks)
{
	const uint8_t *at = mark_at(search, address);

	return at && *at & marks;
}

/* Does a page of zeros begin here? */
static bool is_hole(const struct file_part *part, size_t at)
{
	const uint8_t *bytes = part->bytes + at;

	return (part->address + at) % PAGE == 0 && part->size - at >= PAGE && bytes[0] == 0 &&
		memcmp(bytes, bytes + 1, PAGE - 1) == 0;
}

/* What is at the beginning of a section begins a function, too. */
static void mark_known(const struct search *search)
{
	const struct bare_file *file = search->file;

	for (size_t i = 0; i < file->known_count; i++) {
		mark(search, file->known[i].address, KNOWN);
		mark(search, file->known[i].end, KNOWN);
	}
	for (size_t i = 0; i < file->count; i++) {
		const struct file_part *part = &file->parts[i];

		mark(search, part->address, CALLED);
		for (size_t at = (size_t)(-part->address % PAGE); part->code && at < part->size; at += PAGE)
			if (is_hole(part, at))
				mark(search, part->address + at, KNOWN);
	}
}

/* ---- sweeps: instruction by instruction through all code ---- */

struct sweep {
	const struct file_part *part;
	uint8_t *marks;			/* of the part */
	size_t at;
	struct flow flow;

	/* For the visitors, zero at the beginning of a part: */
	uint64_t table;			/* the address of data that was loaded last */
	unsigned age;			/* instructions since then */
	bool goes_on, pads;		/* the instruction before this one leads here; is padding */
	bool called;			/* it was a call, or padding behind one */
	size_t aligned;			/* the last padding at a multiple of ALIGNED */
	uint64_t jump;			/* where the last jump leads */
};

typedef void visitor(struct search *search, struct sweep *sweep);

/* An instruction does not reach into a function that is known. */
static void read_next(const struct search *search, struct sweep *sweep)
{
	const struct file_part *part = sweep->part;
	struct flow *flow = &sweep->flow;

	search->read(part->bytes + sweep->at, part->size - sweep->at, part->address + sweep->at, flow);
	for (unsigned i = 1; i < flow->size; i++)
		if (sweep->at + i == part->size || sweep->marks[sweep->at + i] & KNOWN)
			flow->size = i;
}

static void sweep_code(struct search *search, visitor *visit)
{
	uint8_t *marks = search->marks;

	for (size_t i = 0; i < search->file->count; i++) {
		struct sweep sweep = { .part = &search->file->parts[i], .marks = marks, .age = TABLE_NEAR };

		if (!sweep.part->code)
			continue;
		for (; sweep.at < sweep.part->size; sweep.at += sweep.flow.size) {
			while (sweep.at < sweep.part->size && marks[sweep.at] & KNOWN && is_hole(sweep.part, sweep.at))
				sweep.at += PAGE;
			if (sweep.at == sweep.part->size)
				break;
			read_next(search, &sweep);
			visit(search, &sweep);
		}
		marks += sweep.part->size;
	}
}

static uint64_t behind(const struct sweep *sweep)
{
	return sweep->part->address + sweep->at + sweep->flow.size;
}

/* ---- where calls and jumps lead ---- */

/* A table of words, or of distances from itself in 4 bytes. False: it is none. */
static bool mark_table(struct search *search, uint64_t table, bool distances)
{
	unsigned size = distances || !search->file->wide ? 4 : 8;
	size_t before, count = 0;
	const struct file_part *part = part_at(search->file, table, &before);

	for (size_t at = part ? table - part->address : 0; part && at + size <= part->size; at += size) {
		uint64_t word = size == 8 ? bytes_64(part->bytes + at) : bytes_32(part->bytes + at);
		uint8_t *target = mark_at(search, distances ? table + (uint64_t)(int64_t)(int32_t)word : word);

		if (!target || !search->entries_left)
			break;
		search->entries_left--;
		*target |= JUMPED | NEAR;
		count++;
	}
	return count > 0;
}

static void note_targets(struct search *search, struct sweep *sweep)
{
	const struct flow *flow = &sweep->flow;

	sweep->age++;
	switch (flow->kind) {
	case FLOW_CALL:
		if (flow->target != behind(sweep))
			mark(search, flow->target, CALLED);
		break;
	case FLOW_JUMP:
	case FLOW_BRANCH:
		mark(search, flow->target, JUMPED);
		break;
	case FLOW_JUMP_TABLE:
		if (!mark_table(search, flow->names, false))
			mark(search, behind(sweep), BLIND);
		break;
	case FLOW_JUMP_REGISTER:
		if (sweep->age > TABLE_NEAR || !mark_table(search, sweep->table, true))
			mark(search, behind(sweep), BLIND);
		sweep->age = TABLE_NEAR;
		break;
	default:
		if (flow->names && !mark_at(search, flow->names)) {
			sweep->table = flow->names;
			sweep->age = 0;
		}
	}
}

/* A call before the beginning of another function does not return. */
static void note_endless(struct search *search, struct sweep *sweep)
{
	if (sweep->flow.kind == FLOW_CALL && has(search, behind(sweep), CALLED | KNOWN))
		mark(search, sweep->flow.target, ENDLESS);
}

/* ---- edges ---- */

static bool goes_on(const struct search *search, const struct flow *flow)
{
	switch (flow->kind) {
	case FLOW_JUMP:
	case FLOW_JUMP_TABLE:
	case FLOW_JUMP_REGISTER:
	case FLOW_RETURN:
	case FLOW_END:
		return false;
	case FLOW_CALL:
		return !has(search, flow->target, ENDLESS);
	default:
		return true;
	}
}

static void note_padding(struct sweep *sweep)
{
	if (sweep->called || sweep->marks[sweep->at] & KNOWN)
		sweep->goes_on = false;
	if (sweep->marks[sweep->at] & JUMPED)
		sweep->goes_on = true;
	if ((sweep->part->address + sweep->at) % ALIGNED == 0)
		sweep->aligned = sweep->at;
	sweep->pads = true;
}

/*
 * Padding goes on to a multiple of ALIGNED at least, mostly. So what looks like padding at such a place, and ends
 * before the next one, is the first instruction of a function. A return alone is one only at such a place. A jump to
 * what follows it leads to another function: within one it would be left out.
 */
static void note_edges(struct search *search, struct sweep *sweep)
{
	const struct flow *flow = &sweep->flow;
	size_t at = sweep->at;

	if (flow->kind == FLOW_PADDING) {
		note_padding(sweep);
		return;
	}
	if (sweep->pads && sweep->aligned && at - sweep->aligned < ALIGNED)
		at = sweep->aligned;
	if ((!sweep->goes_on || sweep->marks[at] & KNOWN) &&
			(flow->kind != FLOW_RETURN || (sweep->part->address + at) % ALIGNED == 0))
		sweep->marks[at] |= EDGE;
	if (!sweep->goes_on && sweep->jump == sweep->part->address + at)
		sweep->marks[at] |= CALLED;
	sweep->jump = flow->kind == FLOW_JUMP ? flow->target : 0;
	sweep->goes_on = goes_on(search, flow);
	sweep->called = flow->kind == FLOW_CALL;
	sweep->pads = false;
}

/* ---- starts ---- */

/* Behind a jump that leads to an unknown place, edges may be the cases of a switch: up to the next certain start. */
static void choose_starts(const struct search *search)
{
	bool blind = false;

	for (size_t i = 0; i < search->size; i++) {
		uint8_t *marks = &search->marks[i];

		blind = (blind || *marks & BLIND) && !(*marks & KNOWN);
		if (*marks & CALLED || ((*marks & (EDGE | JUMPED)) == EDGE && !blind)) {
			*marks |= START;
			blind = false;
		}
	}
}

static void count_starts(const struct search *search)
{
	uint32_t count = 0;

	for (size_t i = 0; i < search->size; i++) {
		if (i % STRIDE == 0)
			search->counts[i / STRIDE] = count;
		count += (search->marks[i] & (START | KNOWN)) != 0;
	}
}

/* How many starts there are up to this mark, it included. */
static uint32_t starts_upto(const struct search *search, size_t index)
{
	uint32_t count = search->counts[index / STRIDE];

	for (size_t i = index / STRIDE * STRIDE; i <= index; i++)
		count += (search->marks[i] & (START | KNOWN)) != 0;
	return count;
}

/* Which jumps stay within their function. */
static void note_jumps(struct search *search, struct sweep *sweep)
{
	size_t from = (size_t)(sweep->marks - search->marks) + sweep->at;
	uint8_t *target;

	if (sweep->flow.kind != FLOW_JUMP && sweep->flow.kind != FLOW_BRANCH)
		return;
	target = mark_at(search, sweep->flow.target);
	if (target && (*target & (EDGE | START)) == EDGE &&
			starts_upto(search, from) == starts_upto(search, (size_t)(target - search->marks)))
		*target |= NEAR;
}

/* What jumps of other functions alone lead to is a function, too. */
static void choose_jumped(const struct search *search)
{
	for (size_t i = 0; i < search->size; i++)
		if ((search->marks[i] & (EDGE | JUMPED | NEAR)) == (EDGE | JUMPED))
			search->marks[i] |= START;
}

/* ---- functions ---- */

struct giving {
	function_starts_take *take;
	void *context;
	const struct code_range *known;	/* those that are left */
	size_t known_left;
	uint64_t known_end;		/* of those that have begun */
};

static bool is_known(struct giving *giving, uint64_t address)
{
	for (; giving->known_left && giving->known->address <= address; giving->known++, giving->known_left--)
		if (giving->known->end > giving->known_end)
			giving->known_end = giving->known->end;
	return address < giving->known_end;
}

/* False: no more is wanted. */
static bool give_part(const struct file_part *part, const uint8_t *marks, struct giving *giving)
{
	uint64_t start = 0;
	bool open = false;

	for (size_t i = 0; i < part->size; i++) {
		bool known = is_known(giving, part->address + i);

		if (open && (known || marks[i] & (START | KNOWN))) {
			if (!giving->take(giving->context, part->address + start, part->address + i))
				return false;
			open = false;
		}
		if (!known && marks[i] & START) {
			open = true;
			start = i;
		}
	}
	return !open || giving->take(giving->context, part->address + start, part->address + part->size);
}

static void find(struct search *search, struct giving *giving)
{
	const struct bare_file *file = search->file;
	const uint8_t *marks = search->marks;

	mark_known(search);
	sweep_code(search, note_targets);
	sweep_code(search, note_endless);
	sweep_code(search, note_edges);
	choose_starts(search);
	count_starts(search);
	sweep_code(search, note_jumps);
	choose_jumped(search);
	for (size_t i = 0; i < file->count; i++) {
		if (!file->parts[i].code)
			continue;
		if (!give_part(&file->parts[i], marks, giving))
			return;
		marks += file->parts[i].size;
	}
}

void function_starts_find(const struct bare_file *file, struct budget *budget, function_starts_take *take,
	void *context)
{
	struct search search = { .file = file, .read = flow_reader_of(file->arch) };
	struct giving giving = { take, context, file->known, file->known_count, 0 };
	size_t strides;

	for (size_t i = 0; i < file->count; i++) {
		search.size += file->parts[i].code ? file->parts[i].size : 0;
		search.entries_left += file->parts[i].size / 4;
	}
	strides = search.size / STRIDE + 1;
	if (!search.read || !search.size)
		return;
	search.marks = budget_resize(budget, NULL, 0, search.size);
	search.counts = budget_resize(budget, NULL, 0, strides * sizeof(*search.counts));
	if (search.marks && search.counts) {
		memset(search.marks, 0, search.size);
		find(&search, &giving);
	}
	budget_free(budget, search.counts, search.counts ? strides * sizeof(*search.counts) : 0);
	budget_free(budget, search.marks, search.marks ? search.size : 0);
}
