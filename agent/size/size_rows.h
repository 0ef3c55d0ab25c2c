/* SPDX-License-Identifier: MIT */
/*
 * Code sizes as the rows of a table: by function, file, folder, object, or namespace; of one build, or of two beside
 * each other.
 */
#ifndef SIZE_ROWS_H
#define SIZE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/query/question/question.h"

struct code_sizes;

enum size_by {				/* what a row is */
	SIZE_BY_FUNCTION, SIZE_BY_FILE, SIZE_BY_FOLDER, SIZE_BY_OBJECT,
	SIZE_BY_NAMESPACE,		/* of Rust the crate and modules, of C++ the namespaces and classes */
	SIZE_BYS,
};

#define SIZE_NO_SOURCE "[no source]"		/* the folder and file of code whose source is not known */
#define SIZE_NO_NAMESPACE "[no namespace]"

enum { SIZE_BEFORE, SIZE_AFTER, SIZE_SIDES };	/* the two builds that are compared */

struct size_row {			/* texts of the sizes, by id */
	uint32_t name;
	uint32_t file, object;		/* TEXT_NONE: it has none, or that does not tell rows apart */
	uint64_t bytes[SIZE_SIDES];	/* without a comparison, all are in SIZE_BEFORE */
};

struct size_rows {
	struct size_row *rows;
	size_t count, room;		/* room: bytes that are charged */
	uint64_t bytes[SIZE_SIDES];	/* of all rows */
};

struct size_asked {
	enum size_by by;
	struct filter filter;		/* only names and objects; it chooses the code that counts */
	bool compare;			/* object 0 is the build before, object 1 the one after */
	bool stacks;			/* rows are the leaves of stacks (below), so objects are kept apart */
};

/*
 * Without a comparison: the largest first. With one: those that changed most first. False: there is no memory. The
 * caller clears the rows.
 */
bool size_rows_make(struct code_sizes *sizes, const struct size_asked *asked, struct size_rows *rows);
void size_rows_clear(struct size_rows *rows, const struct code_sizes *sizes);

/* Reads a filter. False with "why; what to do" in `error`: a word of it is about samples. */
bool size_rows_filter(const char *text, struct filter *filter, char **error);

extern const char *const size_row_heads[SIZE_BYS];	/* titles of the column that names a row */

/* ---- a change of size ---- */

/* What has become of code between two builds. */

enum size_change { SIZE_NEW, SIZE_GROWN, SIZE_SHRUNK, SIZE_GONE, SIZE_SAME, SIZE_CHANGES };

extern const char *const size_change_words[SIZE_CHANGES];

enum size_change size_change_of(const struct size_row *row);
int64_t size_change_bytes(const uint64_t *bytes);	/* after minus before */

struct size_sum {			/* of all rows with the same change */
	size_t rows;
	int64_t bytes;
};

/* The sums of all changes together are what the rows have grown by, to the byte. */
void size_change_sums(const struct size_rows *rows, struct size_sum sums[SIZE_CHANGES]);

/* How much code may grow: bytes, or a share of what it was before. */
struct size_limit {
	double number;
	bool percent;
};

/* Reads such as "2%", "0.5%", "4096". False with "why; what to do" in `error`. */
bool size_limit_read(const char *text, struct size_limit *limit, char **error);
bool size_limit_passed(const struct size_limit *limit, const uint64_t *bytes);	/* it has grown by more */

/* ---- stacks of sizes ---- */

/*
 * Code sizes as stacks, for flame graphs: a stack's weight is bytes. By function: the object, the folders of the source
 * file, the file, the function; by file, folder or object, so much of that; by namespace: the object, then the parts of
 * the namespace, then the function.
 */

enum { SIZE_FRAMES_MAX = 64 };		/* of a stack; what would be deeper stays in one frame */

/* A stack: its frames, the root first, printable; its bytes in the two builds. Each stack comes once. */
typedef void size_stacks_take(void *context, char *const *frames, uint32_t count, const uint64_t *bytes);

/* False: there is no memory. */
bool size_stacks_visit(struct code_sizes *sizes, const struct size_asked *asked, size_stacks_take *take, void *context);

/* ---- name space ---- */

/* The namespaces in a demangled name of C++ or Rust, such as `core` and `core::fmt` of `core::fmt::write`. */

/*
 * The name's namespace: where it begins in the name, and its bytes; 0: it has none. Of `<a::B<T> as c::D>::e` it is
 * that of the type, `a::B`. Arguments of templates stay out: of `a::B<T>::c` it is `a::B`.
 */
const char *name_space(const char *name, size_t *size);

#endif
