/* SPDX-License-Identifier: MIT */
/* What the comments say that ktop has written into a profile of pprof (pprof_comments.h). Others say nothing. */
#ifndef PPROF_FACTS_H
#define PPROF_FACTS_H

#include <stdbool.h>

struct pprof_tables;
struct sample_set;

/* Tells the set its facts, and mappings their names. False with `error` set; without it there is no memory. */
bool pprof_facts_take(struct pprof_tables *tables, struct sample_set *set, char **error);

#endif
