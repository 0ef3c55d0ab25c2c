/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "name_space.h"

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Skips what is no name in front of a type: `<`, `&mut `, `*const `, `dyn `. */
static const char *skip_front(const char *at)
{
	static const char *const words[] = { "mut ", "const ", "dyn " };
	bool more = true;

	while (more) {
		at += strspn(at, "<&*([ ");
		more = false;
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && !more; i++) {
			more = strncmp(at, words[i], strlen(words[i])) == 0;
			at += more ? strlen(words[i]) : 0;
		}
	}
	return at;
}

/* The bytes of a path such as `a::b::c`: letters, and `::` between them. It ends before anything else. */
static size_t path_size(const char *at)
{
	size_t size = 0;

	for (;;) {
		if (is_letter(at[size]))
			size++;
		else if (size && at[size] == ':' && at[size + 1] == ':' && is_letter(at[size + 2]))
			size += 2;
		else
			return size;
	}
}

/* The bytes before the last `::` of a path; 0: it has none. */
static size_t without_last(const char *path, size_t size)
{
	while (size > 1 && !(path[size - 1] == ':' && path[size - 2] == ':'))
		size--;
	return size > 1 ? size - 2 : 0;
}

/* Does the name go on behind these arguments of a template, so that they are of a class? */
static bool goes_on_behind(const char *arguments)
{
	int depth = 0;

	for (const char *at = arguments; *at; at++) {
		depth += *at == '<';
		depth -= *at == '>' && at[-1] != '-';
		if (depth == 0)
			return at[1] == ':' && at[2] == ':';
	}
	return false;
}

const char *name_space(const char *name, size_t *size)
{
	bool typed = name[0] == '<';
	const char *at = typed ? skip_front(name) : name, *behind;
	size_t all = path_size(at);

	behind = at + all + (strncmp(at + all, "::<", 3) == 0 ? 2 : 0);	/* Rust writes f::<T> */
	/* Behind a whole namespace stands what is no plain name, such as a destructor or a closure. */
	if (typed || (all && *behind == ':') || (*behind == '<' && goes_on_behind(behind)))
		*size = all;
	else
		*size = without_last(at, all);
	return at;
}

size_t name_space_part(const char *space, size_t size, size_t from)
{
	size_t at = from;

	if (from)
		at += 2;
	while (at < size && !(space[at] == ':' && space[at + 1] == ':'))
		at++;
	return at;
}
