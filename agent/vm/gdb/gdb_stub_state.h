/* SPDX-License-Identifier: MIT */
/* The state of a dialogue. Private to gdb_stub.c, which drives it, and the files named below. */
#ifndef GDB_STUB_STATE_H
#define GDB_STUB_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/vm/ram/ram_file.h"
#include "kernel-hook/ktop.h"
#include "kernel-hook/plugin/machine/target.h"
#include "kernel-hook/plugin/task.h"
#include "gdb_packets.h"
#include "gdb_stub.h"

struct ram_file;
struct memory_reader;

enum {
	GDB_CPUS = 256,			/* at most; further CPUs are not sampled */
	GDB_STACK = 2 * KTOP_STACK_MAX,	/* bytes of a CPU's stacks, as many as a sample has */
	GDB_AT_ONCE = 2048,		/* bytes of memory that QEMU gives for one question */
	GDB_HALVES = GDB_PAGE / GDB_AT_ONCE,
	GDB_FRAMES = 24,		/* pages of a CPU's that one sample looks for, at most */
	GDB_WORDS = 512,		/* entries of page tables that one sample looks at, at most */
	GDB_COMMAND = 64,		/* bytes of a command for the monitor */
	/* questions that may wait */
	GDB_ASKED = (16 + GDB_NAMED + GDB_FRAMES) * GDB_CPUS + GDB_PAGES * GDB_HALVES + GDB_WORDS + 10,
	GDB_TEXT = 1 << 18,		/* bytes of one file of the target description */
};

/* Tells QEMU whether addresses of memory are physical: 1, or 0. */
#define GDB_PHYSICAL "Qqemu.PhyMemMode:"

/* What was asked: answers come in the order of the questions. */
enum gdb_question { GDB_ASK_FEATURES, GDB_ASK_FILE, GDB_ASK_THREADS, GDB_ASK_CHOICE, GDB_ASK_NAMED,
	GDB_ASK_REGISTERS, GDB_ASK_HALTED, GDB_ASK_STACK, GDB_ASK_LINKED, GDB_ASK_USER, GDB_ASK_CODE, GDB_ASK_PLACE,
	GDB_ASK_PAGE, GDB_ASK_POINTER, GDB_ASK_TASK, GDB_ASK_PHYSICAL, GDB_ASK_MAP, GDB_ASK_COMMAND, GDB_ASK_FRAME,
	GDB_ASK_WORD, GDB_ASK_GO_ON };

/* `cpu` of GDB_ASK_NAMED is cpu * GDB_NAMED + the register; of GDB_ASK_FRAME cpu * GDB_FRAMES + the frame. */
struct gdb_asked {
	enum gdb_question question;
	uint32_t cpu;			/* for a page, or an entry of page tables: its index */
	uint32_t size;			/* bytes of memory that are asked for */
};

struct gdb_page {
	uint64_t address;
	uint32_t size;			/* bytes read so far */
	uint8_t bytes[GDB_PAGE];
};

/* Where a page of virtual memory is. */
struct gdb_frame {
	uint64_t page, physical;	/* UINT64_MAX: nothing is mapped there */
	bool known;			/* QEMU has told it in this sample; else it was so in the one before */
	bool used;			/* by this sample, so it is likely to be used by the next one */
};

/* An entry of the guest's page tables. */
struct gdb_word {
	uint64_t at, value;		/* its physical address */
	bool known, used;		/* as above */
};

struct gdb_cpu {
	char id[32];			/* the stub's name of it */
	bool chosen;			/* the stub has made it the CPU of the next questions */
	bool known, idle;
	bool direct;			/* its memory was read out of the file */
	struct target_state state;	/* valid if known */
	uint64_t named[GDB_NAMED];	/* registers that were asked for by name; 0: not known */
	uint8_t named_known;		/* bit i: named[i] was told */
	bool wide;			/* x86-64: its page tables have five levels */
	struct gdb_frame frames[GDB_FRAMES];	/* those that this sample looks for */
	uint32_t frame_count;
	uint64_t waited_at;		/* its program counter when its code last told that it waits; 0: not known */

