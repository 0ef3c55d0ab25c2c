/* SPDX-License-Identifier: MIT */
/*
 * What a host and its device can do to the hook: control lines, messages about ports, and false entries in the
 * rings, at any time between the hook's own work. While nothing false was given, all that the hook sends must be whole.
 *
 * input: acts. Each is a byte that says which act, and an argument of one byte. For some acts the argument is the
 *        number of bytes that follow.
 */
#include "agent/wire/decode.h"
#include "kernel-hook/ktop.h"
#include "kernel-hook/trace.h"
#include "kernel-hook/base/ring.h"
#include "kernel-hook/virtio/virtio_serial.h"
#include "tests/unit/fakes/fake_port.h"
#include "tests/unit/fakes/fake_serial.h"
#include "fuzz.h"

enum { CPUS = 2, PORT = 39, ACTS = 500, TURNS = 20, NEEDS_RESET = 64 };

enum act {
	ACT_LINE, ACT_DRAIN, ACT_HOST, ACT_MESSAGE, ACT_RING, ACT_RESET, ACT_PLUG, ACT_TICK,
	ACT_KEYS, ACT_TRACE, ACTS_KNOWN,
};

struct machine {
	struct fake_serial *fake, fresh;
	struct ktop *ktop;
	void *driver, *hook;		/* their memory, for all machines */
	bool lies;			/* the device has told some */
};

static uint64_t physical(const void *address)
{
	return (uintptr_t)address;
}

static void drain(struct machine *machine, uint32_t turns)
{
	while (turns--) {
		ktop_drain(machine->ktop);
		fake_serial_run(machine->fake);
		fake_port.clock += 1000;
	}
}

static void boot(struct machine *machine)
{
	const struct ktop_facts facts = { .cpus = CPUS, .boot_id = { 0xb0 }, .clock_hz = 1000000 };
	const struct ktop_settings settings = { .ring_size = KTOP_RING_MIN };
	struct ktop_virtio *device;
	struct ktop_virtio_serial_config config = {
		.port = "org.ktop.0", .size = ktop_virtio_serial_memory_size(),
		.physical = physical,
	};
	struct ktop_transport *transport;
	size_t size = ktop_memory_size(CPUS, &settings);

	if (!machine->fake) {
		machine->fake = fake_serial_new();
		machine->fresh = *machine->fake;
		machine->driver = aligned_alloc(4096, config.size);
		machine->hook = aligned_alloc(64, size);
	}
	fake_port_reset();
	*machine->fake = machine->fresh;
	machine->lies = false;
	machine->fake->max_ports = FAKE_PORTS;
	machine->fake->ports[PORT] = (struct fake_serial_port) { .name = config.port, .host = true };
	device = &machine->fake->device;
	config.memory = machine->driver;
	transport = ktop_virtio_serial_over(&config, &device, 1);
	machine->ktop = ktop_init(&facts, &settings, transport, machine->hook, size);
	require(transport && machine->ktop);
	drain(machine, TURNS);
}

static void tick(struct machine *machine, uint8_t how)
{
	struct ktop_regs regs = { .pc = 0x1000 + how, .sp = how, .fp = how, .user = how & 2 };

	fake_cpu = how % CPUS;
	fake_port.clock += 1000u * how;
	if (how & 4)
		ktop_nmi(machine->ktop, &regs);
	else
		ktop_tick(machine->ktop, &regs);
	if (ktop_set_aside(machine->ktop, fake_cpu))
		ktop_pace(machine->ktop);
	fake_cpu = 0;
}

static void trace(struct machine *machine, uint8_t how)
{
	fake_port.clock += how;
	ktop_trace_sched_switch(machine->ktop, how, how + 1u, how & 3);
	ktop_trace_irq_enter(machine->ktop, how);
	ktop_trace_irq_exit(machine->ktop, how);
	ktop_trace_syscall_enter(machine->ktop, how, how, how, how, how, how, how, how);
	ktop_trace_syscall_exit(machine->ktop, how, how, how);
}

/* Puts an entry from the input into a ring. */
static void lie(struct machine *machine, uint8_t which, struct fuzz_input *input)
{
	struct device_queue *queue = &machine->fake->queues[which % FAKE_QUEUES];
	uint32_t id = input_byte(input), length = input_byte(input);

	machine->lies = true;
	if (!queue->size)
		return;
	device_push(queue, id < 128 ? id : id << 24, length << (length % 25));
	if (length & 1)
		device_put16(queue->used + 2, (uint16_t)(id << 8 | length));
}

static void act(struct machine *machine, struct fuzz_input *input)
{
	struct fake_serial *fake = machine->fake;
	uint8_t which = input_byte(input) % ACTS_KNOWN, how = input_byte(input);
	const uint8_t *bytes;
	size_t size;

	switch ((enum act)which) {
	case ACT_LINE:
		size = input_bytes(input, &bytes, how);
		fake_serial_type(fake, PORT, bytes, (uint32_t)size);
		break;
	case ACT_DRAIN:
		drain(machine, how % TURNS);
		break;
	case ACT_HOST:
		fake->reading = how & 2;
		fake_serial_host(fake, PORT, how & 1);
		break;
	case ACT_MESSAGE:
		machine->lies = true;
		size = input_bytes(input, &bytes, how);
		fake_serial_tell(fake, bytes, (uint32_t)size);
		break;
	case ACT_RING:
		lie(machine, how, input);
		break;
	case ACT_RESET:
		fake->status |= NEEDS_RESET;
		break;
	case ACT_PLUG:
		fake_serial_unplug(fake, PORT);
		drain(machine, how % TURNS);
		fake_serial_plug(fake, PORT, "org.ktop.0");
		break;
	case ACT_TICK:
		tick(machine, how);
		break;
	case ACT_KEYS:
		ktop_serio(machine->ktop, how >> 7, how & 127);
		break;
	case ACT_TRACE:
		trace(machine, how);
		break;
	case ACTS_KNOWN:
		break;
	}
}

/* ---- what the hook has sent ---- */

static void no_boot(void *context, const uint8_t *boot_id)
{
	(void)context, (void)boot_id;
}

static void no_packet(void *context, const struct packet *packet)
{
	(void)context, (void)packet;
}

static void no_events(void *context, const struct event *events, size_t count)
{
	(void)context, (void)events, (void)count;
}

static void check_sent(const struct machine *machine)
{
	const struct decode_sink sink = { NULL, no_boot, no_packet, no_events, NULL };
	struct decode *decode = decode_new(&sink);
	struct decode_counts counts;

	decode_feed(decode, machine->fake->out, machine->fake->out_size);
	decode_cut(decode);
	counts = decode_counts(decode);
	require(machine->lies || (counts.skipped_bytes == 0 && counts.bad_events == 0 &&
			counts.unknown_events == 0));
	decode_free(decode);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_input input = { .at = bytes, .left = size };
	static struct machine machine;

	boot(&machine);
	for (int i = 0; i < ACTS && input.left; i++)
		act(&machine, &input);
	drain(&machine, TURNS);
	check_sent(&machine);
	return 0;
}
