/* SPDX-License-Identifier: MIT */
/* A new format needs a file of its own and a row here. */
#include "export.h"
#include "export_csv.h"
#include "export_folded.h"
#include "export_json.h"

const struct export_format *const export_formats[EXPORTS] = {
	[EXPORT_FOLDED] = &export_folded,
	[EXPORT_JSON] = &export_json,
	[EXPORT_CSV] = &export_csv,
};

const struct export_format export_recording = {
	.name = "ctf", .ending = ".ctf", .about = "a recording, cut to the range; a folder: for ktop, babeltrace2",
};
