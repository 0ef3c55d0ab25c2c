/* SPDX-License-Identifier: MIT */
/*
 * What the hook sends to the host: CTF 1.8 packets of little-endian, byte-aligned events (Common Trace Format
 * 1.8.3, sections 5 and 6). Guest and host share this file, and no other. What samples outside the guest, the plugin
 * and the process at QEMU's gdb stub, is the hook itself, built for the host.
 *
 *   packet   +-----------------------+  \
 *            | header   24 bytes     |   |
 *            | context  60 bytes     |   |  content_size = packet_size, in bits,
 *            +-----------------------+   |  at most KTOP_PACKET_MAX bytes
 *   event    | time  u32             |   |
 *            | id    u16             |   |  time: the low 32 bits of the guest clock
 *            | size  u16             |   |  size: bytes of payload that follow
 *            | payload               |   |
 *            +-----------------------+   |
 *            | ...                   |  /
 *
 * A payload has its fixed fields in order, then its lists in order. A list is a u16 count and the elements.
 * Text is a list of bytes, in UTF-8, without a terminating zero.
 *
 * The structures, the decoder, the CTF metadata and docs/wire.md are all made from the table below. A row never
 * changes: an event whose fields change gets a new id. It is one file, so that another program can take it alone.
 */
#ifndef KTOP_WIRE_H
#define KTOP_WIRE_H

#include <stdint.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the wire is little-endian");

enum {
	KTOP_MAGIC = 0xC1FC1FC1u,	/* CTF 1.8.3, section 5.1 */
	KTOP_PACKET_MAX = 32768,	/* bytes; Linux cuts longer writes to a port */
	KTOP_FRAMES_MAX = 64,		/* of one sample, in each of its two stacks */
	KTOP_EVENT_FRAMES_MAX = 30,	/* of the stack of a trace event */
	KTOP_TEXT_MAX = 1024,		/* bytes of one text */
	KTOP_REGISTERS_MAX = 64,	/* of one raw sample */
	KTOP_TASK_NAME = 64,		/* bytes of the name in a task_sample */
	KTOP_PROGRAM_STACK_MAX = 8192,	/* bytes of `stack` in a program_sample */
	KTOP_STACK_MAX = 2048,		/* bytes of `stack` in a raw sample, or `user`; twice as many with `linked` */
	KTOP_MEMORY_PAGE = 4096,	/* bytes of the guest's memory in one event, at most */
	KTOP_BOOT_ID = 16,		/* bytes; new at each boot; the uuid of the CTF trace */
	KTOP_TRACE_FIRST = 32,		/* the first id of the hook's own trace events; 63: KTOP_META */
	KTOP_TRACE_USER = 64,		/* the first id of the kernel's trace events */
};

/* Ids that stand for "none": no process, which is the address space of the kernel; no CPU; no thread. */
#define KTOP_KERNEL 0xffffffffu
#define KTOP_NO_CPU 0xffffffffu
#define KTOP_NO_THREAD 0xffffffffu
#define KTOP_OTHER_THREAD 0xfffffffeu	/* of switches: any that a filter leaves out, or none */

/* Marks by control lines have numbers from here on, and those by programs; those of the kernel's own are below. */
#define KTOP_MARKS_ASKED 0x80000000u
#define KTOP_MARKS_WRITTEN 0xc0000000u

/* How a thread leaves its CPU: it could go on; it waits, and a signal ends that, too, or not; it has ended. */
enum ktop_leaves { KTOP_LEAVES_READY, KTOP_LEAVES_ASLEEP, KTOP_LEAVES_BLOCKED, KTOP_LEAVES_DEAD };

/* KTOP_META: state. KTOP_SAMPLES, KTOP_TRACE: the two classes of events that CPUs write into rings. */
enum ktop_stream { KTOP_META, KTOP_SAMPLES, KTOP_TRACE, KTOP_STREAMS };
enum ktop_mode { KTOP_MODE_KERNEL, KTOP_MODE_USER, KTOP_MODE_IDLE, KTOP_MODES };
/* The CPU of a raw sample: how its registers are numbered. */
enum ktop_arch { KTOP_X86_64, KTOP_I386, KTOP_RISCV64, KTOP_AARCH64, KTOP_ARCHS };
/*
 * KTOP_OUTSIDE and KTOP_STUB stand in `status` alone: the hook is in a plugin of QEMU, or a client of its gdb stub, and
 * samples the guest from outside. KTOP_NONE: no samples are taken; trace events are written nevertheless.
 */
