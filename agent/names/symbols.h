/* SPDX-License-Identifier: MIT */
/*
 * Names for addresses. Symbol tables belong to objects (kernel, programs); an object is mapped into
 * an address space at a bias. A function id is dense, starts at 0, and stands for ever; texts of a
 * `struct function` never move or go away before symbols_free, so other threads may read them.
 */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;
struct function;
struct inlined;
struct object;
struct stat;
struct programs;
struct symbols;
struct text;

struct symbols *symbols_new(struct budget *budget);
void symbols_free(struct symbols *symbols);

/*
 * The kernel's table becomes the one that others have read; their file is theirs, the table is both's.
 * False: they have none.
 */
bool symbols_share_kernel(struct symbols *symbols, const struct symbols *others);

/* The kernel's file as it was when it was read; NULL: none was. */
const struct stat *symbols_kernel_file(const struct symbols *symbols);

/*
 * Loads the kernel's table from an ELF file, or from nm, System.map or kallsyms text; the file's
 * content says which. Replaces an earlier one. False with `error` set, and nothing changed.
 */
bool symbols_load_kernel(struct symbols *symbols, const char *path, char **error);
void symbols_drop_kernel(struct symbols *symbols);	/* it turned out to be the wrong one */

/* Where the guest says one of its symbols runs: gives the slide. False: no such symbol (so far). */
bool symbols_set_anchor(struct symbols *symbols, const char *name, uint64_t address);

/* True when the guest's build-id contradicts the loaded kernel's. Unknown on either side: false. */
bool symbols_wrong_build(const struct symbols *symbols, const void *build_id, size_t size);

/*
 * Where files are, before anything is mapped or asked for: a copy of the guest's, at their paths,
 * with its programs; and debug files, beside the system's, each may be NULL; and whether servers
 * are asked for debug files that are not there.
 */
void symbols_set_files(struct symbols *symbols, const char *sysroot, const char *debug,
	bool debuginfod);

/* Files of programs are read there, and shared with other boots: before anything is mapped. */
void symbols_set_programs(struct symbols *symbols, struct programs *programs);

/* What the guest's kernel is, once: its debug file is found by that. */
void symbols_set_build(struct symbols *symbols, const void *build_id, size_t size,
	const char *version);

/*
 * A mapped object of the guest. Its file is looked for in `folders` (NULL-terminated) by the base
 * of its name, and taken when the build-id agrees; host files only. It is read beside: until then
 * its functions have no names.
 */
void symbols_map(struct symbols *symbols, const struct object *object, const char *const *folders);

/*
 * To be called now and then: takes files that were read meanwhile. True: earlier answers may be
 * different now. `starved` is set when one was refused for want of memory. Reading: more are to come.
 */
bool symbols_step(struct symbols *symbols, bool *starved);
bool symbols_reading(const struct symbols *symbols);

/*
 * The guest tells of a function of its kernel, as guest_symbols.h has it; of size 0: that it has
 * told of all. Being told: it has begun, and not said so.
 */
void symbols_tell(struct symbols *symbols, uint64_t address, uint32_t size, struct text name);
bool symbols_being_told(const struct symbols *symbols);

/*
 * A remark about objects whose names are missing, "" if none. Good until the next. `told` grows with
 * each that is told of a file or of a limit; 0: this one is of what is so now.
 */
const char *symbols_note(struct symbols *symbols, uint64_t *told);

/* Symbols, or lines of a list, that make no sense: of all files that are read. */
uint64_t symbols_left_out(const struct symbols *symbols);

/* Grows when an earlier answer of symbols_function may be different now. */
uint64_t symbols_generation(const struct symbols *symbols);

/* The space that a process is in now, as layouts.h tells them apart. */
uint32_t symbols_space(struct symbols *symbols, uint32_t process);

/* The function at an address of a space; resolved once, then cached. Never FUNCTION_NONE. */
uint32_t symbols_function(struct symbols *symbols, uint32_t space, uint64_t address);

/* Functions that are not code: [idle], [unknown]... made once per name. */
uint32_t symbols_special(struct symbols *symbols, const char *name);

/* A function that other symbols have, under its name and object; copied, and not looked for. */
uint32_t symbols_add(struct symbols *symbols, const struct function *function);

/* True: addresses were without their function while memory was short; they are looked up again. */
bool symbols_retry(struct symbols *symbols);
void symbols_told_again(struct symbols *symbols);	/* all that the guest tells, from now on */

/* What the budget had no room for. */
uint64_t symbols_refused(const struct symbols *symbols);	/* functions, asked for by address */
uint64_t symbols_told_refused(const struct symbols *symbols);	/* functions that the guest told of */
uint64_t symbols_lines_refused(const struct symbols *symbols);
uint64_t symbols_spaces_refused(const struct symbols *symbols);	/* answers of symbols_space */

/* Any thread, for an id that was handed out: functions never move. The rest: one owner thread. */
size_t symbols_functions(const struct symbols *symbols);
const struct function *symbols_get(const struct symbols *symbols, uint32_t function);

/*
 * "file.c:41" of a function's start, read by a worker thread; NULL until it is known, and asked
 * for by this very call. "" when there is none.
 */
const char *symbols_line(struct symbols *symbols, uint32_t function);

/*
 * The functions that the compiler put in line at an address of a space, inside of the one that
 * symbols_function gives, the outermost first. False until a worker has read them, asked for by
 * this very call. The list is good until the next call.
 */
bool symbols_inlined(struct symbols *symbols, uint32_t space, uint64_t address,
	struct inlined *inlined);

#endif
