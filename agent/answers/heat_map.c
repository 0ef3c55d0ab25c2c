/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/query.h"
#include "heat_map.h"

static struct answer *make(const struct request *asked, const struct moment *moment)
{
	const struct heat_request *request = (const struct heat_request *)asked;
	const struct excerpt *excerpt = &asked->excerpt;
	struct question question = { .to = UINT64_MAX, .filter = excerpt->filter };
	struct heat_map *map = util_alloc(sizeof(*map));
	const struct epoch *epoch;

	map->answer = answer_begin(&heat_map_kind, moment);
	memcpy(&map->asked, request, sizeof(map->asked));
	epoch = map->answer.epoch;
	if (!epoch)
		return &map->answer;
	question.reader = moment->readers[0];
	map->now = epoch_now(epoch);
	map->whole = true;
	heat_make(epoch->query, &question, request->of,
		excerpt->until_ns ? excerpt->until_ns : map->now, &map->heat);
	map->answer.partial = query_awaits_files(epoch->query, &question);
	if (map->heat.found)
		util_print(map->name, sizeof(map->name), "%s",
			symbols_get(map->answer.symbols, map->heat.function)->name);
	for (size_t i = 0; i < map->heat.count; i++)
		map->answer.begun = map->answer.begun || map->heat.slots[i].whole;
	return &map->answer;
}

const struct answer_kind heat_map_kind = {
	.name = "heat map", .request_size = sizeof(struct heat_request), .questions = 1,
	.make = make,
};
