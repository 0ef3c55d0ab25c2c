/* SPDX-License-Identifier: MIT */
/* How cJSON gets its memory: as everything that is small and bounded here. */
#ifndef JSON_H
#define JSON_H

/* Once, before there is a thread: a tree is whole from then on, or the program has ended. */
void json_begin(void);

#endif
