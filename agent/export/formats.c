/* SPDX-License-Identifier: MIT */
/* A new format needs a file of its own and an entry here. */
#include <stddef.h>

#include "export.h"
#include "export_folded.h"
#include "export_json.h"

const struct export_format *const export_formats[] = { &export_folded, &export_json, NULL };
