/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/formats/writing/pprof_comments.h"
#include "agent/samples/sample_set.h"
#include "pprof_facts.h"
#include "pprof_tables.h"

/* What stands behind the key; NULL: it is another comment. */
static const char *behind(const char *comment, const char *key)
{
	size_t size = strlen(key);

	return strncmp(comment, key, size) == 0 ? comment + size : NULL;
}

/* "from-to" */
static void take_range(struct set_facts *facts, const char *text)
{
	char *end;
	uint64_t from = strtoull(text, &end, 10), to = *end == '-' ? strtoull(end + 1, &end, 10) : 0;

	if (*end || from >= to)
		return;
	facts->from = from;
	facts->to = to;
}

/* "id: name" */
static void take_name(const struct pprof_tables *tables, const char *text)
{
	char *end;
	struct pprof_mapping *mapping = pprof_tables_mapping(tables, strtoull(text, &end, 10));

	if (mapping && end[0] == ':' && end[1] == ' ' && end[2])
		mapping->name = end + 2;
}

static void take(const struct pprof_tables *tables, struct set_facts *facts, const char *comment)
{
	const char *text;

	if ((text = behind(comment, PPROF_COMMENT_MACHINE)))
		facts->machine = text;
	else if ((text = behind(comment, PPROF_COMMENT_KERNEL)))
		facts->kernel = text;
	else if ((text = behind(comment, PPROF_COMMENT_VERSION)))
		facts->version = text;
	else if ((text = behind(comment, PPROF_COMMENT_ARCH)))
		facts->arch = text;
	else if ((text = behind(comment, PPROF_COMMENT_RANGE)))
		take_range(facts, text);
	else if ((text = behind(comment, PPROF_COMMENT_LOST)))
		facts->lost = strtoull(text, NULL, 10);
	else if ((text = behind(comment, PPROF_COMMENT_MAPPING)))
		take_name(tables, text);
}

bool pprof_facts_take(struct pprof_tables *tables, struct sample_set *set, char **error)
{
	struct set_facts facts = { .machine = "", .kernel = "", .version = "", .arch = "" };

	for (uint32_t i = 0; i < tables->comment_count; i++) {
		const char *comment = pprof_tables_text(tables, tables->comments[i]);

		if (!comment)
			return util_fail(error, "%s", pprof_no_profile);
		take(tables, &facts, comment);
	}
	return sample_set_tell(set, &facts);
}