enum ktop_sampler { KTOP_TIMER, KTOP_NMI, KTOP_OUTSIDE, KTOP_STUB, KTOP_NONE, KTOP_SAMPLERS };

/* ktop_wire_sample.flags */
enum {
	KTOP_KERNEL_CUT = 1,	/* kernel[] lacks callers: the walk met a bad frame pointer or the frame limit */
	KTOP_USER_CUT = 2,	/* the same for user[] */
	KTOP_ENTRY = 4,		/* the CPU was in an entry stub, or on another stack: kernel[] has one frame */
	KTOP_USER_EXACT = 8,	/* user[0] is an interrupted pc, not a return address */
	/* Where in the kernel: a thread's own work, a softirq, the handler of an interrupt. None of them: not told. */
	KTOP_TASK = 16, KTOP_SOFTIRQ = 32, KTOP_IRQ = 64,
};

/* The fields of each event: F(type, name) is a fixed field, L(type, name) a list. */

#define KTOP_WIRE_descriptor(F, L) /* an event of this table, or of the kernel's own, as this hook sends it */ \
	F(u16, event) F(u8, stream) L(char, name) L(char, fields)
#define KTOP_WIRE_guest(F, L) /* clock: Hz; epoch: unix time in ns at clock 0; 0: unknown */ \
	F(u32, cpus) F(u64, clock) F(u64, epoch) F(u64, anchor_address) \
	L(char, kernel) L(char, version) L(char, arch) L(char, anchor) L(u8, build_id)
#define KTOP_WIRE_process(F, L) F(u32, process) L(char, name)
#define KTOP_WIRE_thread(F, L) F(u32, thread) F(u32, process) L(char, name)
#define KTOP_WIRE_object(F, L) /* bias: address where it runs minus address for which it was linked */ \
	F(u32, process) F(u64, start) F(u64, end) F(u64, bias) L(char, name) L(u8, build_id)
#define KTOP_WIRE_status(F, L) /* trace_mask bit i: event 32 + i (see `tracing`); note: why not the chosen sampler */ \
	F(u8, running) F(u8, sampler) F(u32, rate) F(u32, sampler_cpu) F(u32, trace_mask) \
	F(u64, meta_lost) L(char, note)
#define KTOP_WIRE_cpu_status(F, L) /* clock ticks while on: cost in the hook, span in all; bytes: used, size */ \
	F(u32, cpu) F(u8, stream) F(u8, enabled) F(u64, taken) F(u64, lost) \
	F(u64, cost) F(u64, span) F(u32, used) F(u32, size)
#define KTOP_WIRE_keys(F, L) /* PS/2 set-1 make codes to hold down, in order */ \
	L(u8, on) L(u8, off)
#define KTOP_WIRE_reply(F, L) /* the answer to one control line */ \
	F(u8, ok) L(char, text)
#define KTOP_WIRE_symbol(F, L) /* a function of the kernel: where it runs, its bytes; size 0: all were sent */ \
	F(u64, address) F(u32, size) L(char, name)
#define KTOP_WIRE_table(F, L) /* the name table whose rows are `event`; missing: ids that have no row */ \
	F(u16, event) F(u32, size) F(u32, used) F(u32, missing)
#define KTOP_WIRE_tracing(F, L) /* ids: all are below this; mask: bit i of word w is set if event 32 * w + i is on */ \
	F(u32, ids) L(u32, mask)
#define KTOP_WIRE_memory(F, L) /* bytes of the guest's memory that a line `read` asked for; none: nothing is there */ \
	F(u8, physical) F(u64, address) L(u8, bytes)
#define KTOP_WIRE_packed_memory(F, L) /* a whole page of `memory` that ktop has packed by zstd: in a recording */ \
	F(u8, physical) F(u64, address) L(u8, packed)
#define KTOP_WIRE_number(F, L) /* what a number is called that stands in `event`: a call's, an irq's, a lock's */ \
	F(u16, event) F(u64, number) L(char, name)
#define KTOP_WIRE_arguments(F, L) /* what follows `number` in `event` where that is `number`, as in a descriptor */ \
	F(u16, event) F(u64, number) L(char, fields)
#define KTOP_WIRE_filters(F, L) /* what is asked of trace events, "syscall:min=1ms,process=7 ..."; empty: nothing */ \
	L(char, text)
