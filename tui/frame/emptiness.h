/* SPDX-License-Identifier: MIT */
/* Why there is nothing to see, and what to do about it. */
#ifndef EMPTINESS_H
#define EMPTINESS_H

struct scope;
struct table;
struct vitals;

struct emptiness {
	const char *why, *what_to_do;
};

/* `why` is NULL when there is something to see in the table, or NULL. What to do has keys in it, for keys_text. */
struct emptiness emptiness(const struct vitals *vitals, const struct table *table,
	const struct scope *scope);

/* The same of what is new: why it does not come, whatever there is to see. */
struct emptiness emptiness_of_news(const struct vitals *vitals);

#endif
