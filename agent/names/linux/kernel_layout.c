/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "kernel_layout.h"

/* ---- btf ---- */

enum {
	HEAD = 24, TYPE = 12, MEMBER = 12,	/* bytes */
	TYPES_MAX = 1 << 22,
	CHAIN = 32, NESTED = 8, STEPS_MAX = 1 << 16,	/* typedefs in a row; structs in structs; members looked at */
};

enum kind {
	KIND_INT = 1, KIND_PTR, KIND_ARRAY, KIND_STRUCT, KIND_UNION, KIND_ENUM, KIND_FWD, KIND_TYPEDEF, KIND_VOLATILE,
	KIND_CONST, KIND_RESTRICT, KIND_FUNC, KIND_FUNC_PROTO, KIND_VAR, KIND_DATASEC, KIND_FLOAT, KIND_DECL_TAG,
	KIND_TYPE_TAG, KIND_ENUM64, KINDS,
};

/* How many bytes follow a type of each kind: a fixed number, and a number for each of its elements. */
static const struct {
	uint8_t fixed, each;
} tails[KINDS] = {
	[KIND_INT] = { 4, 0 }, [KIND_ARRAY] = { 12, 0 }, [KIND_STRUCT] = { 0, MEMBER }, [KIND_UNION] = { 0, MEMBER },
	[KIND_ENUM] = { 0, 8 }, [KIND_FUNC_PROTO] = { 0, 8 }, [KIND_VAR] = { 4, 0 }, [KIND_DATASEC] = { 0, 12 },
	[KIND_DECL_TAG] = { 4, 0 }, [KIND_ENUM64] = { 0, 12 },
};

struct btf {
	struct budget *budget;
	const uint8_t *types, *texts;
	uint32_t texts_size;
	uint32_t *places;		/* offset in `types`, by type id minus 1 */
	uint32_t count, room;
	uint32_t word;
};

struct type {
	const uint8_t *bytes;
	enum kind kind;
	uint32_t elements;
	bool bits;			/* its members' offsets hold sizes of bit fields, too */
	uint32_t value;			/* its size, or the type that it refers to */
};

static struct type type_at(const uint8_t *bytes)
{
	uint32_t info = bytes_32(bytes + 4);

	return (struct type) {
		.bytes = bytes, .kind = (enum kind)(info >> 24 & 31), .elements = info & 0xffff,
		.bits = info >> 31, .value = bytes_32(bytes + 8),
	};
}

/* ---- the index ---- */

static bool add_place(struct btf *btf, size_t place)
{
	uint32_t *places = budget_array(btf->budget, btf->places, btf->count, &btf->room, sizeof(*places));

	if (!places || btf->count == TYPES_MAX)
		return false;
	btf->places = places;
	btf->places[btf->count++] = (uint32_t)place;
	return true;
}

/* Indexes the types up to the first one that makes no sense, or the end. False: there is no memory. */
static bool index_types(struct btf *btf, size_t size)
{
	for (size_t at = 0; size - at >= TYPE;) {
		struct type type = type_at(btf->types + at);
		size_t whole = TYPE;

		if (type.kind == 0 || type.kind >= KINDS)
			return true;
		whole += tails[type.kind].fixed + (size_t)tails[type.kind].each * type.elements;
		if (whole > size - at)
			return true;
		if (!add_place(btf, at))
			return false;
		at += whole;
	}
	return true;
}

/* False: these bytes only begin like BTF. */
static bool set_parts(struct btf *btf, const uint8_t *head, size_t left, size_t *types_size)
{
	uint64_t types = (uint64_t)HEAD + bytes_32(head + 8), texts = (uint64_t)HEAD + bytes_32(head + 16);

	*types_size = bytes_32(head + 12);
	btf->texts_size = bytes_32(head + 20);
	btf->types = head + types;
	btf->texts = head + texts;
	return types <= left && *types_size <= left - types && texts <= left && btf->texts_size <= left - texts &&
		*types_size >= TYPE && btf->texts_size && !btf->texts[btf->texts_size - 1];
}

struct btf *btf_new(const uint8_t *bytes, size_t size, size_t word, struct budget *budget)
{
	static const uint8_t magic[8] = { 0x9f, 0xeb, 1, 0, HEAD };
	const uint8_t *at = bytes, *end = bytes + size;
	struct btf *btf = util_alloc(sizeof(*btf));
	size_t types;

