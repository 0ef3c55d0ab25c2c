/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "function.h"
#include "functions.h"
#include "specials.h"

struct specials {
	struct functions *functions;
	struct special *list;
	uint32_t count, room;
	struct hash by_name;		/* and object */
};

struct specials *specials_new(struct functions *functions)
{
	struct specials *specials = util_alloc(sizeof(*specials));

	specials->functions = functions;
	hash_init(&specials->by_name, NULL);
	return specials;
}

void specials_free(struct specials *specials)
{
	if (!specials)
		return;
	hash_clear(&specials->by_name);
	free(specials->list);
	free(specials);
}

static const struct special *find(const struct specials *specials, uint64_t hash,
	const struct special *wanted)
{
	uint32_t at = 0, position;

	while ((position = hash_next(&specials->by_name, hash, &at)) != HASH_NONE) {
		const struct special *special = &specials->list[position];

		if (special->kernel == wanted->kernel && special->known == wanted->known &&
				!strcmp(special->object, wanted->object) && !strcmp(special->name, wanted->name))
			return special;
	}
	return NULL;
}

static void keep(struct specials *specials, uint64_t hash, const struct special *special)
{
	struct special *list = budget_array(NULL, specials->list, specials->count,
		&specials->room, sizeof(*special));

	if (!list)
		return;
	specials->list = list;
	if (hash_add(&specials->by_name, hash, specials->count))
		specials->list[specials->count++] = *special;
}

uint32_t specials_get(struct specials *specials, const struct special *wanted)
{
	struct function function = { .object = wanted->object, .kernel = wanted->kernel, .known = wanted->known };
	struct special made = *wanted;
	uint64_t hash = hash_text(&specials->by_name, wanted->object) + hash_text(&specials->by_name, wanted->name);
	const struct special *known = find(specials, hash, wanted);

	if (known)
		return known->function;
	function.name = util_printable(wanted->name, strlen(wanted->name));
	made.function = functions_add(specials->functions, &function, NULL);
	made.name = functions_get(specials->functions, made.function)->name;
	if (!functions_is_rest(specials->functions, made.function))
		keep(specials, hash, &made);
	return made.function;
}
