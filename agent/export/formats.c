/* SPDX-License-Identifier: MIT */
/* A new format: a file of its own, and a row here. */
#include <stddef.h>

#include "export.h"
#include "export_folded.h"
#include "export_json.h"

const struct export_format *const export_formats[] = { &export_folded, &export_json, NULL };
