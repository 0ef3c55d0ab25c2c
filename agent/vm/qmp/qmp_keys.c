/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>

#include "qmp.h"

enum { CODES_MAX = 16 };		/* in one key press */

/* QEMU takes set-1 codes as keys of type "number" (qapi/ui.json, KeyValue). */
static void add_key(cJSON *events, uint8_t code, bool down)
{
	cJSON *event = cJSON_CreateObject();
	cJSON *data, *key;

	cJSON_AddStringToObject(event, "type", "key");
	data = cJSON_AddObjectToObject(event, "data");
	cJSON_AddBoolToObject(data, "down", down);
	key = cJSON_AddObjectToObject(data, "key");
	cJSON_AddStringToObject(key, "type", "number");
	cJSON_AddNumberToObject(key, "data", code);
	cJSON_AddItemToArray(events, event);
}

bool qmp_send_keys(struct qmp *qmp, const uint8_t *codes, size_t count)
{
	cJSON *arguments, *events;

	if (count == 0 || count > CODES_MAX)
		return false;
	arguments = cJSON_CreateObject();
	events = cJSON_AddArrayToObject(arguments, "events");
	for (size_t i = 0; i < count; i++)
		add_key(events, codes[i], true);
	for (size_t i = count; i-- > 0;)
		add_key(events, codes[i], false);
	return qmp_send(qmp, "input-send-event", arguments);
}
