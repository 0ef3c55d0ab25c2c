#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "qmp.h"
#include "qmp_qom.h"
#include "util.h"

cJSON *qom_call(struct qom *qom, const char *command, cJSON *arguments)
{
	char *error = NULL;
	cJSON *answer;

	if (qom->error) {
		cJSON_Delete(arguments);
		return NULL;
	}
	answer = qmp_call(qom->qmp, command, arguments, qom->deadline, &error);
	if (!answer && !qmp_answered(qom->qmp))
		qom->error = error;
	else
		free(error);
	return answer;
}

cJSON *qom_list(struct qom *qom, const char *path)
{
	cJSON *arguments = cJSON_CreateObject();

	cJSON_AddStringToObject(arguments, "path", path);
	return qom_call(qom, "qom-list", arguments);
}

char *qom_text(struct qom *qom, const char *path, const char *property)
{
	cJSON *arguments = cJSON_CreateObject(), *answer;
	char *copy = NULL;

	cJSON_AddStringToObject(arguments, "path", path);
	cJSON_AddStringToObject(arguments, "property", property);
	answer = qom_call(qom, "qom-get", arguments);
	if (cJSON_IsString(answer) && answer->valuestring[0])
		copy = util_copy(answer->valuestring, strlen(answer->valuestring));
	cJSON_Delete(answer);
	return copy;
}

const char *qom_member(const cJSON *object, const char *name)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsString(item) ? item->valuestring : NULL;
}
