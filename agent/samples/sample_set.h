/* SPDX-License-Identifier: MIT */
/*
 * Samples with their names, free of the guest that they came from: what the formats of an export write, and what a diff
 * compares. A sample set has functions, locations (code addresses, with the functions there), stacks of locations, and
 * the sums of the samples by stack and by who ran them. Where the times of samples were kept, it gives the samples one
 * by one, too. Everything is known by an index into its list. A set is built by one thread; then any thread reads it.
 */
#ifndef SAMPLE_SET_H
#define SAMPLE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/wire/trace_kinds.h"

struct budget;

enum { SET_MODES = 5 };			/* those that sample_set_mode knows */
#define SET_NONE 0xffffffffu		/* no index: no parent, no object, no thread, no CPU */

/* What kind of code a function is. The first three of them are of the guest. */
enum set_kind { SET_KERNEL, SET_MODULE, SET_USER, SET_IDLE, SET_UNKNOWN, SET_KINDS };

/* Texts are any bytes but 0. ktop's own are printable; those of files that were read back may not be. */
struct set_function {
	const char *name;
	const char *object;		/* "kernel", a module's or a program's name; "" if unknown */
	const char *file;		/* its source file; "" if unknown */
	uint32_t line;			/* where it begins in this file; 0 if unknown */
	uint64_t address;		/* link address of its start; 0 if unknown */
	enum set_kind kind;
};

struct set_object {			/* a file with code, as it is mapped */
	const char *name;		/* as in its functions */
	const char *path;		/* of the file on the host; "" if there is none */
	const char *build_id;		/* hexadecimal digits; "" if unknown */
	uint64_t start, end, offset;	/* run addresses [start, end); the offset in the file of `start` */
};

/*
 * A function at a location. A location has its innermost function first; those behind it have inlined it, and their
 * lines are those of the calls.
 */
struct set_line {
	uint32_t function;
	uint32_t line;			/* in the function's file; 0 if unknown */
};

struct set_location {
	uint64_t address;		/* run address; of a caller, inside the call instruction; 0 if unknown */
	uint32_t object;		/* SET_NONE if unknown */
	uint32_t first, count;		/* its lines: one at least */
};

struct set_stack {
	uint32_t parent;		/* the caller's stack, whose index is lower; SET_NONE: this is a root */
	uint32_t location;
	bool cut;			/* callers are missing here */
};

struct set_thread {
	uint32_t id, process;		/* the guest's numbers; SET_NONE: none */
	const char *name, *process_name;
};

/* Who ran a stack. */
struct set_who {
	uint32_t thread;		/* SET_NONE: not known */
	uint32_t cpu;			/* SET_NONE: not known */
	uint8_t mode;			/* one of MODE_NAMES of contexts.h; see sample_set_mode */
};

struct set_sum {
	uint32_t stack;
	struct set_who who;
	uint64_t samples, weight;	/* weight in sampling periods */
	uint64_t ns;			/* the CPU time that the weight stands for; 0: not known */
};

/* Some samples of one sum, at one time. Most often it is one sample. */
struct set_row {
	uint64_t time;			/* guest ns */
	uint32_t sum;
	uint64_t samples, weight, ns;	/* as in a sum */
};

/* Gives rows in order of time. Several may be open at once, in any threads. */
struct set_rows;
struct set_rows_table {
	struct set_rows *(*open)(void *context);	/* never NULL */
	bool (*next)(struct set_rows *rows, struct set_row *row);	/* false: there is no more, or `failed` */
	bool (*failed)(const struct set_rows *rows);	/* reading its temporary file has failed: rows are missing */
	void (*close)(struct set_rows *rows);
	void (*free)(void *context);	/* with the set */
};