	*btf = (struct btf) { .budget = budget, .word = (uint32_t)word };
	for (; (at = memmem(at, (size_t)(end - at), magic, sizeof(magic))); at++) {
		if (end - at < HEAD)
			break;
		if (set_parts(btf, at, (size_t)(end - at), &types) && index_types(btf, types) && btf->count)
			return btf;
	}
	btf_free(btf);
	return NULL;
}

void btf_free(struct btf *btf)
{
	if (!btf)
		return;
	budget_free(btf->budget, btf->places, btf->room * sizeof(*btf->places));
	free(btf);
}

/* ---- types ---- */

/* Finds a type, behind typedefs and qualifiers. False: there is no such type. */
static bool resolve(const struct btf *btf, uint32_t id, struct type *type)
{
	for (int step = 0; step < CHAIN; step++) {
		if (id == 0 || id > btf->count)
			return false;
		*type = type_at(btf->types + btf->places[id - 1]);
		if (type->kind != KIND_TYPEDEF && type->kind != KIND_VOLATILE && type->kind != KIND_CONST &&
				type->kind != KIND_RESTRICT && type->kind != KIND_TYPE_TAG)
			return true;
		id = type->value;
	}
	return false;
}

/* The bytes of a type; 0: not known. `element`: of an element, if it is an array. */
static uint32_t size_of(const struct btf *btf, uint32_t id, uint32_t *element)
{
	uint64_t count = 1;
	struct type type;

	*element = 0;
	for (int step = 0; step < CHAIN && resolve(btf, id, &type); step++) {
		if (type.kind == KIND_ARRAY) {
			count *= bytes_32(type.bytes + TYPE + 8);
			id = bytes_32(type.bytes + TYPE);
			if (count > UINT32_MAX)
				return 0;
			continue;
		}
		*element = type.kind == KIND_PTR ? btf->word : type.kind == KIND_FUNC_PROTO ? 0 : type.value;
		return count * *element <= UINT32_MAX ? (uint32_t)(count * *element) : 0;
	}
	return 0;
}

static bool is_named(const struct btf *btf, uint32_t text, const char *name, size_t size)
{
	return text < btf->texts_size && size < btf->texts_size - text &&
		memcmp(btf->texts + text, name, size) == 0 && btf->texts[text + size] == 0;
}

static bool holds_members(const struct type *type)
{
	return type->kind == KIND_STRUCT || type->kind == KIND_UNION;
}

static bool find_type(const struct btf *btf, const char *name, struct type *type)
{
	for (uint32_t i = 0; i < btf->count; i++) {
		*type = type_at(btf->types + btf->places[i]);
		if (holds_members(type) && is_named(btf, bytes_32(type->bytes), name, strlen(name)))
			return true;
	}
	return false;
}

uint32_t btf_size(const struct btf *btf, const char *type)
{
	struct type found;

	return find_type(btf, type, &found) ? found.value : 0;
}

struct walk {
	const struct btf *btf;
	const char *name;		/* of the member, `size` bytes */
	size_t size;
	unsigned steps;			/* that are left */
	uint32_t offset, type;		/* what is found */
};

/* The offset of a member, in bytes. False: it does not begin at a byte. */
static bool place_of(const struct type *type, const uint8_t *member, uint32_t *offset)
{
	uint32_t bits = bytes_32(member + 8);

	*offset = (type->bits ? bits & 0xffffff : bits) / 8;
	return bits % 8 == 0 && !(type->bits && bits >> 24);
}

static bool find_member(struct walk *walk, const struct type *type, uint32_t base, int depth)
{
	for (uint32_t i = 0; i < type->elements && walk->steps; i++) {
		const uint8_t *member = type->bytes + TYPE + (size_t)i * MEMBER;
		struct type inner;
		uint32_t offset;

		walk->steps--;
		if (!place_of(type, member, &offset))
			continue;
		if (is_named(walk->btf, bytes_32(member), walk->name, walk->size)) {
			walk->offset = base + offset;
			walk->type = bytes_32(member + 4);
			return true;
		}
		if (is_named(walk->btf, bytes_32(member), "", 0) && depth < NESTED &&
				resolve(walk->btf, bytes_32(member + 4), &inner) && holds_members(&inner) &&
				find_member(walk, &inner, base + offset, depth + 1))
			return true;
	}
	return false;
}