#define KTOP_WIRE_left_out(F, L) /* of the CPU: trace events, or pairs of them, that filters left out, since boot */ \
	F(u32, cpu) F(u64, pairs)
#define KTOP_WIRE_sample(F, L) /* exact: bit i is set if kernel[i] is an interrupted pc, not a return address */ \
	F(u32, process) F(u32, thread) F(u8, mode) F(u8, flags) F(u32, weight) F(u64, exact) \
	L(u64, kernel) L(u64, user)
#define KTOP_WIRE_missed(F, L) /* periods in a gap that is too long to count for one function */ \
	F(u32, ticks)
#define KTOP_WIRE_raw_sample(F, L) /* a CPU seen from outside; mode KTOP_MODES: unknown; docs/wire.md says the rest */ \
	F(u32, weight) F(u8, mode) F(u8, arch) F(u64, space) F(u64, base) F(u64, valid) F(u64, stack_address) \
	F(u64, linked_address) L(u64, registers) L(u8, stack) L(u8, linked)
#define KTOP_WIRE_task_sample(F, L) /* a raw sample, and the thread that ran; name empty: it is not known */ \
	F(u32, process) F(u32, thread) KTOP_WIRE_raw_sample(F, L) L(char, name)
#define KTOP_WIRE_stacks_sample(F, L) /* a task sample, and the stack of the program for which the kernel works */ \
	F(u64, user_address) KTOP_WIRE_task_sample(F, L) L(u8, user)
#define KTOP_WIRE_walked_sample(F, L) /* a task sample whose stack ktop has walked: it stands in a recording */ \
	F(u32, process) F(u32, thread) F(u8, mode) F(u8, flags) F(u8, arch) F(u32, weight) F(u64, exact) F(u64, space) \
	L(u64, kernel) L(u64, user) L(char, name)
#define KTOP_WIRE_program_sample(F, L) /* a sample; of its program not the frames, but the registers and the stack */ \
	F(u8, arch) KTOP_WIRE_sample(F, L) L(u64, registers) L(u8, stack)
#define KTOP_WIRE_stack(F, L) /* the kernel's stack at `event`, which follows at that time; cut: not all */ \
	F(u16, event) F(u8, cut) F(u64, exact) L(u64, kernel)
/*
 * Where no other event of its CPU came in between, a beginning and its end are one event, `whole`, at the end's time;
 * else the beginning may come late, as `began`, at the time of the event behind it. took, ago: clock ticks since then.
 */
#define KTOP_WIRE_syscall_began(F, L) F(u64, ago) KTOP_WIRE_syscall_enter(F, L)
#define KTOP_WIRE_syscall_whole(F, L) F(u64, took) KTOP_WIRE_syscall_enter(F, L) F(u64, result)
#define KTOP_WIRE_irq_began(F, L) F(u64, ago) KTOP_WIRE_irq_enter(F, L)
#define KTOP_WIRE_irq_whole(F, L) F(u64, took) KTOP_WIRE_irq_enter(F, L)
#define KTOP_WIRE_softirq_began(F, L) F(u64, ago) KTOP_WIRE_softirq_enter(F, L)
#define KTOP_WIRE_softirq_whole(F, L) F(u64, took) KTOP_WIRE_softirq_enter(F, L)
#define KTOP_WIRE_sched_switch(F, L) /* KTOP_NO_THREAD: the CPU idles; leaves: enum ktop_leaves, of `from` */ \
	F(u32, from) F(u32, to) F(u8, leaves)
#define KTOP_WIRE_sched_wake(F, L) /* waker: KTOP_NO_THREAD: an interrupt, whatever thread it came to */ \
	F(u32, thread) F(u32, waker)
#define KTOP_WIRE_irq_enter(F, L) F(u32, irq)
#define KTOP_WIRE_irq_exit(F, L) F(u32, irq)
#define KTOP_WIRE_softirq_enter(F, L) F(u32, softirq)
#define KTOP_WIRE_softirq_exit(F, L) F(u32, softirq)
#define KTOP_WIRE_lock_wait(F, L) /* lock: a number or an address; holder: KTOP_NO_THREAD: it is not known */ \
	F(u64, lock) F(u32, thread) F(u32, holder)
#define KTOP_WIRE_lock_waited(F, L) /* the end of a wait; got: 1: the thread has the lock, 0: it has given up */ \
	F(u64, lock) F(u32, thread) F(u8, got)
