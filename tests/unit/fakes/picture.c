/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/wire/event.h"
#include "picture.h"

const struct excerpt picture_all = { .window_ns = 0 };

struct picture *picture_new(struct answer *vitals, struct answer *functions)
{
	struct picture *picture = util_alloc(sizeof(*picture));

	picture->vitals = (struct vitals *)vitals;
	picture->functions = (struct function_table *)functions;
	return picture;
}

void picture_free(struct picture *picture)
{
	if (!picture)
		return;
	vitals_free(picture->vitals);
	function_table_free(picture->functions);
	free(picture);
}

struct vitals_request picture_vitals_request(void)
{
	struct vitals_request request;

	memset(&request, 0, sizeof(request));
	request.request.kind = &vitals_kind;
	request.cpus = VITALS_TRENDS;
	return request;
}

struct function_request picture_function_request(void)
{
	struct function_request request;

	memset(&request, 0, sizeof(request));
	request.request.kind = &function_table_kind;
	request.selected = FUNCTION_NONE;
	return request;
}
