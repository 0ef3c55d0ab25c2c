/* SPDX-License-Identifier: MIT */
/*
 * Keys that are typed in one burst end where they end one by one. Two galleries have the same samples. In one of them
 * each key has all its answers before the next; in the other all keys of a list are there at once, and answers come
 * late. After each list both show the same, in each view.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "tests/unit/fakes/canvas_dump.h"
#include "tests/unit/fakes/quick.h"
#include "tui/screen/app.h"
#include "tui/screen/tabs.h"
#include "tui/terminal/keys.h"
#include "gallery.h"

enum { LISTS = 50, FRESH_EVERY = 10, SECONDS = 4, KEYS_MOST = 64, WORDS_MOST = 6 };

struct keys_typed {
	uint32_t codes[KEYS_MOST];
	size_t count;
};

/*
 * What a person types in one go. '\b' is F8, '\f' PgDn. Keys of filters and groups, and those of the tabs, do not wait
 * for rows. But a cursor goes to the top when it has seen rows of another filter or group: so there is a key that waits
 * behind these, and before a tab's.
 */
static const char *const words[] = {
	"1", "2", "3", "4", "5", "6", "7", "\x02", "j", "jj", "k", "g", "G", "h", "l", "\f", "\r", "\r", "\r", "x", "x",
	"e", "E", "+", "-", "b", "u", "m", "a", "H", "i", "Bk", "Bj\r", "w", "w", "[", "]", "{", "}", ".", "z",
	"Z", "\b", "\x1b", "\x1b", "n", "N", "<", ">", "I", "?j\x1b", "/take\r", "/c", "\r", "/zz\x1b", "/init\rn",
	"\\cpu:1\rk", "\\thread:init\rj", "\\under:copy_page\rj\r", "\\mode:kernel\rn", "\\\x15\rk", "S\x1b",
	"Sj\r", "s", " ", "2j\r", "5j\r", "5\rj\r", "3\rj\r", "4kk\rhk\r", "2Ej+", "xjx", "\rjj\r", "1/lock\r6jj",
};

static uint32_t code_of(char c)
{
	return c == '\b' ? KEYS_F(8) : c == '\x02' ? KEYS_F(2) : c == '\f' ? KEYS_PAGE_DOWN : (unsigned char)c;
}

/* Over all machines, Heat and times depend on when each machine has answered: their clocks are never compared. */
static bool is_of_time(const char *word)
{
	return strpbrk(word, "4\x02[]{}zZ\b");
}

static struct keys_typed any_list(struct random *random, bool tabs)
{
	struct keys_typed list = { .count = 0 };

	for (size_t i = 2 + random_below(random, WORDS_MOST - 1); i > 0; i--) {
		const char *word = words[random_below(random, sizeof(words) / sizeof(*words))];

		if (tabs && (is_of_time(word) || random_below(random, 8) == 0))
			word = "g\t";
		for (; *word && list.count < KEYS_MOST; word++)
			list.codes[list.count++] = code_of(*word);
	}
	return list;
}

static char *names_of(const struct keys_typed *list)
{
	char *text = util_copy("", 0), name[KEYS_NAME];

	for (size_t i = 0; i < list->count; i++) {
		char *more = util_format("%s %s", text, keys_name(list->codes[i], name));

		free(text);
		text = more;
	}
	return text;
}

/* ---- one by one, and in one burst ---- */

static void type_slowly(struct gallery *gallery, const struct keys_typed *list)
{
	for (size_t i = 0; i < list->count; i++) {
		gallery_press(gallery, list->codes[i]);
		gallery_settle(gallery);
	}
}

/* As the terminal's loop does it: what may act acts, and then there is a frame. Answers come now and then. */
static void type_at_once(struct gallery *gallery, const struct keys_typed *list, struct random *answers)
{
	struct typed typed = { .count = 0 };
	struct input input;

	for (size_t i = 0; i < list->count; i++)
		typed_put(&typed, &(struct input) { .kind = INPUT_KEY, .code = list->codes[i] });
	while (typed.count) {
		while (typed_take(&typed, gallery->tabs, gallery->now, &input))
			assert_int_equal(tabs_input(gallery->tabs, &input, gallery->now), SCREEN_NOTHING);
		if (random_below(answers, 3) == 0)
			gallery_answer(gallery);
		tabs_draw(gallery->tabs, gallery->canvas);
	}
	gallery_settle(gallery);
}

