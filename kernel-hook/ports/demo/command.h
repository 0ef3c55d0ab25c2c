/* The kernel's command line: words of the form key=value. */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <stdint.h>

/* thread, at start-up. The text is copied. */
void command_read(const char *line);

/* thread. Is there key=value? */
bool command_is(const char *key, const char *value);

/* thread. The number after key=, or 0. */
uint32_t command_number(const char *key);

#endif
