/* SPDX-License-Identifier: MIT */
/* How a duration is written: "850ns", "12us", "1.2ms", "48ms", "2.1s". */
#ifndef DURATION_TEXT_H
#define DURATION_TEXT_H

#include <stdint.h>
#include <stdio.h>

enum { DURATION_TEXT = 16 };

/*
 * With so many digits at least, but for whole ns; 2 or 3. From 10,000 s on in hours, from 10,000 h on in years: it has
 * at most six columns.
 */
static inline const char *duration_text(uint64_t ns, int digits, char text[DURATION_TEXT])
{
	static const struct {
		double step, least;	/* of the unit before: so much is one, from so much on */
		const char *name;
	} units[] = {
		{ 1, 0, "ns" }, { 1000, 999.5, "us" }, { 1000, 999.5, "ms" }, { 1000, 999.5, "s" },
		{ 3600, 9999.5, "h" }, { 8766, 9999.5, "y" },
	};
	enum { UNITS = sizeof(units) / sizeof(*units) };
	int unit = 0, decimals = digits - 1;
	double value = (double)ns, half = digits == 2 ? 0.05 : 0.005, most = 10;

	for (; unit + 1 < UNITS && value >= units[unit + 1].least; unit++)
		value /= units[unit + 1].step;
	for (; decimals && value >= most - half; decimals--) {
		most *= 10;
		half *= 10;
	}
	snprintf(text, DURATION_TEXT, "%.*f%s", unit ? decimals : 0, value, units[unit].name);
	return text;
}

#endif
