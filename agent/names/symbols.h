/* SPDX-License-Identifier: MIT */
/*
 * Names for addresses. A symbol table belongs to an object (the kernel, a program); an object is mapped
 * into an address space at a bias. A function's id is dense, starts at 0 and stays valid. The texts of a
 * `struct function` never move before symbols_free, so other threads may read them. It is one header, so that all
 * that can be asked about a boot's names stands in one place.
 */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/arch_id.h"
#include "agent/names/bare/flow.h"
#include "agent/names/copies/file_state.h"
#include "agent/names/files/sym_elf.h"
#include "agent/names/objects/objects.h"

struct budget;
struct code_lines;
struct function;
struct inlined;
struct kernel_bytes;
struct linux_kernel;
struct module_tables;
struct object;
struct orc_entry;
struct stat;
struct sym_cfi;
struct programs;
struct region;
struct symbols;
struct text;

struct symbols *symbols_new(struct budget *budget);
void symbols_free(struct symbols *symbols);

/* Takes over the kernel's file of `others`, and shares the table that they have read. False: they have none. */
bool symbols_share_kernel(struct symbols *symbols, const struct symbols *others);

/* The kernel's file as it was when it was read. NULL: none was read. */
const struct stat *symbols_kernel_file(const struct symbols *symbols);

/*
 * Loads the kernel's table from an ELF file, or from nm, System.map or kallsyms text; the content of the
 * file decides. Replaces an earlier one. False with `error` set: nothing has changed.
 */
bool symbols_load_kernel(struct symbols *symbols, const char *path, char **error);

/*
 * Likewise from what was read of the memory of a kernel that runs. What it tells are run addresses: its slide is 0.
 * False: the table of symbols is not there as a whole.
 */
bool symbols_read_kernel(struct symbols *symbols, struct kernel_bytes *memory);

void symbols_drop_kernel(struct symbols *symbols);	/* it turned out to be the wrong one */

/* The guest says where one of its symbols runs, which gives the slide. False: no such symbol (so far). */
bool symbols_set_anchor(struct symbols *symbols, const char *name, uint64_t address);

/* True if the loaded kernel is of another architecture than the guest. False if either is unknown. */
bool symbols_wrong_arch(const struct symbols *symbols, enum arch_id arch);

/* True if the guest's build-id contradicts that of the loaded kernel. False if either is unknown. */
bool symbols_wrong_build(const struct symbols *symbols, const void *build_id, size_t size);

/*
 * Sets where files are, before anything is mapped or asked for. `sysroot`: a copy of the guest's files, at
 * their paths, with its programs. `debug`: a folder of debug files, beside the system's. Each may be NULL.
 * `debuginfod`: ask servers for debug files that are missing.
 */
void symbols_set_files(struct symbols *symbols, const char *sysroot, const char *debug,
	bool debuginfod);

/*
 * Reads the files of programs through `programs`, which shares them with other boots. To be called before
 * anything is mapped.
 */
void symbols_set_programs(struct symbols *symbols, struct programs *programs);

/* Sets the build-id and version of the guest's kernel, once. Its debug file is found by them. */
void symbols_set_build(struct symbols *symbols, const void *build_id, size_t size,
	const char *version);

/*
 * Maps an object of the guest. Its file on the host is looked for in `folders` (NULL-terminated) by the
 * base of its name, and used if the build-id agrees. Other threads read it: until then its functions have
 * no names.
 */
void symbols_map(struct symbols *symbols, const struct object *object, const char *const *folders);

/*
 * Gives what is mapped in a space as it was told, number `index` from 0 on, but for its process. Its texts are valid
 * until the next symbols_map. False: there is no more.
 */
bool symbols_mapped(const struct symbols *symbols, uint32_t space, uint32_t index, struct object *object);

/*
 * A mapped object whose `contents` are known may lack its file. Then a copy may be given, once, which has holes: the
 * names of its functions are read, and its call frame information. Takes over `fd`.
 */
