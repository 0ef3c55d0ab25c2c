/* SPDX-License-Identifier: MIT */
/* Gives cJSON its memory, in the way of all that is small and bounded: without memory, the program ends. */
#ifndef JSON_H
#define JSON_H

/* To be called once, before there is a second thread. From then on, every JSON tree is complete. */
void json_begin(void);

#endif