/* ---- where both end ---- */

static void let_time_pass(struct gallery *gallery, uint64_t to)
{
	gallery->now = gallery->begun + to;
	gallery_settle(gallery);
}

/* Cuts the first line off, and returns it. */
static const char *line_of(char **text)
{
	char *line = *text;

	*text += strcspn(line, "\n");
	if (**text)
		*(*text)++ = '\0';
	return line;
}

static void compare(struct gallery *slow, struct gallery *burst, const char *at, const char *names)
{
	char *one, *other, *rest, *other_rest;
	uint64_t passed = slow->now - slow->begun, other_passed = burst->now - burst->begun;
	uint64_t to = (passed > other_passed ? passed : other_passed) + 4 * NS_PER_SECOND;	/* messages go */
	int different = 0;

	let_time_pass(slow, to);
	let_time_pass(burst, to);
	one = rest = canvas_dump(slow->canvas);
	other = other_rest = canvas_dump(burst->canvas);
	while (*rest || *other_rest) {
		const char *line = line_of(&rest), *other_line = line_of(&other_rest);

		if (strcmp(line, other_line) != 0 && different++ < 8)
			print_message("one by one: %.200s\nin a burst: %.200s\n", line, other_line);
	}
	free(one);
	free(other);
	if (different)
		fail_msg("%d rows are different after%s%s%s", different, names, *at ? "; then " : "", at);
}

static void compare_views(struct gallery *slow, struct gallery *burst, const char *names)
{
	static const char *const views[] = { "1", "2", "3", "4", "5", "6", "7" };

	compare(slow, burst, "", names);
	for (size_t i = 0; i < slow->machines; i++) {
		assert_int_equal(slow->guests[i].session.runs, burst->guests[i].session.runs);
		assert_int_equal(slow->guests[i].session.snapshots, burst->guests[i].session.snapshots);
		assert_memory_equal(&slow->guests[i].session.snapped, &burst->guests[i].session.snapped,
			sizeof(slow->guests[i].session.snapped));
	}
	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++) {
		if (slow->machines > 1 && is_of_time(views[i]))
			continue;
		gallery_type(slow, "\x1b\x1b");		/* a prompt, the help */
		gallery_type(burst, "\x1b\x1b");
		gallery_type(slow, views[i]);
		gallery_type(burst, views[i]);
		compare(slow, burst, views[i], names);
	}
}

static struct gallery *fresh(size_t machines)
{
	struct gallery *gallery = gallery_new(machines, false);

	gallery_run(gallery, SECONDS);
	gallery_settle(gallery);
	return gallery;
}

/* SEED=N takes other lists than the usual ones; LISTS=N says how many: `make check-long` has three times as many. */
static void go(size_t machines)
{
	struct random random = { .state = getenv("SEED") ? strtoull(getenv("SEED"), NULL, 10) : 1 };
	struct random answers = random;		/* how many are drawn depends on a thread: lists do not */
	int lists = getenv("LISTS") ? atoi(getenv("LISTS")) : (int)quick_part(LISTS, 10);
	struct gallery *slow = NULL, *burst = NULL;

	for (int i = 0; i < lists; i++) {
		struct keys_typed list = any_list(&random, machines > 1);
		char *names = names_of(&list);

		if (i % FRESH_EVERY == 0) {
			if (i) {
				gallery_free(slow);
				gallery_free(burst);
			}
			slow = fresh(machines);
			burst = fresh(machines);
		}
		type_slowly(slow, &list);
		type_at_once(burst, &list, &answers);
		compare_views(slow, burst, names);
		free(names);
	}
	gallery_free(slow);
	gallery_free(burst);
}

static void test_one_machine(void **state)
{
	(void)state;
	go(1);
}

static void test_two_machines(void **state)
{
	(void)state;
	go(2);
}

/* Lists that any_list() makes seldom: a filter is put on and taken back before rows of it have come. */
static void test_filter_taken_back(void **state)
{
	static const char *const lists[] = { "G5j\r\\\x15\rk", "G\\cpu:1\r\\\x15\rj", "G\\cpu:1\x1bk", "Gj\r\x1bk" };

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		struct gallery *slow = fresh(1), *burst = fresh(1);
		struct random answers = { .state = 1 };
		struct keys_typed list = { .count = 0 };

		for (const char *key = lists[i]; *key; key++)
			list.codes[list.count++] = code_of(*key);
		type_slowly(slow, &list);
		type_at_once(burst, &list, &answers);
		compare(slow, burst, "", lists[i]);
		gallery_free(slow);
		gallery_free(burst);
	}
}

