/* SPDX-License-Identifier: MIT */
/* The formats that people look at: a flame graph, and a report with one. */
#ifndef PICTURES_H
#define PICTURES_H

#include "set_format.h"

extern const struct set_format format_svg, format_html;

#endif