#define KTOP_WIRE_lock_acquired(F, L) /* of a lock that one thread holds, and whose release comes */ \
	F(u64, lock) F(u32, thread)
#define KTOP_WIRE_lock_released(F, L) F(u64, lock) F(u32, thread)
#define KTOP_WIRE_syscall_enter(F, L) /* the words of its arguments; what a call has no argument for is anything */ \
	F(u32, thread) F(u32, number) F(u64, arg0) F(u64, arg1) F(u64, arg2) F(u64, arg3) F(u64, arg4) F(u64, arg5)
#define KTOP_WIRE_syscall_exit(F, L) F(u32, thread) F(u32, number) F(u64, result)
/* `thread` in these: KTOP_NO_THREAD: of no thread, as in an interrupt. */
#define KTOP_WIRE_fault(F, L) /* a page fault; pc: the instruction that touched the address; write: 1: to write */ \
	F(u32, thread) F(u64, address) F(u64, pc) F(u8, write)
#define KTOP_WIRE_memory_alloc(F, L) /* number: the allocator */ \
	F(u32, thread) F(u32, number) F(u64, address) F(u64, bytes)
#define KTOP_WIRE_memory_free(F, L) F(u32, thread) F(u32, number) F(u64, address)
#define KTOP_WIRE_block_begin(F, L) /* request: while it is under way, no other one has it; number: what it does */ \
	F(u64, request) F(u32, thread) F(u32, number) F(u32, device) F(u64, sector) F(u32, bytes)
#define KTOP_WIRE_block_end(F, L) F(u64, request) F(s32, error)
#define KTOP_WIRE_net_send(F, L) /* number: the device */ F(u32, number) F(u32, bytes)
#define KTOP_WIRE_net_receive(F, L) F(u32, number) F(u32, bytes)
#define KTOP_WIRE_sched_migrate(F, L) /* to: a CPU */ F(u32, thread) F(u32, to)
#define KTOP_WIRE_task_begin(F, L) /* a thread is made; parent: the one that made it */ \
	F(u32, thread) F(u32, process) F(u32, parent)
#define KTOP_WIRE_task_end(F, L) F(u32, thread)
#define KTOP_WIRE_task_exec(F, L) /* its process goes on with another program */ F(u32, thread) F(u32, process)
#define KTOP_WIRE_signal_send(F, L) /* thread: that gets it */ F(u32, thread) F(u32, number) F(u32, sender)
#define KTOP_WIRE_mark(F, L) /* a moment that somebody marks; number: what its text is told as */ \
	F(u32, thread) F(u32, number)
#define KTOP_WIRE_task_name(F, L) /* its new name comes by `thread` or `process` */ F(u32, thread)
#define KTOP_WIRE_sched_priority(F, L) /* the kernel's number for it */ F(u32, thread) F(s32, priority)
#define KTOP_WIRE_irqsoff_begin(F, L) /* a CPU takes no interrupts; thread: that runs there */ \
	F(u32, cpu) F(u32, thread)
#define KTOP_WIRE_irqsoff_end(F, L) /* whatever thread runs there by now */ F(u32, cpu)

#define KTOP_WIRE_EVENTS(EVENT) \
	EVENT(1, KTOP_META, descriptor) \
	EVENT(2, KTOP_META, guest) \
	EVENT(3, KTOP_META, process) \
	EVENT(4, KTOP_META, thread) \
	EVENT(5, KTOP_META, object) \
	EVENT(6, KTOP_META, status) \
	EVENT(7, KTOP_META, cpu_status) \
	EVENT(8, KTOP_META, keys) \
	EVENT(9, KTOP_META, reply) \
	EVENT(10, KTOP_META, symbol) \
	EVENT(11, KTOP_META, table) \
	EVENT(12, KTOP_META, tracing) \
	EVENT(13, KTOP_META, memory) \
	EVENT(14, KTOP_META, packed_memory) \
	EVENT(15, KTOP_META, number) \
	EVENT(23, KTOP_META, arguments) \
	EVENT(31, KTOP_META, left_out) \
	EVENT(63, KTOP_META, filters) \
	EVENT(16, KTOP_SAMPLES, sample) \
	EVENT(17, KTOP_SAMPLES, missed) \
	EVENT(18, KTOP_SAMPLES, raw_sample) \
	EVENT(19, KTOP_SAMPLES, task_sample) \
	EVENT(20, KTOP_SAMPLES, stacks_sample) \
	EVENT(21, KTOP_SAMPLES, walked_sample) \
	EVENT(22, KTOP_SAMPLES, program_sample) \
	EVENT(24, KTOP_TRACE, stack) \
	EVENT(25, KTOP_TRACE, syscall_began) \
	EVENT(26, KTOP_TRACE, syscall_whole) \
	EVENT(27, KTOP_TRACE, irq_began) \
	EVENT(28, KTOP_TRACE, irq_whole) \
	EVENT(29, KTOP_TRACE, softirq_began) \
	EVENT(30, KTOP_TRACE, softirq_whole) \
	KTOP_WIRE_TRACE_EVENTS(EVENT)