/* ---- an agent that does not answer ---- */

static struct input key(uint32_t code)
{
	return (struct input) { .kind = INPUT_KEY, .code = code };
}

/* Lets act what may. Returns how many still wait. */
static size_t waiting(struct gallery *gallery, struct typed *typed)
{
	struct input input;

	while (typed_take(typed, gallery->tabs, gallery->now, &input))
		tabs_input(gallery->tabs, &input, gallery->now);
	tabs_draw(gallery->tabs, gallery->canvas);
	return typed->count;
}

static size_t type(struct gallery *gallery, struct typed *typed, const char *keys)
{
	for (; *keys; keys++) {
		struct input input = key(code_of(*keys));

		typed_put(typed, &input);
	}
	return waiting(gallery, typed);
}

static void test_wait_ends(void **state)
{
	struct gallery *gallery = fresh(1);
	struct typed typed = { .count = 0 };

	(void)state;
	assert_int_equal(type(gallery, &typed, "5jj"), 2);
	gallery->now += NS_PER_SECOND - 1;
	assert_int_equal(waiting(gallery, &typed), 2);
	gallery->now += 1;
	assert_int_equal(waiting(gallery, &typed), 0);
	assert_int_equal(type(gallery, &typed, "3j2j\r"), 0);	/* nobody waits twice for an agent that hangs */
	gallery_settle(gallery);
	assert_int_equal(type(gallery, &typed, "jjj"), 0);	/* rows that are there are not waited for */
	assert_int_equal(type(gallery, &typed, "3j"), 1);	/* it has answered, so it is waited for again */
	gallery_answer(gallery);
	assert_int_equal(waiting(gallery, &typed), 1);		/* what has come is drawn first */
	assert_int_equal(waiting(gallery, &typed), 0);
	gallery_free(gallery);
}

static void test_some_keys_do_not_wait(void **state)
{
	static const char *const keys[] = { "w", "\\cpu:1\r", "?", "s", "i", "q" };
	struct gallery *gallery = fresh(1);
	struct typed typed = { .count = 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		gallery_type(gallery, "1");
		type(gallery, &typed, "2");
		if (type(gallery, &typed, keys[i]) != 0)
			fail_msg("%s waits", keys[i]);
	}
	gallery_free(gallery);
}

/* A key that ends the screen whatever is open, and what signals and the terminal say, pass by those that wait. */
static void test_urgent(void **state)
{
	struct gallery *gallery = fresh(1);
	struct input quit = key(KEYS_CTRL('C')), letter = key('q'), resized = { .kind = INPUT_RESIZE },
		ended = { .kind = INPUT_QUIT }, pasted = { .kind = INPUT_PASTE, .code = 'q' };

	(void)state;
	assert_true(tabs_is_urgent(gallery->tabs, &quit));
	assert_true(tabs_is_urgent(gallery->tabs, &resized));
	assert_true(tabs_is_urgent(gallery->tabs, &ended));
	assert_false(tabs_is_urgent(gallery->tabs, &letter));	/* it may be a letter of a search that waits */
	assert_false(tabs_is_urgent(gallery->tabs, &pasted));
	gallery_free(gallery);
}

static void test_no_room(void **state)
{
	struct gallery *gallery = fresh(1);
	struct typed typed = { .count = 0 };
	struct input down = key('j');

	(void)state;
	type(gallery, &typed, "5");
	for (int i = 0; i < 3 * TYPED_MOST; i++) {
		typed_put(&typed, &down);
		waiting(gallery, &typed);
		assert_in_range(typed.count, 1, TYPED_MOST - 1);
	}
	gallery_settle(gallery);
	assert_int_equal(waiting(gallery, &typed), 0);
	gallery_free(gallery);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_machine),
		cmocka_unit_test(test_two_machines),
		cmocka_unit_test(test_filter_taken_back),
		cmocka_unit_test(test_wait_ends),
		cmocka_unit_test(test_some_keys_do_not_wait),
		cmocka_unit_test(test_urgent),
		cmocka_unit_test(test_no_room),
	};

	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
