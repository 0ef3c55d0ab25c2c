/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>

#include "../../arch.h"
#include "../../ktop.h"
#include "../../port.h"
#include "../../virtio/virtio_serial.h"
#include "../../wire.h"
#include "template.h"

static uint64_t clock_hz;		/* of ktop_port_clock(); set by ktop_start() */

/* The id is new at each boot if the clock's values are. The factor is 2^64 divided by the golden ratio. */
static void make_boot_id(uint8_t id[KTOP_BOOT_ID])
{
	uint64_t mix = 0;

	for (uint32_t i = 0; i < KTOP_BOOT_ID; i++) {
		mix = (mix ^ ktop_port_clock()) * 0x9e3779b97f4a7c15;
		id[i] = (uint8_t)(mix >> 56);
	}
}

static bool is_zero(const uint8_t id[KTOP_BOOT_ID])
{
	uint8_t any = 0;

	for (uint32_t i = 0; i < KTOP_BOOT_ID; i++)
		any |= id[i];
	return any == 0;
}

/* Gives the facts that are 0 a value, if one can be known. */
static struct ktop_facts complete(const struct ktop_facts *facts)
{
	struct ktop_facts all = *facts;

	if (all.arch == NULL)
		all.arch = KTOP_ARCH_NAME;
	if (all.cpus == 0)
		all.cpus = 1;
	if (all.physical == NULL)
		all.physical = ktop_physical;
	if (is_zero(all.boot_id))
		make_boot_id(all.boot_id);
	if (all.anchor == NULL) {
		all.anchor = "ktop_text_begin";
		all.anchor_address = (uintptr_t)ktop_text_begin;
	}
	return all;
}

/* NULL: there is no memory, or no virtio-serial controller. */
static struct ktop_transport *find_port(void)
{
	struct ktop_virtio_serial_config config = {
		.port = "org.ktop.0", .size = ktop_virtio_serial_memory_size(),
		.physical = ktop_physical, .map = ktop_map, .hotplug = ktop_hotplug(),
	};

	config.memory = ktop_pages(config.size);
	return config.memory == NULL ? NULL : ktop_virtio_serial_init(&config);
}

struct ktop *ktop_start(const struct ktop_facts *facts, const struct ktop_settings *settings)
{
	const struct ktop_facts all = complete(facts);
	size_t size = ktop_memory_size(all.cpus, settings);
	void *memory = size && all.cpus <= KTOP_TEMPLATE_CPUS ? ktop_pages(size) : NULL;
	struct ktop *ktop = memory ? ktop_init(&all, settings, find_port(), memory, size) : NULL;

	clock_hz = all.clock_hz ? all.clock_hz : 1000000000;	/* as the hook takes an unknown one */
	if (ktop)
		ktop_object(ktop, &(struct ktop_object) {
			.process = KTOP_KERNEL, .name = all.kernel,
			.start = (uintptr_t)ktop_text_begin, .end = (uintptr_t)ktop_text_end,
			.build_id = all.build_id, .build_id_size = all.build_id_size,
		});
	return ktop;
}

/* Whole milliseconds until the next drain is due; 0: less than one. */
static uint32_t pause_ms(const struct ktop *ktop)
{
	uint64_t due = ktop_drain_by(ktop), now = ktop_port_clock();

	return due > now ? (uint32_t)((due - now) * 1000 / clock_hz) : 0;
}

_Noreturn void ktop_drainer(struct ktop *ktop, void (*yield)(void), void (*sleep_ms)(uint32_t ms))
{
	for (;;) {
		uint32_t pause = ktop_drain(ktop) ? 0 : pause_ms(ktop);

		if (pause)
			sleep_ms(pause);
		else
			yield();
	}
}
