/* SPDX-License-Identifier: MIT */
/* The ring's barriers, between a writer, an interrupt and the drainer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel-hook/base/ring.h"
#include "tests/unit/fakes/fake_port.h"
#include "tests/unit/fakes/weak/scenario.h"

enum { RECORDS = 12, WORDS = 4, SMALL = 256 };

static struct {
	struct ktop_ring ring;
	_Alignas(64) uint8_t data[SMALL];
} rings;
static uint32_t written, received;

static void ring_set_up(void)
{
	fake_port_reset();
	ktop_ring_init(&rings.ring, rings.data, SMALL);
	written = received = 0;
}

static void write_record(void)
{
	uint32_t number = written++, words = 1 + number % WORDS;
	struct ktop_record *record;

	if (!ktop_ring_enter(&rings.ring))
		return;
	record = ktop_ring_reserve(&rings.ring, 8 * words, 0);
	if (record == NULL)
		return;
	for (uint32_t i = 0; i < words; i++)
		((uint64_t *)record->payload)[i] = number;
	ktop_ring_commit(&rings.ring, record, 1, 8 * words);
}

static void write_records(void)
{
	for (uint32_t i = 0; i < RECORDS; i++)
		write_record();
}

static bool whole(const struct ktop_record *record)
{
	const uint64_t *words = (const uint64_t *)record->payload;

	if (record->id != 1 || record->size != 8 * (1 + words[0] % WORDS))
		return false;
	for (uint32_t i = 1; i < record->size / 8u; i++)
		if (words[i] != words[0])
			return false;
	return true;
}

static void read_records(void)
{
	uint64_t head = ktop_ring_head(&rings.ring);
	const struct ktop_record *record;

	while (!scenario_failure && (record = ktop_ring_first(&rings.ring, head))) {
		if (!whole(record))
			scenario_wrong("a record is torn");
		received++;
		ktop_ring_drop(&rings.ring, record);
	}
}

static void read_often(void)
{
	for (int i = 0; i < 8; i++)
		read_records();
}

static void the_books_balance(void)
{
	if (!ktop_ring_settle(&rings.ring))
		scenario_wrong("a ring that nobody writes has two who move its tail");
	read_records();
	if (received != rings.ring.committed - rings.ring.given_up ||
			received + ktop_ring_lost(&rings.ring) != written)
		scenario_wrong("taken is not received and lost");
}

#define LOOK .look = the_books_balance, .memory = &rings, .size = sizeof(rings)
#define RING .set_up = ring_set_up, LOOK
#define ROLLING .set_up = rolling_set_up, LOOK

static void pair_1_a_record_is_whole_when_the_head_shows_it(void **state)
{
	(void)state;
	scenario_explore(&(struct scenario) { RING, .threads = {
		{ .run = write_records }, { .run = read_often },
	} });
}

static void pair_2_a_record_has_been_read_before_its_room_is_used_again(void **state)
{
	(void)state;
	scenario_explore(&(struct scenario) { RING, .threads = {
		{ .run = write_records }, { .run = read_often },
	} });
}

static void rolling_set_up(void)
{
	ring_set_up();
	ktop_ring_roll(&rings.ring);
}

/* Nobody reads, somebody does, and so on. */
static void read_at_times(void)
{
	for (int i = 0; i < 6; i++) {
		if (ktop_ring_settle(&rings.ring))
			read_records();
		if (i % 2)
			ktop_ring_roll(&rings.ring);
	}
}

static void pair_3_a_tail_has_one_writer_at_a_time(void **state)
{
	(void)state;
	scenario_explore(&(struct scenario) { ROLLING, .threads = {
		{ .run = write_records }, { .run = read_at_times },
	} });
}

static void pair_9_an_interrupt_finds_a_whole_ring_when_it_is_not_busy(void **state)
{
	(void)state;
	scenario_explore(&(struct scenario) { RING, .threads = {
		{ .run = write_records, .interrupt = write_record, .interrupts = 3 },
		{ .run = read_often },
	} });
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pair_1_a_record_is_whole_when_the_head_shows_it),
		cmocka_unit_test(pair_2_a_record_has_been_read_before_its_room_is_used_again),
		cmocka_unit_test(pair_3_a_tail_has_one_writer_at_a_time),
		cmocka_unit_test(pair_9_an_interrupt_finds_a_whole_ring_when_it_is_not_busy),
	};

	(void)count;
	scenario_filter(arguments);
	return cmocka_run_group_tests_name("ring_barriers", tests, NULL, NULL);
}