enum file_state symbols_file_state(const struct symbols *symbols, const struct object *object);
void symbols_give_file(struct symbols *symbols, const struct object *object, int fd);

/*
 * To be called now and then: takes files that have been read. True: earlier answers may be different now.
 * Sets `*starved` if a file was refused because memory was short. symbols_reading: more files are still to
 * come.
 */
bool symbols_step(struct symbols *symbols, bool *starved);
bool symbols_reading(const struct symbols *symbols);

/*
 * The guest tells a function of its kernel (guest_symbols.h); size 0: it has told all. symbols_being_told:
 * it has begun, and not finished.
 */
void symbols_tell(struct symbols *symbols, uint64_t address, uint32_t size, struct text name);
bool symbols_being_told(const struct symbols *symbols);

/*
 * A remark about objects without names, "" if none. Valid until the next call. `*told` grows with each
 * remark about a file or a limit, so that a new one is noticed; 0: this remark only describes the present
 * state.
 */
const char *symbols_note(struct symbols *symbols, uint64_t *told);

/* Symbols or lines of a list that make no sense, in all files that were read. */
uint64_t symbols_left_out(const struct symbols *symbols);

/* Grows whenever an earlier answer of symbols_function may be different now. */
uint64_t symbols_generation(const struct symbols *symbols);

/* The space that a process is in now; see layouts.h. */
uint32_t symbols_space(struct symbols *symbols, uint32_t process);

/*
 * The call frame information for an address of a process, and the link address that it is to be asked for. NULL: the
 * process's file is not known (yet), or has none. The symbols own it, until symbols_free.
 */
struct sym_cfi *symbols_frames_of(struct symbols *symbols, uint32_t process, uint64_t address, uint64_t *link);

/* The function at an address of a space. Resolved once, then cached. Never FUNCTION_NONE. */
uint32_t symbols_function(struct symbols *symbols, uint32_t space, uint64_t address);
void symbols_fetch(const struct symbols *symbols, uint32_t space, uint64_t address);	/* it will be asked for soon */

/* The file that is mapped at an address of a space. Its texts live until symbols_free. */
struct symbols_mapping {
	const char *name;		/* as in its functions: "kernel", a module's or a program's name */
	const char *path;		/* on the host; "": no file was read */
	struct build_id build_id;	/* size 0: unknown */
	uint64_t start, end;		/* run addresses */
	uint64_t offset;		/* in the file, of `start` */
};

/* False: nobody knows what is mapped there. */
bool symbols_mapping(struct symbols *symbols, uint32_t space, uint64_t address, struct symbols_mapping *mapping);

/* Functions that are not code, such as [idle] or [unknown]; made once for each name. */
uint32_t symbols_special(struct symbols *symbols, const char *name);

/*
 * A function that stands for a group of samples, such as a thread; `object` is the text of its column. It is never one
 * of the above, even if its name is. Copies both texts; made once for each pair.
 */
uint32_t symbols_group(struct symbols *symbols, const char *name, const char *object);

/*
 * Finds where the kernel's function at a run address begins, also as a run address. False: no symbol is
 * known there.
 */
bool symbols_kernel_function(const struct symbols *symbols, uint64_t address, uint64_t *start);

/*
 * As symbol_table_named, of the kernel's own file, by run addresses. The names are valid until symbols_free. 0 also
 * where the names cannot be used yet.
 */
struct symbol;
uint32_t symbols_kernel_named(const struct symbols *symbols, const char *name, struct symbol *found, uint32_t most);
/* Likewise the one that begins at this address of that file. False: none does. */
bool symbols_kernel_at(const struct symbols *symbols, uint64_t link_address, struct symbol *found);

/*
 * The variable of a Linux kernel at a run address, and how far into it that is. NULL: none is known there. Valid until
 * symbols_free.
 */
const char *symbols_kernel_variable(const struct symbols *symbols, uint64_t address, uint64_t *offset);

/* True if there is the kernel's file, and its names can be used: see kernel_image_is_placed. */
bool symbols_kernel_is_placed(const struct symbols *symbols);

