/* SPDX-License-Identifier: MIT */
/* Reads XML as strictly as a browser does: what is not well-formed fails the test. */
#ifndef XML_H
#define XML_H

#include <stdbool.h>

struct xml_element {
	const char *name;		/* as it stands in the document, not ended */
	int name_size;
	const char *attributes;		/* behind the name, up to the ">" */
	int attributes_size;
	const char *content;		/* behind the ">" */
};

/* Reads a document, and calls `take` for the beginning of each element. */
void xml_read(const char *text, void (*take)(void *context, const struct xml_element *element), void *context);

/* The value of an attribute, in fresh memory; NULL: it has none. */
char *xml_attribute(const struct xml_element *element, const char *name);
bool xml_is(const struct xml_element *element, const char *name);

/* The text at the beginning of its content, without entities, in fresh memory. */
char *xml_text(const struct xml_element *element);

#endif
