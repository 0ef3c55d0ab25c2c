#include <stdatomic.h>
#include <stdlib.h>

#include "functions.h"
#include "symbols.h"
#include "util.h"

enum { CHUNK = 1024, CHUNKS = FUNCTIONS_MAX / CHUNK };

struct entry {
	struct function function;	/* written before its id is handed out, never again */
	struct origin origin;		/* the owner's alone */
};

struct functions {
	_Atomic uint32_t count;		/* written by the owner, after the entry; read by any */
	struct entry *chunks[CHUNKS];
};

static struct entry *entry_of(const struct functions *functions, uint32_t id)
{
	return &functions->chunks[id / CHUNK][id % CHUNK];
}

struct functions *functions_new(void)
{
	return util_alloc(sizeof(struct functions));
}

void functions_free(struct functions *functions)
{
	if (!functions)
		return;
	for (uint32_t id = 0; id < functions->count; id++) {
		struct entry *entry = entry_of(functions, id);

		free((char *)entry->function.name);
		free((char *)entry->origin.line);
	}
	for (size_t i = 0; i < CHUNKS; i++)
		free(functions->chunks[i]);
	free(functions);
}

uint32_t functions_add(struct functions *functions, const struct function *function,
	const struct image *image)
{
	uint32_t id = functions->count;
	struct entry *entry;

	if (id == FUNCTIONS_MAX) {
		free((char *)function->name);
		return FUNCTIONS_MAX - 1;
	}
	if (id % CHUNK == 0)
		functions->chunks[id / CHUNK] = util_alloc(CHUNK * sizeof(struct entry));
	entry = entry_of(functions, id);
	entry->function = *function;
	entry->origin.image = image;
	if (id == FUNCTIONS_MAX - 1) {
		free((char *)function->name);
		entry->function = (struct function){ .name = util_copy("[unknown]", 9) };
		entry->function.object = "";
		entry->origin.image = NULL;
	}
	atomic_store_explicit(&functions->count, id + 1, memory_order_release);
	return id;
}

/* Acquire pairs with the release in functions_add: ids below the count are complete. */
size_t functions_count(const struct functions *functions)
{
	return atomic_load_explicit(&functions->count, memory_order_acquire);
}

const struct function *functions_get(const struct functions *functions, uint32_t id)
{
	return &entry_of(functions, id)->function;
}

struct origin *functions_origin(struct functions *functions, uint32_t id)
{
	return &entry_of(functions, id)->origin;
}