/*
 * These have fixed fields alone. trace.h makes a trace point from each row. The name says the group: `irq_enter` is of
 * group `irq`. Each may carry a stack, which is an event of its own: `stack`.
 */
#define KTOP_WIRE_TRACE_EVENTS(EVENT) \
	EVENT(37, KTOP_TRACE, sched_switch) \
	EVENT(38, KTOP_TRACE, sched_wake) \
	EVENT(33, KTOP_TRACE, irq_enter) \
	EVENT(34, KTOP_TRACE, irq_exit) \
	EVENT(39, KTOP_TRACE, syscall_enter) \
	EVENT(36, KTOP_TRACE, syscall_exit) \
	EVENT(40, KTOP_TRACE, softirq_enter) \
	EVENT(41, KTOP_TRACE, softirq_exit) \
	EVENT(42, KTOP_TRACE, lock_wait) \
	EVENT(43, KTOP_TRACE, lock_waited) \
	EVENT(44, KTOP_TRACE, lock_acquired) \
	EVENT(45, KTOP_TRACE, lock_released) \
	EVENT(46, KTOP_TRACE, fault) \
	EVENT(47, KTOP_TRACE, memory_alloc) \
	EVENT(48, KTOP_TRACE, memory_free) \
	EVENT(49, KTOP_TRACE, block_begin) \
	EVENT(50, KTOP_TRACE, block_end) \
	EVENT(51, KTOP_TRACE, net_send) \
	EVENT(52, KTOP_TRACE, net_receive) \
	EVENT(53, KTOP_TRACE, sched_migrate) \
	EVENT(54, KTOP_TRACE, task_begin) \
	EVENT(55, KTOP_TRACE, task_end) \
	EVENT(56, KTOP_TRACE, task_exec) \
	EVENT(57, KTOP_TRACE, signal_send) \
	EVENT(58, KTOP_TRACE, mark) \
	EVENT(59, KTOP_TRACE, task_name) \
	EVENT(60, KTOP_TRACE, sched_priority) \
	EVENT(61, KTOP_TRACE, irqsoff_begin) \
	EVENT(62, KTOP_TRACE, irqsoff_end)

/* enum ktop_event: KTOP_EVENT_sample = 16, ... */
#define KTOP_WIRE_ID(id, stream, name) KTOP_EVENT_##name = id,
enum ktop_event { KTOP_WIRE_EVENTS(KTOP_WIRE_ID) };

/* struct ktop_wire_NAME has the fixed fields of an event. It is empty for an event that has only lists. */
typedef uint8_t ktop_u8;
typedef uint16_t ktop_u16;
typedef uint32_t ktop_u32;
typedef uint64_t ktop_u64;
typedef int8_t ktop_s8;
typedef int16_t ktop_s16;
typedef int32_t ktop_s32;
typedef int64_t ktop_s64;
#define KTOP_WIRE_MEMBER(type, name) ktop_##type name;
#define KTOP_WIRE_NOTHING(type, name)
#define KTOP_WIRE_STRUCT(id, stream, name) \
	struct ktop_wire_##name { \
		KTOP_WIRE_##name(KTOP_WIRE_MEMBER, KTOP_WIRE_NOTHING) \
	} __attribute__((packed));
KTOP_WIRE_EVENTS(KTOP_WIRE_STRUCT)

/* KTOP_WIRE_FIELDS(sample) is "u32 process;...;u64[] kernel;u64[] user;", the text of a descriptor. */
#define KTOP_WIRE_FIXED_TEXT(type, name) #type " " #name ";"
#define KTOP_WIRE_LIST_TEXT(type, name) #type "[] " #name ";"
#define KTOP_WIRE_FIELDS(name) KTOP_WIRE_##name(KTOP_WIRE_FIXED_TEXT, KTOP_WIRE_LIST_TEXT)

