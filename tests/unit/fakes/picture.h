/* SPDX-License-Identifier: MIT */
/* All that a screen of functions shows at one moment: the answers to both of its questions. */
#ifndef PICTURE_H
#define PICTURE_H

#include "agent/answers/function_table.h"
#include "agent/answers/vitals.h"

struct picture {
	struct vitals *vitals;
	struct function_table *functions;
};

struct picture *picture_new(struct answer *vitals, struct answer *functions);	/* owns both from now on */
void picture_free(struct picture *picture);

/* The requests of a reader that wants everything, live. */
extern const struct excerpt picture_all;
struct vitals_request picture_vitals_request(void);
struct function_request picture_function_request(void);

#endif
