/* SPDX-License-Identifier: MIT */
/*
 * The memory of a machine that has died: that of a hook whose rings have gone round, overwritten as the input says.
 * Whatever is there, a recording of it can be read.
 *
 * input: steps, each: kind, then
 *   bytes: page, offset in it (two bytes), size, bytes    what is there instead
 *   a page: page, page                                    the second is a copy of the first
 *   a page: page, byte                                    it is full of these
 */
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/cut/black_box.h"
#include "agent/wire/decode.h"
#include "agent/wire/metadata.h"
#include "agent/wire/recording.h"
#include "agent/wire/recording_reader.h"
#include "agent/wire/recording_writer.h"
#include "kernel-hook/base/ring.h"
#include "kernel-hook/ktop.h"
#include "kernel-hook/trace.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/fake_port.h"
#include "fuzz.h"

enum { CPUS = 2, PAGE = 4096, PAGES = 64, STEPS = 64, EVENTS = 700 };

static char folder[64];
static pid_t owner;
static uint8_t fresh[PAGES * PAGE] __attribute__((aligned(PAGE))), memory[PAGES * PAGE];

/* Pages are in another order than the kernel sees them: 64 of them by a factor that is odd. */
static uint64_t physical(const void *page)
{
	return (uint64_t)((const uint8_t *)page - fresh) / PAGE * 13 % PAGES * PAGE;
}

static void trace(struct ktop *ktop, uint32_t cpu)
{
	fake_cpu = cpu;
	for (uint32_t i = 0; i < EVENTS; i++) {
		fake_port.clock += 7;
		ktop_trace_sched_switch(ktop, i, i + 1, KTOP_LEAVES_READY);
		ktop_trace_syscall_enter(ktop, i, i, 1, 2, 3, 4, 5, 6);
		ktop_trace_syscall_exit(ktop, i, i, 0);
	}
	fake_cpu = 0;
}

__attribute__((constructor)) static void begin(void)
{
	const struct ktop_facts facts = {
		.kernel = "demo", .arch = "x86_64", .boot_id = { 0xb0 }, .cpus = CPUS, .clock_hz = 1000000,
		.physical = physical,
	};
	const struct ktop_settings settings = {
		.ring_size = KTOP_RING_MIN, .processes = 4, .threads = 4, .objects = 4, .events = 4, .start = true,
		.trace = "+sched +syscall",
	};
	size_t size = ktop_memory_size(CPUS, &settings);
	struct ktop *ktop;

	snprintf(folder, sizeof(folder), "%s/ktop-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	require(mkdtemp(folder));
	owner = getpid();
	require(size <= sizeof(fresh));
	fake_port_reset();
	ktop = ktop_init(&facts, &settings, NULL, fresh, sizeof(fresh));
	require(ktop);
	ktop_thread(ktop, 7, KTOP_KERNEL, "a thread");
	ktop_drain(ktop);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		trace(ktop, cpu);
	ktop_died(ktop, "it fell");
}

static int remove_entry(const char *path, const struct stat *is, int kind, struct FTW *at)
{
	(void)is;
	(void)kind;
	(void)at;
	return remove(path);
}

__attribute__((destructor)) static void end(void)
{
	if (getpid() == owner)
		nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---- what is done to the memory ---- */

static uint8_t *page_of(struct fuzz_input *input)
{
	return memory + (size_t)(input_byte(input) % PAGES) * PAGE;
}

static void step(struct fuzz_input *input)
{
	uint8_t kind = input_byte(input), *page = page_of(input);
	const uint8_t *bytes;
	size_t at, size;

	switch (kind % 3) {
	case 0:
		at = (input_byte(input) << 8 | input_byte(input)) % PAGE;
		size = input_bytes(input, &bytes, input_byte(input));
		memcpy(page + at, bytes, size < PAGE - at ? size : PAGE - at);
		break;
	case 1:
		memmove(page_of(input), page, PAGE);
		break;
	default:
		memset(page, input_byte(input), PAGE);
	}
}

/* ---- what is made of it ---- */

static bool read_memory(const void *context, uint64_t address, void *to, size_t size)
{
	(void)context;
	if (address > sizeof(memory) || size > sizeof(memory) - address)
		return false;
	memcpy(to, memory + address, size);
	return true;
}

static void take_boot(void *context, const uint8_t *boot_id)
{
	(void)context;
	(void)boot_id;
}

static void take_packet(void *context, const struct packet *packet)
{
	(void)context;
	(void)packet;
}

static void take_events(void *context, const struct event *events, size_t count)
{
	(void)context;
	(void)events;
	(void)count;
}

static void read_back(const char *path)
{
	static uint8_t bytes[KTOP_PACKET_MAX];
	char *error = NULL;
	struct recording *recording = recording_new(path, &error);
	struct decode *decode = decode_new(&(struct decode_sink) {
		.boot = take_boot, .packet = take_packet, .events = take_events,
	});

	require_memory(recording);
	for (size_t boot = 0; boot < recording->boot_count; boot++) {
		struct reader *reader = reader_new(recording, boot);
		size_t got;

		while ((got = reader_read(reader, bytes, sizeof(bytes))))
			decode_feed(decode, bytes, got);
		reader_free(reader);
	}
	require(decode_counts(decode).skipped_bytes == 0);
	decode_free(decode);
	recording_free(recording);
	free(error);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const struct memory_image image = { .read = read_memory, .end = sizeof(memory), .size = sizeof(memory) };
	const struct metadata_machine none = { .name = NULL };
	struct fuzz_input input = { .at = bytes, .left = size };
	char path[96], *said = NULL, *error = NULL;

	for (size_t page = 0; page < PAGES; page++)
		memcpy(memory + page * 13 % PAGES * PAGE, fresh + page * PAGE, PAGE);
	for (int i = 0; i < STEPS && input.left; i++)
		step(&input);
	snprintf(path, sizeof(path), "%s/recording", folder);
	nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);	/* of a run that memory has ended */
	require_memory(recording_folder(path, &error));
	if (black_box_record(&image, &none, path, NULL, &said, &error))
		read_back(path);
	else
		require(error);
	recording_remove(path);
	free(said);
	free(error);
	return 0;
}