bool btf_member(const struct btf *btf, const char *type, const char *path, struct btf_member *member)
{
	struct walk walk = { .btf = btf, .steps = STEPS_MAX };
	struct type outer;

	if (!find_type(btf, type, &outer))
		return false;
	for (const char *name = path;; name += walk.size + 1) {
		walk.name = name;
		walk.size = strcspn(name, ".");
		if (!holds_members(&outer) || !find_member(&walk, &outer, walk.offset, 0))
			return false;
		if (!name[walk.size])
			break;
		if (!resolve(btf, walk.type, &outer))
			return false;
	}
	member->offset = walk.offset;
	member->size = size_of(btf, walk.type, &member->element);
	return true;
}

/* ---- kernel layout ---- */

enum { TREE_SLOTS_MAX = 64 };		/* of a node: Linux has 16 */

static bool find(const struct btf *btf, const char *type, const char *path, uint32_t *offset)
{
	struct btf_member member;
	bool found = btf_member(btf, type, path, &member);

	*offset = found ? member.offset : 0;
	return found;
}

static bool find_text(const struct btf *btf, const char *type, const char *path, uint32_t *offset, uint32_t *size)
{
	struct btf_member member;

	if (!btf_member(btf, type, path, &member) || !member.size)
		return false;
	*offset = member.offset;
	*size = member.size;
	return true;
}

/* Since 6.4 a module's memory is an array; before that it had a core part and one that is freed after its start. */
static bool find_parts(struct kernel_layout *layout, const struct btf *btf)
{
	struct btf_member parts;
	const char *part = "module_memory";

	if (btf_member(btf, "module", "mem", &parts) && parts.element) {
		layout->parts_count = parts.size / parts.element;
		layout->part_size = parts.element;
	} else if (btf_member(btf, "module", "core_layout", &parts)) {
		part = "module_layout";
		layout->parts_count = 1;
		layout->part_size = parts.size;
		find(btf, "module", "init_layout", &layout->init_part);
	} else {
		return false;
	}
	layout->parts = parts.offset;
	return find(btf, part, "base", &layout->part_base) && find(btf, part, "size", &layout->part_length);
}

static void find_code_lists(struct kernel_layout *layout, const struct btf *btf)
{
	struct code_list_layout *bpf = &layout->bpf, *trampolines = &layout->trampolines;

	bpf->ends = true;
	bpf->known = find(btf, "bpf_ksym", "lnode", &bpf->list) && find(btf, "bpf_ksym", "start", &bpf->start) &&
		find(btf, "bpf_ksym", "end", &bpf->length) &&
		find_text(btf, "bpf_ksym", "name", &bpf->name, &bpf->name_size);
	trampolines->known = find(btf, "ftrace_ops", "list", &trampolines->list) &&
		find(btf, "ftrace_ops", "trampoline", &trampolines->start) &&
		find(btf, "ftrace_ops", "trampoline_size", &trampolines->length);
}

static bool find_tree(const struct btf *btf, const char *type, struct tree_layout *tree)
{
	struct btf_member pivots, slots;

	if (!btf_member(btf, type, "pivot", &pivots) || !btf_member(btf, type, "slot", &slots) || !slots.element ||
			!pivots.element)
		return false;
	*tree = (struct tree_layout) {
		.pivots = pivots.offset, .pivots_count = pivots.size / pivots.element,
		.slots = slots.offset, .slots_count = slots.size / slots.element,
	};
	return tree->slots_count <= TREE_SLOTS_MAX;
}

/* The tree is there since 6.1. */
static void find_memory(struct memory_layout *memory, const struct btf *btf)
{
	memory->known = find(btf, "mm_struct", "mm_mt.ma_root", &memory->tree) &&
		find_tree(btf, "maple_range_64", &memory->wide) && find_tree(btf, "maple_arange_64", &memory->gaps) &&
		find(btf, "vm_area_struct", "vm_start", &memory->start) &&
		find(btf, "vm_area_struct", "vm_end", &memory->end) &&
		find(btf, "vm_area_struct", "vm_pgoff", &memory->offset) &&
		find(btf, "vm_area_struct", "vm_flags", &memory->flags) &&
		find(btf, "vm_area_struct", "vm_file", &memory->file) &&
		find(btf, "file", "f_path.dentry", &memory->entry) &&
		find(btf, "dentry", "d_name.name", &memory->name) && find(btf, "dentry", "d_parent", &memory->parent);
	find(btf, "mm_struct", "context.vdso", &memory->vdso);
	find(btf, "file", "f_mapping", &memory->contents);
}