	/* Its stack from the stack pointer on, and behind these bytes those of the stack that it leads to. */
	uint8_t stack[GDB_STACK];
	uint32_t stack_size, linked_size;	/* bytes read so far */
	uint64_t linked_address;
	bool ended;			/* a part could not be read: the parts behind it are of no use */
	uint8_t user[KTOP_STACK_MAX];	/* the stack of the program for which its kernel works */
	uint32_t user_size;		/* bytes read so far */
	uint64_t user_address;
	uint64_t guess;			/* where that stack was last; 0: not known */
	bool guessed;			/* it was asked for there */
	uint64_t interrupts;		/* the end of its stack for interrupts (gdb_stack.c); 0: not known */

	/* Which thread it runs. */
	uint64_t base;			/* the base with which its pointer was asked for; 0: it was not */
	uint64_t pointer_at;		/* and the physical address of that pointer */
	bool late;			/* it was asked for with the stacks */
	uint64_t task;			/* where the record of its thread is; 0: not known */
	uint32_t record_size;		/* bytes read so far */
	uint8_t record[GDB_AT_ONCE];
};

struct gdb_stub {
	int fd;
	enum gdb_state state;
	char error[160];
	uint64_t deadline;		/* when the state has lasted too long, host ns; UINT64_MAX: never */
	uint64_t now;			/* the time of the present step */
	bool held;			/* as far as is known, the machine is stopped, and by us */
	bool leaves;			/* the connection ends as soon as the machine runs */
	bool taken;			/* a sample became complete in this step */
	bool let_go;			/* behind the last questions of this sample, the machine was told to go on */

	struct gdb_reader reader;
	struct gdb_writer writer;
	size_t sent;			/* bytes of `writer` that are sent */
	struct gdb_asked asked[GDB_ASKED];	/* in the order in which the answers come */
	size_t asked_first, asked_count;

	/* the greeting */
	struct gdb_target target;
	const struct target *cpu_target;
	size_t file;			/* which one is read: 0: target.xml; then those that it names */
	char *text;			/* as much of that file as has come */
	size_t text_size;

	struct gdb_cpu *cpus;
	uint32_t cpu_count;
	struct ram_map map;		/* without a range: no memory is read by packets */
	struct gdb_word words[GDB_WORDS];
	uint32_t word_count;
	bool obeys;			/* it runs commands of QEMU's monitor */
	bool seeks;			/* gdb_seek is under way: QEMU is asked where memory is, not what it holds */
	bool physical;			/* QEMU was told that addresses are physical */
	bool outside;			/* the last walk came to a table that is not in RAM, or not known */
	bool tells_halted;		/* it has told of a CPU that it is halted, so it tells of all */
	bool refused;			/* a stack of this sample is not surely in RAM, or the mode is not known */
	uint32_t monitor_cpu, told_cpu;	/* the monitor's CPU, as asked for, and as confirmed; GDB_CPUS: not known */
	char print[GDB_COMMAND];	/* what it has printed for the present question */
	size_t print_size;

	uint32_t chooses;		/* the CPU of the next questions; GDB_CPUS: none was chosen in this sample */
	uint64_t place;			/* gdb_stub_look; 0: nothing to read */
	uint32_t place_size, seen_size;	/* bytes that are wanted there; bytes in `seen` */
	uint8_t seen[GDB_SEEN];
	struct gdb_page pages[GDB_PAGES];	/* gdb_stub_read */
	uint32_t page_count, page_cpu;	/* how many; the CPU that reads them */
	struct ktop_task_places places;	/* gdb_stub_follow */
	struct ram_file *shared;	/* gdb_stub_share; NULL: there is no such file */
	unsigned judged, missed;	/* samples that tried to prove it; kernel stacks in a row that are not in it */
	uint64_t begun, stopped;	/* the last sample: host ns when it began; ns for which the machine stood */
	uint64_t rests;			/* gdb_stub_rests */
};

