/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "fake_btf.h"

enum { INT = 1, PTR = 2, ARRAY = 3, STRUCT = 4, UNION = 5, ENUM = 6, TYPEDEF = 8, CONST = 10, FUNC_PROTO = 13 };
enum { ROOM = 8192, HEAD = 24 };

struct builder {
	uint8_t types[ROOM], texts[ROOM];
	size_t types_size, texts_size;
	unsigned count;
};

struct member {
	const char *name;
	unsigned type;
	uint32_t at;			/* bytes */
};

static void put(struct builder *builder, uint32_t word)
{
	for (int i = 0; i < 4; i++)
		builder->types[builder->types_size++] = (uint8_t)(word >> (8 * i));
}

static uint32_t text(struct builder *builder, const char *name)
{
	size_t at = builder->texts_size;

	if (!*name)
		return 0;
	strcpy((char *)builder->texts + at, name);
	builder->texts_size += strlen(name) + 1;
	return (uint32_t)at;
}

/* Returns its id. */
static unsigned type(struct builder *builder, const char *name, unsigned kind, size_t elements, uint32_t value)
{
	put(builder, text(builder, name));
	put(builder, kind << 24 | (uint32_t)elements);
	put(builder, value);
	return ++builder->count;
}

static unsigned composed(struct builder *builder, const char *name, unsigned kind, uint32_t size,
	const struct member *members, size_t count)
{
	unsigned id = type(builder, name, kind, count, size);

	for (size_t i = 0; i < count; i++) {
		put(builder, text(builder, members[i].name));
		put(builder, members[i].type);
		put(builder, 8 * members[i].at);
	}
	return id;
}

static unsigned array(struct builder *builder, unsigned element, unsigned index, uint32_t count)
{
	unsigned id = type(builder, "", ARRAY, 0, 0);

	put(builder, element);
	put(builder, index);
	put(builder, count);
	return id;
}

static unsigned integer(struct builder *builder, const char *name, uint32_t size)
{
	unsigned id = type(builder, name, INT, 0, size);

	put(builder, 8 * size);
	return id;
}

#define COMPOSED(kind, name, size, ...) composed(builder, name, kind, size, (struct member[]) { __VA_ARGS__ }, \
	sizeof((struct member[]) { __VA_ARGS__ }) / sizeof(struct member))

static void put_modules(struct builder *builder, bool old, unsigned byte, unsigned number, unsigned pointer)
{
	unsigned list = COMPOSED(STRUCT, "list_head", 16, { "next", pointer, 0 }, { "prev", pointer, 8 });
	unsigned name = array(builder, byte, number, FAKE_MODULE_NAME_SIZE);
	unsigned part = COMPOSED(STRUCT, old ? "module_layout" : "module_memory", old ? FAKE_OLD_PART : FAKE_NEW_PART,
		{ "base", pointer, FAKE_PART_BASE }, { "size", number, FAKE_PART_SIZE });
	unsigned parts = old ? part : array(builder, part, number, FAKE_NEW_PARTS);
	unsigned arch = COMPOSED(STRUCT, "mod_arch_specific", 24, { "num_orcs", number, 0 },
		{ "orc_unwind_ip", pointer, 8 }, { "orc_unwind", pointer, 16 });

	COMPOSED(STRUCT, "mod_kallsyms", FAKE_MOD_KALLSYMS_SIZE, { "symtab", pointer, FAKE_SYMBOLS },
		{ "num_symtab", number, FAKE_SYMBOLS_COUNT }, { "strtab", pointer, FAKE_TEXTS },
		{ "typetab", pointer, FAKE_TYPES });
	COMPOSED(STRUCT, "module", FAKE_MODULE_SIZE, { "state", number, 0 }, { "list", list, FAKE_MODULE_LIST },
		{ "name", name, FAKE_MODULE_NAME }, { old ? "core_layout" : "mem", parts, FAKE_MODULE_PARTS },
		{ old ? "init_layout" : "spare", part, FAKE_OLD_INIT }, { "kallsyms", pointer, FAKE_KALLSYMS },
		{ "arch", arch, FAKE_ORC_COUNT });
}

