/* SPDX-License-Identifier: MIT */
/* A new format needs a file of its own and a row here. */
#include <stddef.h>

#include "callgrind.h"
#include "chrome.h"
#include "csv.h"
#include "firefox.h"
#include "json_stacks.h"
#include "perf_script.h"
#include "pprof.h"
#include "set_format.h"
#include "speedscope.h"

const struct set_format *const set_formats[] = {
	&format_callgrind,
	&format_chrome,
	&format_csv,
	&format_firefox,
	&format_json_stacks,
	&format_perf_script,
	&format_pprof,
	&format_speedscope,
	NULL,
};
