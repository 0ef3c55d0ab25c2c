/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <linux/buildid.h>
#include <linux/elf.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/version.h>
#include <asm/page_types.h>

#include "ktop.h"
#include "private.h"
#include "symbols.h"
#include "wire.h"

#define NOTE_OF "/sys/module/%s/notes/.note.gnu.build-id"

/* A stretch of code: the kernel's or a module's. */
struct region {
	struct list_head in;
	u64 start, end, bias;
	bool module;			/* false: the kernel itself */
	bool told, named, identified;	/* the hook has the object; its functions; its build id */
	char name[MODULE_NAME_LEN];
};

/* All regions, in order of address. Guarded by the lock, which the module notifier takes, too. */
static LIST_HEAD(regions);
static DEFINE_MUTEX(lock);
static const char *(*lookup)(unsigned long address, unsigned long *size, unsigned long *offset,
	char **module, char *name);
static char name_found[KSYM_NAME_LEN];	/* the last name that the drainer found */

static u64 text_of(const struct module *module, u64 *end)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
	u64 start = (u64)module->core_layout.base;

	*end = start + module->core_layout.text_size;
#else
	u64 start = (u64)module->mem[MOD_TEXT].base;

	*end = start + module->mem[MOD_TEXT].size;
#endif
	return start;
}

static void add(u64 start, u64 end, const char *name, u64 bias, bool module)
{
	struct region *region = kzalloc(sizeof(*region), GFP_KERNEL), *next;

	if (!region)
		return;
	region->start = start;
	region->end = end;
	region->bias = bias;
	region->module = module;
	strscpy(region->name, name, sizeof(region->name));
	list_for_each_entry(next, &regions, in)
		if (next->start >= start)
			break;
	list_add_tail(&region->in, &next->in);
}

static void add_module(const struct module *module)
{
	u64 end, start = text_of(module, &end);

	if (start != end)
		add(start, end, module->name, start, true);
}

static void drop(u64 start)
{
	struct region *region, *next;

	list_for_each_entry_safe(region, next, &regions, in) {
		if (region->start != start)
			continue;
		list_del(&region->in);
		kfree(region);
	}
}

/* The module's notes can be read now: its object is given again, with the build id. */
static void tell_again(u64 start)
{
	struct region *region;

	list_for_each_entry(region, &regions, in)
		if (region->start == start)
			region->told = region->identified;
}

static int notice(struct notifier_block *self, unsigned long state, void *of)
{
	const struct module *module = of;
	u64 end, start = text_of(module, &end);

	mutex_lock(&lock);
	if (state == MODULE_STATE_COMING || state == MODULE_STATE_GOING)
		drop(start);
	if (state == MODULE_STATE_COMING)
		add_module(module);
	if (state == MODULE_STATE_LIVE)
		tell_again(start);
	mutex_unlock(&lock);
	return NOTIFY_OK;
}

static struct notifier_block notifier = { .notifier_call = notice };

/* Adds the modules that were loaded before the notifier was set; ktop.ko is among them. */
static void add_modules(void)
{
	struct list_head *modules = (void *)private_address("modules");
	struct mutex *guard = (void *)private_address("module_mutex");
	struct module *module;

	if (!modules || !guard)
		return;
	mutex_lock(guard);
	mutex_lock(&lock);
	list_for_each_entry(module, modules, list) {
		u64 end, start = text_of(module, &end);

		if (module->state == MODULE_STATE_UNFORMED)
			continue;
		drop(start);
		add_module(module);
	}
	mutex_unlock(&lock);
	mutex_unlock(guard);
}

/*
 * The second region of the kernel has the functions that Linux ran only at its start, and has freed. The idle thread's
 * stack still has return addresses in them, so they need names.
 */
int symbols_start(void)
{
	u64 slide = private_address("_text") - __START_KERNEL;

	lookup = (void *)private_address("kallsyms_lookup");
	if (!lookup)
		return -ENOENT;
	add(private_address("_stext"), private_address("_etext"), "kernel", slide, false);
	add(private_address("_sinittext"), private_address("_einittext"), "kernel", slide, false);
	register_module_notifier(&notifier);
	add_modules();
	return 0;
}

void symbols_stop(void)
{
	struct region *region, *next;

	unregister_module_notifier(&notifier);
	list_for_each_entry_safe(region, next, &regions, in)
		kfree(region);
}

/* Reads a module's build id from its ELF note. Returns the size; 0: there is none. */
static u32 read_build_id(const char *module, u8 id[BUILD_ID_SIZE_MAX])
{
	struct {
		struct elf32_note head;
		char owner[4];
		u8 id[BUILD_ID_SIZE_MAX];
	} note;
	char path[sizeof(NOTE_OF) + MODULE_NAME_LEN];
	struct file *file;
	loff_t at = 0;
	ssize_t size;

	snprintf(path, sizeof(path), NOTE_OF, module);
	file = filp_open(path, O_RDONLY, 0);
	if (IS_ERR(file))
		return 0;
	size = kernel_read(file, &note, sizeof(note), &at);
	filp_close(file, NULL);
	if (size < (ssize_t)offsetof(typeof(note), id) || note.head.n_descsz > sizeof(note.id) ||
			size < (ssize_t)(offsetof(typeof(note), id) + note.head.n_descsz))
		return 0;
	memcpy(id, note.id, note.head.n_descsz);
	return note.head.n_descsz;
}

static void tell_region(struct ktop *ktop, struct region *region)
{
	u8 id[BUILD_ID_SIZE_MAX];
	u32 size = region->module ? read_build_id(region->name, id) : 0;

	ktop_object(ktop, &(struct ktop_object) {
		.process = KTOP_KERNEL, .start = region->start, .end = region->end,
		.bias = region->bias, .name = region->name,
		.build_id = size ? id : NULL, .build_id_size = size,
	});
	if (!region->named)
		ktop_symbols(ktop, region->start);
	region->told = region->named = true;
	region->identified = size != 0;
}

void symbols_tell(struct ktop *ktop)
{
	struct region *region;

	mutex_lock(&lock);
	list_for_each_entry(region, &regions, in)
		if (!region->told)
			tell_region(ktop, region);
	mutex_unlock(&lock);
}

/* The first address at or above `from` that is code; 0: there is none. */
static u64 next_code(u64 from)
{
	struct region *region;
	u64 at = 0;

	mutex_lock(&lock);
	list_for_each_entry(region, &regions, in) {
		if (from < region->end) {
			at = max(from, region->start);
			break;
		}
	}
	mutex_unlock(&lock);
	return at;
}

/* A module that is unloaded meanwhile has no names: the search goes on behind it. */
bool symbols_after(uint64_t from, struct ktop_symbol *symbol)
{
	unsigned long size, offset;
	char *module;

	while ((from = next_code(from)) != 0) {
		if (!lookup(from, &size, &offset, &module, name_found) || size <= offset) {
			from += PAGE_SIZE;
			continue;
		}
		symbol->address = from - offset;
		symbol->size = min_t(u64, size, U32_MAX);
		symbol->name = name_found;
		return true;
	}
	return false;
}
