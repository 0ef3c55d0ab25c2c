/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "kernel_layout.h"
#include "processes.h"
#include "walk.h"

enum {
	DEPTH_MAX = 8,			/* of the tree of areas */
	NODES_MAX = 256,		/* that are read of one tree */
	PROCESS_MOST = 16 << 20,	/* bytes that are read of one process: it has its own quota */
	FOLDERS_MAX = 24,		/* in a path */
	PREVIOUS = 8,			/* of a struct list_head */
	PAGE_SHIFT = 12,
	CODE = 4,			/* VM_EXEC, of include/linux/mm.h */
};

/* ---- the list of processes ---- */

/* What the kernel points to is in the upper half of the addresses. */
static bool is_kernel(uint64_t address)
{
	return address >> 63;
}

static bool read_process(struct page_reader *reader, const struct kernel_layout *layout, uint64_t at,
	struct process *process)
{
	*process = (struct process) { .number = 0 };
	if (!page_reader_32(reader, at + layout->task_group, &process->number) ||
			!page_reader_64(reader, at + layout->task_memory, &process->memory))
		return false;
	page_reader_text(reader, at + layout->task_comm, process->name, sizeof(process->name));
	return true;
}

/* The kernel adds at the list's end, so what is met first when going back is the youngest. */
enum walk processes_visit(const struct kernel_layout *layout, uint64_t first, const struct walked_memory *memory,
	struct list_place *place, const struct process_visitor *visitor)
{
	struct page_reader reader = page_reader_of(memory);
	uint64_t head = first + layout->task_list;

	if (!layout->tasks || !page_reader_begin(&reader, head + PREVIOUS, place))
		return WALK_FAILED;
	for (; place->next != head && place->passed < PROCESSES_MAX; place->passed++) {
		struct process process;

		if (quota_is_spent(memory->quota))
			return WALK_PAUSED;
		if (!is_kernel(place->next) ||
				!read_process(&reader, layout, place->next - layout->task_list, &process))
			return WALK_FAILED;
		if (is_kernel(process.memory) && !visitor->process(visitor->context, &process))
			return WALK_PAUSED;
		if (!page_reader_64(&reader, place->next + PREVIOUS, &place->next))
			return WALK_FAILED;
	}
	return WALK_ENDED;
}

/* ---- the areas of a process ---- */

struct tree_walk {
	const struct memory_layout *layout;
	const struct process_visitor *visitor;
	struct page_reader nodes, areas, names;
	struct quota quota;
	uint64_t vdso;
	unsigned node_count, area_count;
	bool ended;			/* the visitor wants no more */
};

/* Puts the name before what `path` has. Returns where the path begins then; `at` if there is no room. */
static size_t put_before(char *path, size_t at, const char *name)
{
	size_t size = strlen(name);

	if (at < size + 1)
		return at;
	memcpy(path + at - size, name, size);
	path[at - size - 1] = '/';
	return at - size - 1;
}

/* Goes from the file up to the root of its file system, which is its own parent. False: something cannot be read. */
static bool read_path(struct tree_walk *walk, uint64_t file, char path[PROCESS_PATH_MAX + 1], const char **begin)
{
	size_t at = PROCESS_PATH_MAX;
	uint64_t entry, parent, text;

	path[at] = '\0';
	if (!page_reader_64(&walk->names, file + walk->layout->entry, &entry))
		return false;
	for (unsigned i = 0; i < FOLDERS_MAX; i++, entry = parent) {
		char name[256];

		if (!is_kernel(entry) || !page_reader_64(&walk->names, entry + walk->layout->parent, &parent) ||
				!page_reader_64(&walk->names, entry + walk->layout->name, &text))
			return false;
		if (parent == entry)
			break;
		page_reader_text(&walk->names, text, name, sizeof(name));
		if (!walk->names.known)
			return false;
		at = put_before(path, at, name);
	}
	*begin = path + at;
	return true;
}

/* It is not needed: 0 if it cannot be read. */
static uint64_t read_contents(struct tree_walk *walk, uint64_t file)
{
	uint64_t contents;

	return walk->layout->contents && page_reader_64(&walk->names, file + walk->layout->contents, &contents) &&
		is_kernel(contents) ? contents : 0;
}