/* Queues a question, and notes what it asks, for when its answer comes. */
void gdb_ask(struct gdb_stub *stub, enum gdb_question question, uint32_t cpu, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* False: nothing was asked, since that memory is no RAM, or is not mapped. In gdb_seek: true, and no memory is read. */
bool gdb_ask_memory(struct gdb_stub *stub, enum gdb_question question, uint32_t cpu, uint64_t address, uint32_t size);
void gdb_begin_memory(struct gdb_stub *stub);	/* before a question for physical memory */
void gdb_end_memory(struct gdb_stub *stub);	/* behind the last questions that are sent at once */
void gdb_confuse(struct gdb_stub *stub);	/* an answer does not fit its question */
void gdb_fail(struct gdb_stub *stub, const char *why);	/* leaves, and says why */
void gdb_go_on(struct gdb_stub *stub);		/* lets the machine run, if we have stopped it */

/* ---- gdb_greeting.c ---- */

void gdb_greet(struct gdb_stub *stub);
void gdb_take_greeting(struct gdb_stub *stub, enum gdb_question question, char *body, size_t size);

/* ---- gdb_frames.c ---- */

void gdb_ask_monitor(struct gdb_stub *stub, enum gdb_question question, uint32_t cpu, const char *line);
void gdb_take_print(struct gdb_stub *stub, const char *digits, size_t size);
void gdb_take_command(struct gdb_stub *stub, uint32_t index);
void gdb_take_frame(struct gdb_stub *stub, uint32_t asked, bool good);
void gdb_take_word(struct gdb_stub *stub, uint32_t number, const char *digits, size_t size);
void gdb_keep_words(struct gdb_stub *stub);
void gdb_keep_frames(struct gdb_stub *stub, uint32_t index);	/* asks for those that the last sample used */

/* Is what the CPU has at this address RAM, and where? In gdb_seek, what is not known yet is asked for. */
bool gdb_is_ram(struct gdb_stub *stub, enum gdb_question question, uint32_t index, uint64_t address, uint32_t size,
	uint64_t *physical);

/* Asks where all that memory is for which `ask_all` asks. False: nothing is left to be asked. */
bool gdb_seek(struct gdb_stub *stub, void (*ask_all)(struct gdb_stub *));

/* ---- gdb_sample.c: what is asked at once, and what the answers lead to ---- */

void gdb_ask_registers(struct gdb_stub *stub, bool fresh);	/* fresh: the last sample was just before */
void gdb_ask_stacks(struct gdb_stub *stub);
bool gdb_leads_further(const struct gdb_stub *stub);	/* the answers call for more questions */
void gdb_ask_further(struct gdb_stub *stub);
bool gdb_leads_to_programs(const struct gdb_stub *stub);	/* perhaps CPUs in their kernel work for programs */
void gdb_ask_programs(struct gdb_stub *stub);
void gdb_end_sample(struct gdb_stub *stub);
void gdb_take_sample(struct gdb_stub *stub, struct gdb_asked asked, const char *body, size_t size);

/* The instruction that waits for an interrupt. Returns its bytes. */
uint32_t gdb_waits_by(uint8_t arch, uint32_t *instruction);

/* ---- gdb_stack.c ---- */

void gdb_ask_stack(struct gdb_stub *stub, uint32_t cpu);
bool gdb_expects_link(const struct gdb_stub *stub, const struct gdb_cpu *cpu);
void gdb_ask_linked(struct gdb_stub *stub, uint32_t cpu);
bool gdb_expects_program(const struct gdb_stub *stub, const struct gdb_cpu *cpu);
void gdb_ask_program(struct gdb_stub *stub, uint32_t cpu);
void gdb_guess_program(struct gdb_stub *stub, uint32_t cpu);
void gdb_take_stack(struct gdb_cpu *cpu, const struct gdb_asked *asked, const char *body, size_t size);
void gdb_learn_stack(const struct gdb_stub *stub, struct gdb_cpu *cpu);	/* its bytes are complete */

/* ---- gdb_task.c ---- */

void gdb_ask_pointer(struct gdb_stub *stub, uint32_t cpu, uint64_t base);
void gdb_ask_task(struct gdb_stub *stub, uint32_t cpu);
void gdb_take_pointer(struct gdb_stub *stub, uint32_t index, const char *body, size_t size);
void gdb_take_task(struct gdb_cpu *cpu, const char *body, size_t size);
void gdb_read_task(const struct gdb_stub *stub, struct gdb_cpu *cpu, const struct memory_reader *memory);

/* ---- gdb_direct.c ---- */

bool gdb_direct_judges(const struct gdb_stub *stub);	/* there is a file that is to be proved */
void gdb_direct_judge(struct gdb_stub *stub);		/* by the stacks of this sample, while the machine stands */
bool gdb_direct_read(struct gdb_stub *stub, uint32_t cpu);	/* all of a sample but registers; false: by packets */
uint32_t gdb_direct_bytes(const struct gdb_stub *stub, uint32_t cpu, uint64_t address, void *to, uint32_t size);

#endif