struct ktop_wire_packet {
	uint32_t magic;
	uint8_t boot_id[KTOP_BOOT_ID];
	uint32_t stream;		/* enum ktop_stream */
	uint64_t begin, end;		/* guest clock; begin <= each event <= end <= begin of the next packet */
	uint64_t content_size;		/* bits */
	uint64_t packet_size;		/* bits, equal to content_size: there is no padding */
	uint64_t sequence;		/* number of the packet in its stream and CPU, from 0 */
	uint64_t discarded;		/* events of this stream and CPU that were dropped since boot */
	uint64_t before;		/* events of this stream and CPU in earlier packets */
	uint32_t cpu;
} __attribute__((packed));

/* The head of an event. */
struct ktop_wire_event {
	uint32_t time;			/* the low 32 bits of the guest clock */
	uint16_t id;			/* enum ktop_event, or one of the kernel's own */
	uint16_t size;			/* bytes of payload */
} __attribute__((packed));

_Static_assert(sizeof(struct ktop_wire_packet) == 84, "header and context");
_Static_assert(sizeof(struct ktop_wire_event) == 8, "event header");

/*
 * What stands in the hook's memory for a reader who finds it when the machine answers no more: at the beginning of a
 * page, and behind it a u64 for each page of that memory, its physical address. All places are counted in bytes from
 * the memory's beginning, which is `skew` bytes behind the beginning of its first page. docs/wire.md says the rest. A
 * reader trusts none of it: what is found may be a copy, or half overwritten. It changes with its version.
 */
#define KTOP_BLACK_BOX_MAGIC "ktop black box 1"
enum { KTOP_BLACK_BOX_PAGE = 4096, KTOP_BLACK_BOX_VERSION = 2, KTOP_BLACK_BOX_TABLES = 5 };

struct ktop_wire_black_box_table {
	uint64_t at;			/* of its rows */
	uint32_t rows, event;		/* how many; which event each holds */
};

struct ktop_wire_black_box {
	char magic[16];			/* without a terminating zero */
	uint8_t boot_id[KTOP_BOOT_ID];
	uint32_t version, pages, skew, cpus;
	uint64_t at, size;		/* this place; bytes of the memory */
	uint64_t names_at;		/* `number`, `arguments`: u16 id, u16 bytes, the payload; without gaps */
	uint32_t names, names_full;	/* bytes of them; 1: some have found no room */
	uint64_t cpu_at, rings_at;	/* the first CPU; the bytes of its first ring, behind which all others follow */
	uint64_t ring_size;
	uint32_t cpu_size, row_size;
	uint16_t ring, ring_step;	/* in a CPU: its first ring; from there to the next one */
	uint16_t head, tail, committed, full, nested, given_up;	/* in a ring: u64 each, as in ring.h */
	uint16_t row_sequence, row_bytes, row_words;	/* in a row of a table: u32; u32; the payload */
	uint16_t rate, sampler, events, event_words;	/* the profiler's settings: u32 each, `events` a mask */
	uint16_t unused;		/* so that all CPUs lay out what follows alike */
	struct ktop_wire_black_box_table tables[KTOP_BLACK_BOX_TABLES];
	uint64_t died;			/* guest clock when the kernel has told its end; 0: it did not */
	uint16_t why_size, guest_size;
	char why[124];
	uint8_t guest[384];		/* the payload of event `guest` */
};

_Static_assert(sizeof(struct ktop_wire_black_box) == 744, "the pages follow it");

/* The largest sample of each kind, and the largest piece of memory, in bytes of payload. */
enum {
	KTOP_SAMPLE_MAX = sizeof(struct ktop_wire_sample) + 2 * (2 + 8 * KTOP_FRAMES_MAX),
	KTOP_RAW_SAMPLE_MAX = sizeof(struct ktop_wire_raw_sample) + 2 + 8 * KTOP_REGISTERS_MAX +
		2 * (2 + KTOP_STACK_MAX),
	KTOP_TASK_SAMPLE_MAX = 8 + KTOP_RAW_SAMPLE_MAX + 2 + KTOP_TASK_NAME,
	KTOP_STACKS_SAMPLE_MAX = 8 + KTOP_TASK_SAMPLE_MAX + 2 + KTOP_STACK_MAX,
	KTOP_MEMORY_MAX = sizeof(struct ktop_wire_memory) + 2 + KTOP_MEMORY_PAGE,
};

#endif
