/* SPDX-License-Identifier: MIT */
/* How a number is written for a person: "1,204"; "0.31", "1,204", "12.3k", "1.2M". */
#ifndef NUMBER_TEXT_H
#define NUMBER_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { NUMBER_TEXT = 32 };

/* "1,204" */
static inline const char *number_whole(uint64_t number, char text[NUMBER_TEXT])
{
	char digits[NUMBER_TEXT];
	size_t size = (size_t)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)number), used = 0;

	for (size_t i = 0; i <= size; i++) {
		if (i && i < size && (size - i) % 3 == 0)
			text[used++] = ',';
		text[used++] = digits[i];
	}
	return text;
}

/* "0.31", "1,204", "12.3k", "1.2M": a thousand of a unit is one of the next. Six columns at most. */
static inline const char *number_text(double value, int decimals, char text[NUMBER_TEXT])
{
	static const char units[] = "kMGTPE";
	const char *unit = units;

	if (value < 999.5)
		snprintf(text, NUMBER_TEXT, "%.*f", value < 99.995 ? decimals : decimals ? 1 : 0, value);
	else if (value < 9999.5)
		number_whole((uint64_t)(value + 0.5), text);
	else {
		for (value /= 1000; value >= 999.5 && unit[1]; unit++)
			value /= 1000;
		snprintf(text, NUMBER_TEXT, "%.*f%c", value < 99.95, value, *unit);
	}
	return text;
}

#endif
