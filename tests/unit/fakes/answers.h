/* SPDX-License-Identifier: MIT */
/* All that a screen of functions shows at one moment: the answers to both of its questions. */
#ifndef ANSWERS_H
#define ANSWERS_H

#include "agent/answers/annotation.h"
#include "agent/answers/call_tree.h"
#include "agent/answers/event_table.h"
#include "agent/answers/function_page.h"
#include "agent/answers/function_table.h"
#include "agent/answers/heat_map.h"
#include "agent/answers/memory_table.h"
#include "agent/answers/time_line.h"
#include "agent/answers/timeline.h"
#include "agent/answers/vitals.h"

struct answers {
	struct vitals *vitals;
	struct function_table *functions;
	struct call_tree *tree;		/* NULL: none */
	struct function_page *page;	/* NULL: none */
	struct annotation *annotation;	/* likewise */
	struct heat_map *heat;		/* likewise */
	struct event_table *events;	/* likewise */
	struct timeline *timeline;	/* likewise */
	struct memory_table *memory;	/* likewise */
	struct time_line *line;		/* NULL: none */
};

struct answers *answers_new(struct answer *vitals, struct answer *functions);	/* owns both from now on */
void answers_free(struct answers *answers);

/* The requests of a reader that wants everything, live. */
extern const struct excerpt answers_all;
struct vitals_request answers_vitals_request(void);
struct function_request answers_function_request(void);

#endif
