/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "btf.h"
#include "kernel_layout.h"

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
	find(btf, "pcpu_hot", "current_task", &layout->current);
	find_memory(&layout->memory, btf);
	find_cache(&layout->cache, btf);
	find_clock(&layout->clock, btf, (uint32_t)word);
}