/* Run address minus link address of the kernel; 0 if it is not known. */
uint64_t symbols_kernel_slide(const struct symbols *symbols);

/*
 * What the ORC tables of the kernel, or of a module, say of the code at an address. False: there are none, or
 * where the kernel runs is not known.
 */
bool symbols_kernel_orc(const struct symbols *symbols, uint64_t address, struct orc_entry *entry);

/* The modules of the kernel that runs, as running_kernel.h reads them. The symbols own them. */
struct module_tables *symbols_modules(const struct symbols *symbols);

/* What is known of a Linux kernel whose boot image was read; NULL: none was. The symbols own it. */
const struct linux_kernel *symbols_linux_kernel(const struct symbols *symbols);

/* Sets the kernel's slide, found in some other way: its run addresses minus its link addresses. */
void symbols_set_slide(struct symbols *symbols, uint64_t slide);

/* Tells what came of comparing its code with the file: see kernel_image_compared. */
bool symbols_kernel_compared(struct symbols *symbols, uint32_t equal, uint32_t others, uint64_t other);

/* The source also sees what runs before the kernel: such code gets the names of objects.h. */
void symbols_set_board(struct symbols *symbols, enum arch_id arch);
enum arch_id symbols_board(const struct symbols *symbols);	/* ARCH_OTHER: it was not set */
void symbols_set_firmware(struct symbols *symbols, enum firmware firmware);
/*
 * Code of no file that ran before the kernel is firmware's, once it is known that the kernel has begun: each page of it
 * is told by one of its addresses.
 */
void symbols_early(struct symbols *symbols, uint64_t address);
void symbols_early_ends(struct symbols *symbols);
const struct region *symbols_region(const struct symbols *symbols, uint64_t address);	/* NULL: it is in none */

/* The descriptor of the kernel's ELF file; the symbols own it. -1: no file was read, or it is not ELF. */
int symbols_kernel_descriptor(const struct symbols *symbols);

/*
 * Copies a function of other symbols, with its name and object, and returns its id here. Each call adds one: it
 * does not look for an equal function.
 */
uint32_t symbols_add(struct symbols *symbols, const struct function *function);

/* True if some functions or lines are missing because memory was short. They are looked up again. */
bool symbols_retry(struct symbols *symbols);

/* The guest is about to tell everything again, so what was refused gets another chance. */
void symbols_told_again(struct symbols *symbols);

/* What was refused because memory was short. */
uint64_t symbols_refused(const struct symbols *symbols);	/* functions that were looked up by address */
uint64_t symbols_told_refused(const struct symbols *symbols);	/* functions that the guest told */
uint64_t symbols_lines_refused(const struct symbols *symbols);	/* answers about lines and inlined functions */
uint64_t symbols_spaces_refused(const struct symbols *symbols);	/* spaces of samples */

/*
 * These two are for any thread, with an id that was handed out: functions never move. All others are for
 * one owner thread.
 */
size_t symbols_functions(const struct symbols *symbols);
const struct function *symbols_get(const struct symbols *symbols, uint32_t function);

/*
 * "file.c:41", where a function starts. NULL: not known yet; this call asks a worker thread for it. "":
 * there is none.
 */
const char *symbols_line(struct symbols *symbols, uint32_t function);

/* Of all samples so many are kept, evenly drawn, and so many of the last ones. */
enum { SYMBOLS_KEPT = 1024, SYMBOLS_RECENT = 256 };

/* Tells the code that a sample ran. */
void symbols_saw(struct symbols *symbols, uint32_t space, uint64_t address);
uint64_t symbols_sampled(const struct symbols *symbols);	/* how many have been told in all */

/*
 * Of the last samples, SYMBOLS_RECENT: how many are the kernel's, and the addresses of those that its file does not
 * have and nothing names. Returns how many these are.
 */
uint32_t symbols_outside(struct symbols *symbols, uint64_t *addresses, uint32_t *kernel);
uint32_t symbols_inside(struct symbols *symbols, uint64_t *addresses);	/* of those that are in the file's own code */