static bool visit_area(struct tree_walk *walk, uint64_t at)
{
	const struct memory_layout *layout = walk->layout;
	struct process_area area = { .path = "[anonymous]" };
	char path[PROCESS_PATH_MAX + 1];
	uint64_t flags, file;

	if (++walk->area_count > PROCESS_AREAS_MAX)
		return true;
	if (!page_reader_64(&walk->areas, at + layout->start, &area.start) ||
			!page_reader_64(&walk->areas, at + layout->end, &area.end) ||
			!page_reader_64(&walk->areas, at + layout->flags, &flags) ||
			!page_reader_64(&walk->areas, at + layout->file, &file) ||
			!page_reader_64(&walk->areas, at + layout->offset, &area.offset))
		return false;
	if (!(flags & CODE) || area.start >= area.end || is_kernel(area.end))
		return true;
	area.offset <<= PAGE_SHIFT;
	if (is_kernel(file))
		area.contents = read_contents(walk, file);
	if (file && (!is_kernel(file) || !read_path(walk, file, path, &area.path)))
		return false;
	if (!file && layout->vdso && area.start == walk->vdso)
		area.path = "[vdso]";
	if (!file)
		area.offset = 0;
	walk->ended = !walk->visitor->area(walk->visitor->context, &area);
	return true;
}

/*
 * A pointer to a node has the node's kind in its low bits: see mte_to_node() and mte_node_type() in
 * lib/maple_tree.c of Linux.
 */
enum { NODE_BITS = 0xff, KIND_SHIFT = 3, KIND_BITS = 0xf, KIND_LEAF = 1, KIND_RANGE = 2, KIND_GAPS = 3 };

/* `last`: the last address that the node is about. What follows in the node after that address is void. */
static bool visit_node(struct tree_walk *walk, uint64_t pointer, uint64_t last, unsigned depth)
{
	uint64_t node = pointer & ~(uint64_t)NODE_BITS;
	unsigned kind = pointer >> KIND_SHIFT & KIND_BITS;
	const struct tree_layout *layout = kind == KIND_GAPS ? &walk->layout->gaps : &walk->layout->wide;
	bool good = true;

	if (!is_kernel(node) || kind < KIND_LEAF || kind > KIND_GAPS || depth == DEPTH_MAX)
		return true;
	if (++walk->node_count > NODES_MAX)
		return true;
	for (uint32_t i = 0; i < layout->slots_count && !walk->ended; i++) {
		uint64_t end = last, slot;

		if (quota_is_spent(&walk->quota))
			return true;
		if (i < layout->pivots_count && !page_reader_64(&walk->nodes, node + layout->pivots + 8 * i, &end))
			return false;
		if ((i && !end) || end > last)
			end = last;
		if (!page_reader_64(&walk->nodes, node + layout->slots + 8 * i, &slot))
			return false;
		if (is_kernel(slot))
			good &= kind == KIND_LEAF ? visit_area(walk, slot) : visit_node(walk, slot, end, depth + 1);
		if (end == last)
			break;
	}
	return good;
}

bool process_areas_visit(const struct kernel_layout *layout, const struct process *process,
	const struct walked_memory *memory, const struct process_visitor *visitor)
{
	struct tree_walk walk = { .layout = &layout->memory, .visitor = visitor, .quota.most = PROCESS_MOST };
	const struct walked_memory own = { .reader = memory->reader, .quota = &walk.quota };
	uint64_t root;
	bool good;

	walk.nodes = walk.areas = walk.names = page_reader_of(&own);
	good = layout->memory.known && page_reader_64(&walk.nodes, process->memory + layout->memory.tree, &root) &&
		(!layout->memory.vdso ||
		page_reader_64(&walk.nodes, process->memory + layout->memory.vdso, &walk.vdso)) &&
		visit_node(&walk, root, UINT64_MAX, 0);
	quota_spend(memory->quota, walk.quota.spent);
	return good;
}
