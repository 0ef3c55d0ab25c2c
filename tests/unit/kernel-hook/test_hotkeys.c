/* SPDX-License-Identifier: MIT */
/* The keys that start and stop profiling, from PS/2 bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel-hook/hook.h"
#include "kernel-hook/ktop.h"
#include "tests/unit/fakes/fake_port.h"

static struct ktop *ktop;

static int set_up(void **state)
{
	struct ktop_facts facts = { .cpus = 1 };
	struct ktop_settings settings = { .ring_size = KTOP_RING_MIN };
	size_t size = ktop_memory_size(1, &settings);

	(void)state;
	fake_port_reset();
	ktop = ktop_init(&facts, &settings, NULL, aligned_alloc(64, size), size);
	if (ktop == NULL)
		return 1;
	ktop_keys_heard(ktop);
	ktop_drain(ktop);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(ktop);
	return 0;
}

/* Gives the hook bytes such as "1d 38 1e". Returns a letter for each: p passed on to the kernel, s swallowed. */
static const char *bytes(const char *hex)
{
	static char fate[64];
	size_t count = 0;
	char *end;

	for (; *hex; hex = *end ? end + 1 : end) {
		uint8_t byte = (uint8_t)strtoul(hex, &end, 16);

		fate[count++] = ktop_serio(ktop, 0, byte) ? 's' : 'p';
	}
	fate[count] = 0;
	return fate;
}

static bool on(void)
{
	ktop_drain(ktop);
	return ktop_running(ktop);
}

static void the_chord_starts_and_stops(void **state)
{
	(void)state;
	assert_string_equal(bytes("1d 38 1e 9e b8 9d"), "ppsspp");
	assert_true(on());
	assert_string_equal(bytes("1d 38 1e 9e b8 9d"), "ppsspp");
	assert_true(on());				/* a second time changes nothing */
	assert_string_equal(bytes("1d 38 30 b0 b8 9d"), "ppsspp");
	assert_false(on());
	assert_string_equal(bytes("1d 38 30 b0 b8 9d"), "ppsspp");
	assert_false(on());
}

static void either_side_of_the_keyboard_will_do(void **state)
{
	(void)state;
	assert_string_equal(bytes("e0 1d e0 38 1e 9e e0 b8 e0 9d"), "ppppsspppp");
	assert_true(on());
	assert_string_equal(bytes("e0 38 1d 30 b0"), "pppss");
	assert_false(on());
}

static void letters_alone_are_typed(void **state)
{
	(void)state;
	assert_string_equal(bytes("1e 9e 30 b0"), "pppp");
	assert_string_equal(bytes("1d 1e 9e 9d"), "pppp");
	assert_string_equal(bytes("38 1e 9e b8"), "pppp");
	assert_string_equal(bytes("1d 38 9d 1e 9e b8"), "pppppp");	/* Ctrl was released */
	assert_string_equal(bytes("1d 38 e0 9d e0 b8 9d b8 1e 9e"), "pppppppppp");
	assert_false(on());
}

static void repeats_and_the_end_of_our_key_are_ours(void **state)
{
	(void)state;
	assert_string_equal(bytes("1d 38 1e 1e 1e 9d b8 1e 9e 1e 9e"), "ppsssppsspp");
	assert_true(on());
}

static void a_lost_end_does_not_hold_up_the_next(void **state)
{
	(void)state;
	assert_string_equal(bytes("1d 38 1e"), "pps");
	assert_true(on());
	assert_string_equal(bytes("30 b0"), "ss");
	assert_false(on());
	assert_string_equal(bytes("1e 9e"), "ss");
	assert_true(on());
}

static void a_letter_held_before_the_chord_is_not_ours(void **state)
{
	(void)state;
	assert_string_equal(bytes("1e 1d 38 9e"), "pppp");
	assert_false(on());
}

static void other_keys_with_the_same_low_byte_pass(void **state)
{
	(void)state;
	assert_string_equal(bytes("1d 38 e0 1e e0 9e"), "pppppp");
	assert_string_equal(bytes("1d 38 1f 9f 53 d3 fa fe"), "pppppppp");
	assert_false(on());
}

static void pause_is_not_ctrl(void **state)
{
	(void)state;
	assert_string_equal(bytes("e1 1d 45 38 1e 9e e1 9d c5"), "ppppppppp");
	assert_false(on());
}

static void the_mouse_passes(void **state)
{
	(void)state;
	bytes("1d 38");
	assert_false(ktop_serio(ktop, 1, 0x1e));
	assert_false(on());
	assert_true(ktop_serio(ktop, 0, 0x1e));
}

static void plain_letters_by_setting(void **state)
{
	uint8_t codes[3];

	(void)state;
	ktop->keys.plain = true;
	assert_string_equal(bytes("1e 9e"), "ss");
	assert_true(on());
	assert_string_equal(bytes("30 b0 1d 9d"), "sspp");
	assert_false(on());
	assert_int_equal(ktop_keys_codes(&ktop->keys, KTOP_KEY_STOP, codes), 1);
	assert_int_equal(codes[0], 48);
}

static void the_codes_told_are_those_that_work(void **state)
{
	uint8_t codes[3];

	(void)state;
	assert_int_equal(ktop_keys_codes(&ktop->keys, KTOP_KEY_START, codes), 3);
	assert_false(ktop_serio(ktop, 0, codes[0]) || ktop_serio(ktop, 0, codes[1]));
	assert_true(ktop_serio(ktop, 0, codes[2]));
	assert_true(on());
	assert_int_equal(ktop_keys_codes(&ktop->keys, KTOP_KEY_STOP, codes), 3);
	assert_true(ktop_serio(ktop, 0, codes[2]));
	assert_false(on());
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_chord_starts_and_stops),
		TEST(either_side_of_the_keyboard_will_do),
		TEST(letters_alone_are_typed),
		TEST(repeats_and_the_end_of_our_key_are_ours),
		TEST(a_lost_end_does_not_hold_up_the_next),
		TEST(a_letter_held_before_the_chord_is_not_ours),
		TEST(other_keys_with_the_same_low_byte_pass),
		TEST(pause_is_not_ctrl),
		TEST(the_mouse_passes),
		TEST(plain_letters_by_setting),
		TEST(the_codes_told_are_those_that_work),
	};

	return cmocka_run_group_tests_name("keys", tests, NULL, NULL);
}