static void put_made_code(struct builder *builder, unsigned byte, unsigned number, unsigned pointer)
{
	unsigned list = COMPOSED(STRUCT, "list_node", 16, { "next", pointer, 0 }, { "prev", pointer, 8 });
	unsigned name = array(builder, byte, number, FAKE_BPF_NAME_SIZE);
	unsigned word = integer(builder, "long unsigned int", 8);

	COMPOSED(STRUCT, "bpf_ksym", FAKE_BPF_SIZE, { "start", word, FAKE_BPF_START }, { "end", word, FAKE_BPF_END },
		{ "name", name, FAKE_BPF_NAME }, { "lnode", list, FAKE_BPF_LIST });
	COMPOSED(STRUCT, "ftrace_ops", FAKE_OPS_SIZE, { "func", pointer, 0 }, { "trampoline", word, FAKE_TRAMPOLINE },
		{ "trampoline_size", word, FAKE_TRAMPOLINE_SIZE }, { "list", list, FAKE_TRAMPOLINE_LIST });
}

/* Its list lies in a struct without a name, as those of some kernels do, which is a union's. */
static void put_tasks(struct builder *builder, unsigned byte, unsigned number, unsigned pointer)
{
	unsigned hidden = COMPOSED(STRUCT, "", 24, { "before", pointer, 0 }, { "tasks", pointer, 8 });
	unsigned both = COMPOSED(UNION, "", 24, { "other", number, 0 }, { "", hidden, 0 });
	unsigned pid = type(builder, "pid_t", TYPEDEF, 0, type(builder, "", CONST, 0, number));
	unsigned comm = array(builder, byte, number, 16);

	COMPOSED(STRUCT, "task_struct", 128, { "stack", pointer, FAKE_TASK_STACK }, { "", both, FAKE_TASK_LIST - 8 },
		{ "mm", pointer, FAKE_TASK_MEMORY }, { "__state", number, FAKE_TASK_STATE },
		{ "on_rq", number, FAKE_TASK_QUEUED }, { "pid", pid, FAKE_TASK_PID }, { "tgid", pid, FAKE_TASK_GROUP },
		{ "comm", comm, FAKE_TASK_COMM });
	unsigned data = COMPOSED(STRUCT, "irq_data", 16, { "state_mask", number, 0 }, { "irq", number, FAKE_IRQ });

	COMPOSED(STRUCT, "irq_desc", 64, { "irq_data", data, FAKE_IRQ_DATA });
}

static void put_tree(struct builder *builder, const char *name, unsigned number, unsigned pointer, uint32_t slots)
{
	unsigned word = integer(builder, "long unsigned int", 8);
	unsigned pivots = array(builder, word, number, slots - 1), pointers = array(builder, pointer, number, slots);

	COMPOSED(STRUCT, name, 16 * slots, { "parent", pointer, 0 }, { "pivot", pivots, 8 },
		{ "slot", pointers, 8 * slots });
}

/* A process's memory, and the files in it. */
static void put_memory(struct builder *builder, unsigned number, unsigned pointer)
{
	unsigned word = integer(builder, "long unsigned int", 8);
	unsigned tree = COMPOSED(STRUCT, "maple_tree", 16, { "ma_lock", number, 0 }, { "ma_root", pointer, 8 });
	unsigned context = COMPOSED(STRUCT, "mm_context_t", 16, { "vdso", pointer, 8 });
	unsigned path = COMPOSED(STRUCT, "path", 16, { "mnt", pointer, 0 }, { "dentry", pointer, 8 });
	unsigned name = COMPOSED(STRUCT, "qstr", 16, { "len", number, 0 }, { "name", pointer, 8 });

	COMPOSED(STRUCT, "mm_struct", 48, { "mm_mt", tree, FAKE_TREE - 8 }, { "context", context, FAKE_VDSO - 8 });
	put_tree(builder, "maple_range_64", number, pointer, FAKE_SLOTS);
	put_tree(builder, "maple_arange_64", number, pointer, FAKE_GAP_SLOTS);
	COMPOSED(STRUCT, "vm_area_struct", 48, { "vm_start", word, 0 }, { "vm_end", word, 8 }, { "vm_pgoff", word, 16 },
		{ "vm_flags", word, 24 }, { "vm_file", pointer, 32 });
	COMPOSED(STRUCT, "file", 32, { "f_path", path, 8 }, { "f_mapping", pointer, FAKE_FILE_CONTENTS });
	COMPOSED(STRUCT, "dentry", 48, { "d_parent", pointer, 8 }, { "d_name", name, 16 });
}

