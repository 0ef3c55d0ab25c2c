/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "xml.h"

enum { DEPTH = 64 };

static const struct { const char *name; char letter; } entities[] = {
	{ "&amp;", '&' }, { "&lt;", '<' }, { "&gt;", '>' }, { "&quot;", '"' },
};

/* Reads one character of text, or one entity. Returns how many bytes it has in the document. */
static size_t read_letter(const char *at, size_t left, char *letter)
{
	uint32_t point;
	size_t size = util_utf8(at, left, &point);

	assert_true(size > 0);
	assert_true(point >= ' ' || point == '\n' || point == '\t');
	assert_false(point == 0xfffe || point == 0xffff);
	*letter = *at;
	if (*at != '&')
		return size;
	for (size_t i = 0; i < sizeof(entities) / sizeof(*entities); i++)
		if (strncmp(at, entities[i].name, strlen(entities[i].name)) == 0) {
			*letter = entities[i].letter;
			return strlen(entities[i].name);
		}
	fail_msg("an & that is no entity: %.20s", at);
	return 0;
}

static const char *behind(const char *at, const char *end)
{
	const char *found = strstr(at, end);

	assert_non_null(found);
	return found + strlen(end);
}

/* Each attribute is a name, =, and a value in quotes. Returns what follows them: ">" or "/>". */
static const char *read_attributes(const char *at)
{
	char letter;

	for (;;) {
		at += strspn(at, " \n\t");
		if (*at == '>' || *at == '/')
			return at;
		at += strcspn(at, "= >/\"");
		assert_memory_equal(at, "=\"", 2);
		for (at += 2; *at != '"';) {
			assert_true(*at != '<');
			at += read_letter(at, strlen(at), &letter);
		}
		at++;
	}
}

struct reading {
	const char *open[DEPTH];	/* the names of the elements that it is in */
	int depth;
	void (*take)(void *context, const struct xml_element *element);
	void *context;
};

static const char *read_begin(struct reading *reading, const char *at)
{
	struct xml_element element = { .name = at, .name_size = (int)strcspn(at, " \n\t/>") };

	assert_true(element.name_size > 0 && reading->depth < DEPTH);
	element.attributes = at + element.name_size;
	at = read_attributes(element.attributes);
	element.attributes_size = (int)(at - element.attributes);
	element.content = at + 1;
	if (reading->take)
		reading->take(reading->context, &element);
	if (*at == '/') {
		assert_int_equal(at[1], '>');
		return at + 2;
	}
	reading->open[reading->depth++] = element.name;
	return at + 1;
}

static const char *read_end(struct reading *reading, const char *at)
{
	size_t size = strcspn(at, ">");
	const char *name;

	assert_true(reading->depth > 0);
	name = reading->open[--reading->depth];
	assert_true(strncmp(name, at, size) == 0 && strcspn(name, " \n\t/>") == size);
	return at + size + 1;
}

void xml_read(const char *text, void (*take)(void *context, const struct xml_element *element), void *context)
{
	struct reading reading = { .take = take, .context = context };
	size_t left = strlen(text);
	const char *end = text + left;
	char letter;

	while (text < end)
		if (*text != '<') {
			assert_true(reading.depth > 0 || *text == '\n');
			text += read_letter(text, (size_t)(end - text), &letter);
		} else if (strncmp(text, "<![CDATA[", 9) == 0)
			text = behind(text, "]]>");
		else if (text[1] == '?' || text[1] == '!')
			text = behind(text, ">");
		else
			text = text[1] == '/' ? read_end(&reading, text + 2) : read_begin(&reading, text + 1);
	assert_int_equal(reading.depth, 0);
}

static char *plain(const char *from, const char *ends)
{
	char *text = util_copy(from, strcspn(from, ends)), letter;
	const char *in = text;
	size_t out = 0;

	while (*in) {
		size_t size = read_letter(in, strlen(in), &letter);

		if (*in == '&')
			text[out++] = letter;
		else {
			memmove(text + out, in, size);
			out += size;
		}
		in += size;
	}
	text[out] = '\0';
	return text;
}

char *xml_attribute(const struct xml_element *element, const char *name)
{
	char *all = util_copy(element->attributes, (size_t)element->attributes_size);
	char *wanted = util_format(" %s=\"", name), *found = strstr(all, wanted);
	char *value = found ? plain(found + strlen(wanted), "\"") : NULL;

	free(all);
	free(wanted);
	return value;
}

bool xml_is(const struct xml_element *element, const char *name)
{
	return (size_t)element->name_size == strlen(name) && strncmp(element->name, name, strlen(name)) == 0;
}

char *xml_text(const struct xml_element *element)
{
	return plain(element->content, "<");
}
