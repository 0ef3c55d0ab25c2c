/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "qemu.h"

struct wanted {
	const char *name;
	size_t offset;			/* in struct qemu */
};

#define WANTED(symbol, member) { symbol, offsetof(struct qemu, member) }
static const struct wanted all[] = {
	WANTED("async_run_on_cpu", async_run_on_cpu),
	WANTED("qemu_get_cpu", get_cpu),
	WANTED("cpu_thread_is_idle", cpu_thread_is_idle),
	WANTED("qemu_clock_get_ns", clock_get_ns),
	WANTED("cpu_get_clock", cpu_get_clock),
	WANTED("timer_init_full", timer_init_full),
	WANTED("timer_mod_ns", timer_mod_ns),
	WANTED("cpu_get_phys_page_debug", cpu_get_phys_page_debug),
	WANTED("cpu_physical_memory_is_io", cpu_physical_memory_is_io),
	WANTED("cpu_physical_memory_rw", cpu_physical_memory_rw),
	WANTED("qemu_register_reset", register_reset),
	WANTED("object_get_root", object_get_root),
	WANTED("object_property_add_str", object_property_add_str),
	WANTED("g_byte_array_new", byte_array_new),
	WANTED("g_byte_array_set_size", byte_array_set_size),
	WANTED("g_strdup", strdup),
};

const char *qemu_find(struct qemu *qemu)
{
	const char *missing = NULL;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		void *symbol = dlsym(RTLD_DEFAULT, all[i].name);

		if (symbol == NULL && missing == NULL)
			missing = all[i].name;
		memcpy((char *)qemu + all[i].offset, &symbol, sizeof(symbol));
	}
	return missing;
}

qemu_function *qemu_function_of(const char *name)
{
	void *symbol = dlsym(RTLD_DEFAULT, name);
	qemu_function *function;

	memcpy(&function, &symbol, sizeof(function));
	return function;
}

/* `current_cpu` is a thread-local variable, so each thread has to look it up once. */
struct qemu_cpu *qemu_this_cpu(void)
{
	static _Thread_local struct qemu_cpu *const *current;

	if (!current)
		current = dlsym(RTLD_DEFAULT, "current_cpu");

	return current ? *current : NULL;
}
