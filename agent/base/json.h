/* SPDX-License-Identifier: MIT */
/* Memory for cJSON. When memory is out, the program ends, as it does for all that is small and bounded. */
#ifndef JSON_H
#define JSON_H

/* To be called once, before there is a second thread. From then on, cJSON never returns NULL for want of memory. */
void json_begin(void);

#endif
