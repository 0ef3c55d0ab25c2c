/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/store/stacks.h"
#include "set_code.h"

static enum set_kind kind_of(const struct function *function)
{
	if (function_is_unknown(function))
		return SET_UNKNOWN;
	if (!function->known && strcmp(function->name, "[idle]") == 0)
		return SET_IDLE;
	return !function->kernel ? SET_USER : function->module ? SET_MODULE : SET_KERNEL;
}

/* Takes "file.c:41" apart. `text` NULL or "": not known. Returns the file in `file`. */
static const char *split_line(const char *text, char file[256], uint32_t *line)
{
	const char *colon = text ? strrchr(text, ':') : NULL;

	*line = colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
	util_print(file, 256, "%.*s", colon ? (int)(colon - text) : 0, colon ? text : "");
	return file;
}

/* `at`: a file that is taken if no one knows the function's own. */
static uint32_t add_function(const struct set_code *code, uint32_t id, const char *at)
{
	struct symbols *symbols = code->symbols;
	const struct function *function = symbols_get(symbols, id);
	struct set_function own = {
		.name = function->name, .object = function->object, .address = function->address,
		.kind = kind_of(function),
	};
	char file[256];

	own.file = split_line(symbols_line(symbols, id), file, &own.line);
	if (!*own.file && function->inlined)
		own.file = at;
	return sample_set_function(code->set, &own);
}

uint32_t set_code_function(const struct set_code *code, uint32_t function)
{
	return add_function(code, function, "");
}

/*
 * A function with a line of its code, which counts only if it is in the function's file: what the compiler had from
 * another file has no function of its own.
 */
static struct set_line add_line(const struct set_code *code, uint32_t function, const char *text)
{
	struct set_line line = { .line = 0 };
	char file[256];
	uint32_t number;

	split_line(text, file, &number);
	line.function = add_function(code, function, file);
	if (line.function != SET_NONE && strcmp(code->set->functions[line.function].file, file) == 0)
		line.line = number;
	return line;
}

/* The lines at a node, split up: the innermost first. Returns how many. */
static uint32_t lines_at(const struct set_code *code, const struct node *node, char **text,
	const char *lines[SET_CODE_LINES])
{
	const char *known = code->lines ? symbols_lines_at(code->symbols, node->space, node->address) : NULL;
	uint32_t count = 0;
	char *end;

	*text = util_copy(known ? known : "", known ? strlen(known) : 0);
	while (count < SET_CODE_LINES - 1 && (end = strrchr(*text, '\n'))) {
		lines[count++] = end + 1;
		*end = '\0';
	}
	lines[count++] = *text;
	return count;
}

uint32_t set_code_lines(const struct set_code *code, const struct node *node, uint32_t function,
	struct set_line lines[SET_CODE_LINES])
{
	uint32_t inside[SET_CODE_LINES], count = 0, known;
	struct inlined inlined = { .count = 0 };
	const char *at[SET_CODE_LINES];
	char *text;

	if (code->lines)
		symbols_inlined(code->symbols, node->space, node->address, &inlined);
	while (count < inlined.count && count < SET_CODE_LINES - 1) {	/* the list may go with the next question */
		inside[count] = inlined.functions[inlined.count - 1 - count];
		count++;
	}
	inside[count++] = function;
	known = lines_at(code, node, &text, at);
	for (uint32_t i = 0; i < count; i++)		/* if one is missing, nobody knows whose call a line is */
		lines[i] = add_line(code, inside[i], i == 0 || known == count ? at[i] : "");
	free(text);
	return count;
}

uint32_t set_code_object(const struct set_code *code, const struct node *node, uint32_t function)
{
	const char *name = symbols_get(code->symbols, function)->object;
	struct symbols_mapping mapping;
	struct set_object own = { .name = name, .path = "", .build_id = "" };
	char id[2 * sizeof(mapping.build_id.bytes) + 1] = "";

	if (symbols_mapping(code->symbols, node->space, node->address, &mapping) &&
			strcmp(mapping.name, name) == 0) {
		for (size_t i = 0; i < mapping.build_id.size; i++)
			snprintf(id + 2 * i, 3, "%02x", mapping.build_id.bytes[i]);
		own = (struct set_object) { .name = name, .path = mapping.path, .build_id = id, .start = mapping.start,
			.end = mapping.end, .offset = mapping.offset };
	}
	return *name ? sample_set_object(code->set, &own) : SET_NONE;
}
