/* SPDX-License-Identifier: MIT */
/*
 * The formats in which a sample set is written: one file for each, and a row of `set_formats` (set_formats.c). A format
 * knows neither guest nor session. Its sums are those of the set, to the unit. Names may be any bytes: what would mean
 * something in the format is written so that it is harmless, and so that different names stay different.
 */
#ifndef SET_FORMAT_H
#define SET_FORMAT_H

#include <stdbool.h>

#include "agent/formats/writing/set_writing.h"

struct sample_set;

struct set_format {
	const char *name;		/* as --format takes it */
	const char *ending;		/* of a file's name, with its dot */
	const char *about;		/* what it is, in a few words, for the list of formats */
	bool rows;			/* it writes the times of samples: the set must have rows */
	bool events;			/* it writes trace events as well: the set may have no samples */
	bool flame;			/* it can stand on its roots: `flame` of set_writing.h counts */
	bool lines;			/* it writes source lines and inlined functions */
	bool merges;			/* it has no threads, and may have stacks that are merged: sample_collect.h */
	/* False with `error` set: "why; what to do". Any thread. */
	bool (*write)(const struct sample_set *set, const struct set_writing *writing, char **error);
};

/* Each is in the file of its name; svg and html in pictures.c, those of times in times.c. */
extern const struct set_format format_callgrind, format_chrome, format_csv_stacks, format_csv_times, format_firefox,
	format_html, format_json_stacks, format_json_times, format_perf_script, format_pprof, format_speedscope,
	format_svg;

extern const struct set_format *const set_formats[];	/* these, ended by NULL */

const struct set_format *set_format_named(const char *name);	/* NULL: there is none */
/*
 * By the longest ending that fits; NULL: none does. The name of a format does, too: ".chrome", and ".chrome.json" like
 * its own ".trace.json".
 */
const struct set_format *set_format_of_file(const char *path);

#endif