/* What the kernel did, event by event, where that was traced. Those of a CPU come in order of time. */
struct set_event_kind {
	const char *name;		/* "sched_switch" */
	enum trace_mark mark;		/* what it is, if it is no event */
	enum trace_role role;
	uint16_t pair;			/* as in struct trace_kind, as these: */
	uint8_t role_values[ROLE_VALUES];
	uint32_t count;			/* of values */
	struct set_event_value {
		const char *name;
		bool is_signed;		/* it is an int64_t */
	} values[TRACE_VALUES];
};

struct set_event {
	uint64_t time;			/* guest ns */
	uint32_t cpu;
	const struct set_event_kind *kind;	/* lives as long as the set */
	uint64_t values[TRACE_VALUES];
	uint32_t stack;			/* of the kernel, there: an index plus 1; 0: not told */
};

struct set_events;
struct set_events_table {
	struct set_events *(*open)(void *context);	/* never NULL */
	bool (*next)(struct set_events *events, struct set_event *event);
	bool (*failed)(const struct set_events *events);
	void (*close)(struct set_events *events);
	void (*free)(void *context);	/* with the set */
};

struct set_facts {
	const char *machine, *kernel, *version, *arch;	/* "" if unknown */
	uint64_t from, to;		/* guest ns: the range that was asked for; both 0: not known */
	uint64_t period;		/* ns between two samples of a CPU: the last one known; 0: not known */
	uint64_t began;			/* Unix ns when the guest's clock was 0; 0: not known */
	uint64_t grain;			/* ns: the times of rows are rounded to this; 0: they are exact */
	uint64_t lost;			/* samples that did not come, though they were taken */
	uint64_t events_lost;		/* likewise of trace events, of all CPUs and times */
	uint32_t merged;		/* frames that are too light to stand alone, so the set has "[merged]" */
	uint64_t missed;		/* sampling periods of the range in which CPUs were not run */
	double cost_ns, cost_share;	/* the hook's: ns a sample, and its share of guest time, 0 to 1; 0: not known */
	uint32_t cpus;			/* of the guest; 0: not known */
	int64_t zero;			/* guest ns from which on times count that a person reads; 0 also: not known */
	const struct trace_number *numbers;	/* `number_count`: what those in trace events are called */
	uint32_t number_count;
	bool off_cpu;			/* its samples are waits, and weights their time (filter.h) */
};

/* The time that a person reads; before the zero there is none. `facts` may be NULL. */
static inline uint64_t set_facts_shown(const struct set_facts *facts, uint64_t ns)
{
	int64_t zero = facts ? facts->zero : 0;

	return (int64_t)ns > zero ? (uint64_t)((int64_t)ns - zero) : 0;
}

struct sample_set {
	const struct set_function *functions;
	const struct set_object *objects;
	const struct set_line *lines;
	const struct set_location *locations;
	const struct set_stack *stacks;
	const struct set_thread *threads;
	const struct set_sum *sums;	/* each (stack, who) once */
	uint32_t function_count, object_count, line_count, location_count, stack_count, thread_count, sum_count;
	struct set_facts facts;		/* its texts belong to the set */
	uint64_t samples, weight, ns;	/* of all sums together */
	struct budget *budget;		/* pays for the set, and for what is made of it; NULL: no limit */
	const struct set_rows_table *rows;	/* NULL: times were not kept */
	void *rows_context;
	const struct set_events_table *events;	/* NULL: none were traced, or they were not kept */
	void *events_context;
};

/* What a number of trace events of this role is called; "": it has no name. */
const char *sample_set_called(const struct sample_set *set, enum trace_role role, uint64_t number);

/* ---- building ---- */

/*
 * An empty set. All of its memory is charged to the budget, which may be NULL. Where there is no memory, the functions
 * below return SET_NONE or false, and sample_set_is_full is true from then on.
 */
struct sample_set *sample_set_new(struct budget *budget);
void sample_set_free(struct sample_set *set);	/* NULL is allowed */
bool sample_set_is_full(const struct sample_set *set);

/* What to say of a set, or of what is made of it, that finds no memory: "why; what to do". */
extern const char sample_set_no_memory[];