static void find_cache(struct cache_layout *cache, const struct btf *btf)
{
	struct btf_member slots;

	if (!btf_member(btf, "xa_node", "slots", &slots) || !slots.element)
		return;
	cache->slots = slots.offset;
	cache->slots_count = slots.size / slots.element;
	cache->page_size = btf_size(btf, "page");
	cache->known = cache->slots_count && cache->slots_count <= TREE_SLOTS_MAX &&
		!(cache->slots_count & (cache->slots_count - 1)) && cache->page_size &&
		find(btf, "xa_node", "shift", &cache->shift) &&
		find(btf, "address_space", "host", &cache->owner) &&
		find(btf, "address_space", "i_pages.xa_head", &cache->root) &&
		find(btf, "inode", "i_size", &cache->size) &&
		find(btf, "folio", "mapping", &cache->contents) && find(btf, "folio", "index", &cache->index) &&
		find(btf, "page", "compound_head", &cache->head);
}

/* Before 6.13 the struct has no name: behind a sequence count it holds struct timekeeper. */
static void find_clock(struct clock_layout *clock, const struct btf *btf, uint32_t word)
{
	uint32_t place, count = btf_size(btf, "seqcount_raw_spinlock");

	if (!find(btf, "tk_data", "timekeeper", &place))
		place = ((count ? count : btf_size(btf, "seqcount")) + word - 1) / word * word;
	clock->known = place && find(btf, "timekeeper", "tkr_mono.base", &clock->base) &&
		find(btf, "timekeeper", "tkr_mono.xtime_nsec", &clock->fraction) &&
		find(btf, "timekeeper", "tkr_mono.shift", &clock->shift);
	clock->base += place;
	clock->fraction += place;
	clock->shift += place;
}

void kernel_layout_set(struct kernel_layout *layout, const struct btf *btf, size_t word)
{
	uint32_t delayed;

	*layout = (struct kernel_layout) { .modules = false };
	layout->modules = find(btf, "module", "list", &layout->module_list) &&
		find_text(btf, "module", "name", &layout->module_name, &layout->module_name_size) &&
		find_parts(layout, btf) && find(btf, "module", "kallsyms", &layout->kallsyms) &&
		find(btf, "mod_kallsyms", "symtab", &layout->symbols) &&
		find(btf, "mod_kallsyms", "num_symtab", &layout->symbols_count) &&
		find(btf, "mod_kallsyms", "strtab", &layout->texts) &&
		find(btf, "mod_kallsyms", "typetab", &layout->types);
	layout->orc = find(btf, "module", "arch.num_orcs", &layout->orc_count) &&
		find(btf, "module", "arch.orc_unwind_ip", &layout->orc_ips) &&
		find(btf, "module", "arch.orc_unwind", &layout->orc_entries);
	find_code_lists(layout, btf);
	layout->tasks = find(btf, "task_struct", "tasks", &layout->task_list) &&
		find(btf, "task_struct", "pid", &layout->task_pid) &&
		find(btf, "task_struct", "tgid", &layout->task_group) &&
		find_text(btf, "task_struct", "comm", &layout->task_comm, &layout->task_comm_size) &&
		find(btf, "task_struct", "stack", &layout->task_stack) &&
		find(btf, "task_struct", "mm", &layout->task_memory);
	layout->states = (find(btf, "task_struct", "__state", &layout->task_state) ||
		find(btf, "task_struct", "state", &layout->task_state)) &&	/* before 5.14: a long */
		find(btf, "task_struct", "on_rq", &layout->task_queued) &&
		/* Since 6.12 a thread that sleeps may still be in the queue: its state is not told by these two. */
		!find(btf, "sched_entity", "sched_delayed", &delayed);
	layout->irqs = find(btf, "irq_desc", "irq_data.irq", &layout->irq_number);
	find(btf, "pcpu_hot", "current_task", &layout->current);
	find(btf, "pcpu_hot", "preempt_count", &layout->preempt);
	find_memory(&layout->memory, btf);
	find_cache(&layout->cache, btf);
	find_clock(&layout->clock, btf, (uint32_t)word);
}
