/* SPDX-License-Identifier: MIT */
/*
 * How large the code of ELF files is: each byte of their executable sections once, with the function that it is in, and
 * that function's source file. A byte is in the function that ktop names at its address, so of several symbols the
 * innermost one counts, and of aliases one. The pieces of a file add up to its executable sections, to the byte. One
 * owner.
 */
#ifndef CODE_SIZES_H
#define CODE_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/hash.h"

struct budget;

struct code_piece {			/* a function of one object. Texts are known by their ids */
	uint32_t name, file;		/* demangled; the path of its source file, or TEXT_NONE */
	uint32_t object;		/* index */
	uint64_t bytes;
};

enum { TEXT_NONE };			/* the id of the text "" */

struct code_object {			/* an ELF file */
	uint32_t name;			/* the text of its path, as it was given */
	uint64_t bytes;			/* of all its pieces */
	bool lines;			/* it has source files */
	char *note;			/* why lines or names are missing: "why; what to do"; NULL: nothing is wrong */
};

struct code_sizes {
	struct budget *budget;		/* borrowed */
	struct code_piece *pieces;
	size_t count;
	uint32_t room;
	struct code_object *objects;
	uint32_t object_count;
	char *texts;			/* printable, each ended by 0 */
	size_t text_size, text_room;
	uint32_t *starts;		/* of the texts by id, in `texts` */
	uint32_t text_count, start_room;
	struct hash index;		/* of the texts */
};

/* Between functions: under 64 bytes, up to an aligned address; or 16 or more that are all 0x00, 0x90 or 0xcc. */
#define CODE_PADDING "[padding]"
#define CODE_NO_SYMBOL "[no symbol]"	/* other code that no symbol covers */

struct code_sizes *code_sizes_new(struct budget *budget);
void code_sizes_free(struct code_sizes *sizes);		/* NULL is allowed */

/*
 * Adds a file: its functions by its symbols, those of its debug file, or its .eh_frame. `debug`: a folder with debug
 * files, or NULL. False with `error` set; then the sizes can only be freed.
 */
bool code_sizes_add(struct code_sizes *sizes, const char *path, const char *debug, char **error);

/* The id of a text, which is made printable. TEXT_NONE for ""; also if there is no memory, and `*full` is set then. */
uint32_t code_sizes_text(struct code_sizes *sizes, const char *text, bool *full);
const char *code_sizes_told(const struct code_sizes *sizes, uint32_t text);

/* ---- source path ---- */

/* The paths of source files as DWARF tells them: any bytes. */

/* Takes out "//", "/./" and "x/../", by the text alone. Shortens the path where it is. */
void source_path_clean(char *path);

/* How many bytes of the path are its folder, without the slash behind it; 0: it has none. */
size_t source_path_folder(const char *path);

#endif