struct symbols_sampled {		/* code that was sampled */
	uint64_t address;
	uint32_t space;
};

/*
 * A remark if these are many: the file is of another kernel, or the kernel runs elsewhere than it says; or if code that
 * was compared is not the file's; or "". By
 * `samples` samples, SYMBOLS_KEPT at most; NULL: by those that are kept of all. Returns `text`.
 */
enum { SYMBOLS_OUTSIDE = 320 };
const char *symbols_outside_note(struct symbols *symbols, const struct symbols_sampled *sampled, uint32_t samples,
	char text[SYMBOLS_OUTSIDE]);

/* symbols_line; of code that nothing names, where it was sampled: "0x200000-0x200fff". As long as the symbols. */
const char *symbols_source(struct symbols *symbols, uint32_t function);

/*
 * "file.c:44", the line of the code at an address of a space; likewise. symbols_lines_at: before it, each with a
 * newline behind it, the lines of the calls of what is inlined there, in the order of symbols_inlined; "" if not known.
 * symbols_lines_read: how many addresses have been read; it lets the worker go on. symbols_lines_all_read: none of
 * those that were asked for is on its way.
 */
const char *symbols_line_at(struct symbols *symbols, uint32_t space, uint64_t address);
const char *symbols_lines_at(struct symbols *symbols, uint32_t space, uint64_t address);
uint64_t symbols_lines_read(struct symbols *symbols);
bool symbols_lines_all_read(const struct symbols *symbols);

/*
 * The functions that the compiler put in line at an address of a space, inside the one that
 * symbols_function returns, the outermost first. False: not known yet; this call asks a worker thread for
 * them. The list is valid until the next call.
 */
bool symbols_inlined(struct symbols *symbols, uint32_t space, uint64_t address,
	struct inlined *inlined);

/*
 * Can code of `callee` return to the instruction behind `address`? Both are addresses for look-ups, of two frames of
 * one space. A return address has a call before it, lies in code, and is no function's first byte. `returns`: the
 * callee's is one, too, so it may be the stub of an interrupt: what that interrupted needs no call.
 */
enum returning {
	RETURNING_MAYBE,		/* also: the code is not at hand */
	RETURNING_NOWHERE,		/* there is nothing that is known: so it is no good for an outermost frame */
	RETURNING_NEVER,
};
enum returning symbols_returning(struct symbols *symbols, uint32_t space, uint64_t address, uint64_t callee,
	bool returns);

/* Is there a call before that return address which names the function of `callee`? Addresses as above. */
bool symbols_calls(struct symbols *symbols, uint32_t space, uint64_t address, uint64_t callee);

/* What the frame pointer is for code that was interrupted at an address of a space (flow.h). */
enum calls_frame symbols_frame(struct symbols *symbols, uint32_t space, uint64_t address);

/* Where the code of a function is, and what is known of it. Borrowed from the symbols: valid until symbols_free. */
struct symbol_code {
	uint64_t low, high;		/* link addresses: [low, high) */
	uint64_t bias;			/* run address minus link address */
	int fd;				/* of the ELF file that has it; -1: none is open */
	const char *path;		/* of the file that told the symbol; NULL: none did */
	const struct stat *file;	/* that file, as it was when it was read */
	const struct linux_kernel *kernel;	/* if that file is a Linux kernel's; else NULL */
	const struct debug_object *debug;	/* for its lines; NULL: nobody knows them */
};

/* Finds the code of the function that symbols_function returns for an address of a space. False: nobody knows it. */
bool symbols_code(struct symbols *symbols, uint32_t space, uint64_t address, struct symbol_code *code);

/*
 * The source lines of that code: `*lines`, which the caller frees; NULL: none. False: not known yet; this call asks a
 * worker thread for them, about one function at a time. `*more`: debuginfod is still asked, so there may be more later.
 */
bool symbols_code_lines(struct symbols *symbols, const struct symbol_code *code, struct code_lines **lines, bool *more);

#endif