/* The pages of a file; what a struct of a page means depends on its use. */
static void put_cache(struct builder *builder, unsigned byte, unsigned number, unsigned pointer)
{
	unsigned word = integer(builder, "long unsigned int", 8);
	unsigned slots = array(builder, pointer, number, FAKE_CACHE_SLOTS);
	unsigned tree = COMPOSED(STRUCT, "xarray", 16, { "xa_lock", number, 0 }, { "xa_head", pointer, 8 });
	unsigned cached = COMPOSED(STRUCT, "", 40, { "mapping", pointer, 16 }, { "index", word, FAKE_PAGE_INDEX - 8 });
	unsigned behind = COMPOSED(STRUCT, "", 8, { "compound_head", word, 0 });
	unsigned uses = COMPOSED(UNION, "", 40, { "", cached, 0 }, { "", behind, 0 });

	COMPOSED(STRUCT, "xa_node", 16 + 8 * FAKE_CACHE_SLOTS, { "shift", byte, 0 }, { "slots", slots, 16 });
	COMPOSED(STRUCT, "address_space", 32, { "host", pointer, 0 }, { "i_pages", tree, FAKE_CACHE_ROOT - 8 });
	COMPOSED(STRUCT, "inode", 32, { "i_size", word, 8 });
	COMPOSED(STRUCT, "page", FAKE_PAGE, { "flags", word, 0 }, { "", uses, 8 });
	COMPOSED(STRUCT, "folio", FAKE_PAGE, { "flags", word, 0 }, { "", uses, 8 });
}

/* The kernel's time; before 6.13 the struct with all of it had no name. */
static void put_clock(struct builder *builder, bool old, unsigned number, unsigned pointer)
{
	unsigned word = integer(builder, "long unsigned int", 8);
	unsigned count = COMPOSED(STRUCT, "seqcount", 4, { "sequence", number, 0 });
	unsigned lock = COMPOSED(STRUCT, "seqcount_raw_spinlock", 4, { "seqcount", count, 0 });
	unsigned reader = COMPOSED(STRUCT, "tk_read_base", 56, { "clock", pointer, 0 },
		{ "shift", number, FAKE_CLOCK_SHIFT }, { "xtime_nsec", word, FAKE_CLOCK_FRACTION },
		{ "base", word, FAKE_CLOCK_BASE });
	unsigned keeper = COMPOSED(STRUCT, "timekeeper", 112, { "tkr_mono", reader, 0 }, { "tkr_raw", reader, 56 });

	if (!old)
		COMPOSED(STRUCT, "tk_data", 128, { "seq", lock, 0 }, { "timekeeper", keeper, FAKE_NEW_CLOCK });
}

static void put_head(uint8_t *head, size_t types, size_t texts)
{
	const uint32_t words[HEAD / 4] = { 0x0001eb9f, HEAD, 0, (uint32_t)types, (uint32_t)types, (uint32_t)texts };

	for (size_t i = 0; i < HEAD; i++)
		head[i] = (uint8_t)(words[i / 4] >> (8 * (i % 4)));
}

uint8_t *fake_btf(bool old, size_t before, size_t *size)
{
	struct builder *builder = util_alloc(sizeof(*builder));
	unsigned byte, number, pointer, proto;
	uint8_t *bytes;

	builder->texts_size = 1;
	byte = integer(builder, "char", 1);
	number = integer(builder, "int", 4);
	pointer = type(builder, "", PTR, 0, 0);
	proto = type(builder, "", FUNC_PROTO, 1, 0);
	put(builder, 0);
	put(builder, number);
	(void)proto;
	type(builder, "colour", ENUM, 1, 4);
	put(builder, text(builder, "RED"));
	put(builder, 1);
	put_modules(builder, old, byte, number, pointer);
	put_made_code(builder, byte, number, pointer);
	put_tasks(builder, byte, number, pointer);
	put_memory(builder, number, pointer);
	put_cache(builder, byte, number, pointer);
	put_clock(builder, old, number, pointer);

	*size = before + HEAD + builder->types_size + builder->texts_size;
	bytes = util_alloc(*size);
	put_head(bytes + before, builder->types_size, builder->texts_size);
	memcpy(bytes + before + HEAD, builder->types, builder->types_size);
	memcpy(bytes + before + HEAD + builder->types_size, builder->texts, builder->texts_size);
	free(builder);
	return bytes;
}