/* These return the index of what is equal, and add it if nothing is. Texts are copied. */
uint32_t sample_set_function(struct sample_set *set, const struct set_function *function);
uint32_t sample_set_object(struct sample_set *set, const struct set_object *object);
uint32_t sample_set_location(struct sample_set *set, uint64_t address, uint32_t object,
	const struct set_line *lines, uint32_t count);
uint32_t sample_set_stack(struct sample_set *set, uint32_t parent, uint32_t location, bool cut);
uint32_t sample_set_thread(struct sample_set *set, const struct set_thread *thread);

/* Adds to the sum of the same stack and who. Returns its index. */
uint32_t sample_set_add(struct sample_set *set, const struct set_sum *sum);

/* The index of the sum of this stack and who; SET_NONE: it is not in the set. Any thread, once the set is built. */
uint32_t sample_set_find(const struct sample_set *set, uint32_t stack, const struct set_who *who);

/* Copies the texts. */
bool sample_set_tell(struct sample_set *set, const struct set_facts *facts);

/* Rows that were kept. Takes ownership of the context. */
void sample_set_give_rows(struct sample_set *set, const struct set_rows_table *table, void *context);
void sample_set_give_events(struct sample_set *set, const struct set_events_table *table, void *context);

/* ---- reading ---- */

/* Writes a stack's locations, the root first, `room` at most: the innermost ones. Returns how many were written. */
static inline uint32_t sample_set_path(const struct sample_set *set, uint32_t stack, uint32_t *locations, uint32_t room)
{
	uint32_t count = 0;

	for (uint32_t at = stack; at != SET_NONE && count < room; at = set->stacks[at].parent)
		count++;
	for (uint32_t i = count; i-- > 0; stack = set->stacks[stack].parent)
		locations[i] = set->stacks[stack].location;
	return count;
}

/* The word for a mode: "kernel", "user", "idle", "irq", "softirq". */
const char *sample_set_mode(uint8_t mode);

/* The function of a stack's leaf, of those that are inlined there the innermost. */
const struct set_function *sample_set_leaf(const struct sample_set *set, uint32_t stack);

/*
 * The frames of a stack as functions, the root first, with inlined ones behind those that they are in; `room` at most:
 * the innermost ones. Returns how many were written.
 */
uint32_t sample_set_frames(const struct sample_set *set, uint32_t stack, struct set_line *frames, uint32_t room);

/* ---- row list ---- */

/* Rows of a sample set in memory. */

struct row_list;

struct row_list *row_list_new(struct budget *budget);	/* NULL: no limit */
bool row_list_add(struct row_list *list, const struct set_row *row);	/* false: there is no memory */

void row_list_free(struct row_list *list);

/* Sorts the rows by time, and gives the list to the set. */
void row_list_give(struct row_list *list, struct sample_set *set);

/* ---- the set's code ---- */

/* Puts into a sample set what is known of the code at an address: its functions, source lines and file. */

struct node;
struct symbols;

struct set_code {
	struct sample_set *set;
	struct symbols *symbols;
	bool lines;			/* also source lines and inlined functions, as far as they have been read */
};

/* Each `function` below is an id among the symbols: at a node the one that all others there are inlined in. */
uint32_t set_code_function(const struct set_code *code, uint32_t function);

/* The file that a node's code is of, by the name that its function has of it; SET_NONE: it has none. */
uint32_t set_code_object(const struct set_code *code, const struct node *node, uint32_t function);

enum { SET_CODE_LINES = 64 };		/* functions at one node; the innermost are kept */

/*
 * The functions at a node, the innermost first, each with its line: that of the code, and of the others that of the
 * call of what is inlined in them. Returns how many.
 */
uint32_t set_code_lines(const struct set_code *code, const struct node *node, uint32_t function,
	struct set_line lines[SET_CODE_LINES]);

#endif
