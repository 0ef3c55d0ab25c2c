/* SPDX-License-Identifier: MIT */
/* What a filter (question.h) lets pass: samples by who ran them, and rows by their names. */
#ifndef FILTER_H
#define FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/wire/event.h"
#include "question.h"

struct who;
struct threads;

/* True if the filter has no term of this kind. */
bool filter_lacks(const struct filter *filter, enum filter_by by);

/*
 * True if the terms about who ran a sample hold. Those about its stack: match.h. `context`: that of its stack
 * (contexts.h), or CONTEXT_UNTOLD if no term asks for a mode.
 */
bool filter_passes(const struct filter *filter, struct threads *threads, const struct who *who, enum context context);

/* True if samples of this CPU may pass. */
bool filter_passes_cpu(const struct filter *filter, uint32_t cpu);

/* True if a term asks for samples of this mode (contexts.h) by name. */
bool filter_names_mode(const struct filter *filter, unsigned mode);

/* True if it asks about waits, not samples: about the time that threads were off their CPUs. */
bool filter_off_cpu(const struct filter *filter);
const char *filter_off_mode(const struct filter *filter);	/* it does: the mode, as it is asked for by */

/* What a question with this filter is about. */
struct store *filter_store(const struct filter *filter, const struct query_inputs *inputs);

/*
 * Makes the filter what it is for the samples of one machine: without the terms about machines. If one of them does not
 * hold, no sample passes. `number`: that of its tab, 0 if it has none; a value of digits alone is a number, any other a
 * part of the name.
 */
void filter_at_machine(struct filter *filter, unsigned number, const char *name);

/*
 * The first machine that the filter names and that is none of these; NULL: there is none. With `tabs` a number names a
 * machine, too, from 1 on.
 */
const char *filter_stray_machine(const struct filter *filter, const char *const *names, size_t count, bool tabs);

/* True if the row of a function with this name is shown. */
bool filter_shows(const struct filter *filter, const char *function);

/* True if one of the term's alternatives is in the text (util.h). */
bool filter_term_finds(const struct filter *filter, const struct filter_term *term, const char *text);

/* True if both filters let the same samples pass; filter_equal: and show the same rows. */
bool filter_same(const struct filter *a, const struct filter *b);
bool filter_equal(const struct filter *a, const struct filter *b);

/* ---- the words of a filter ---- */

/*
 * The language of filters, as people type them: words divided by blanks, and all of them must hold. A word without a
 * colon is part of a function's name. `!` before a word negates it, and `|` between values means or. A value in quotes
 * may have blanks and `|`, and "" for a quote: comm:"tmux: server"|sh.
 */

/* How the words are written, for help and messages: in full; in short, where there is little room. */
#define FILTER_WORDS "NAME cpu:N thread:NAME comm:NAME process:NAME mode:kernel|user|idle|irq|softirq mode:off-cpu " \
	"object:NAME file:NAME under:FUNCTION machine:NAME"
#define FILTER_KINDS "NAME cpu: thread: comm: process: mode: object: file: under: machine:"

/*
 * Reads a filter. False with "why; what to do" in `error`, which the caller frees; *filter is unchanged
 * then. A word with two colons in a row, as in C++, is a name. A word with a single colon must be one of
 * those above.
 */
bool filter_parse(const char *text, struct filter *filter, char **error);

/* The bytes of the word at the beginning of the text. */
size_t filter_word_size(const char *text);

/* Adds one term, with a value as it stands behind the colon. False as above. */
bool filter_add(struct filter *filter, enum filter_by by, const char *value, char **error);

/* Adds a term of FILTER_HAS or FILTER_RUNNING, with the function's tree_name. False: there is no room for it. */
bool filter_add_function(struct filter *filter, enum filter_by by, uint64_t name);

#endif
