/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/export/save_format.h"
#include "tests/unit/fakes/random.h"
#include "tests/unit/fakes/scratch.h"
#include "tui/views/config.h"

/* Loads a file with this text. Returns the error without its path, or NULL; it lives until the next call. */
static const char *load(struct config *config, const void *text, size_t size)
{
	static char why[1024];
	const char *path = scratch_write("ktop/config", text, size);
	char *error = NULL;

	if (config_file_load(config, &error)) {
		assert_null(error);
		return NULL;
	}
	assert_non_null(error);
	assert_int_equal(strncmp(error, path, strlen(path)), 0);
	snprintf(why, sizeof(why), "%s", error + strlen(path));
	free(error);
	return why;
}

static void refuses(const char *text, const char *wanted)
{
	struct config config;
	const char *why = load(&config, text, strlen(text));

	if (!why || !strstr(why, wanted) || !strstr(why, "; "))
		fail_msg("%s: %s", text, why ? why : "taken");
}

static void takes(struct config *config, const char *text)
{
	const char *why = load(config, text, strlen(text));

	if (why)
		fail_msg("%s: %s", text, why);
}

/* What config_write writes, in fresh memory. */
static char *written(const struct config *config)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	assert_non_null(to);
	config_write(config, to);
	assert_int_equal(fclose(to), 0);
	return text;
}

static void test_each_setting(void **state)
{
	struct config config;
	struct look look;

	(void)state;
	takes(&config, "# mine\n\n\twindow =60s\r\nsort= total\ncolumns = function\tself\n  # = x\n"
		"key.quit = x Ctrl-q f12 #\nkey.snapshot = none\n"
		"colour.hot = bright-red on 19 bold\ncolour.warm=9 underline / default reverse");
	assert_int_equal(config.window_ns, 60 * NS_PER_SECOND);
	assert_int_equal(config.sort, COLUMN_TOTAL);
	assert_int_equal(config.columns.count, 2);
	assert_string_equal(column_name(config.columns.order[0]), "function");
	assert_string_equal(column_name(config.columns.order[1]), "self");
	assert_int_equal(keys_action(&config.keys, 'x'), ACTION_QUIT);
	assert_int_equal(keys_action(&config.keys, KEYS_CTRL('Q')), ACTION_QUIT);
	assert_int_equal(keys_action(&config.keys, KEYS_F(12)), ACTION_QUIT);
	assert_int_equal(keys_action(&config.keys, 'q'), ACTION_NONE);
	assert_int_equal(keys_action(&config.keys, 's'), ACTION_NONE);
	look = theme_look(&config.theme, DEPTH_256, STYLE_HOT);
	assert_true(look.fore == 9 && look.back == 19 && look.attributes == LOOK_BOLD);
	look = theme_look(&config.theme, DEPTH_16, STYLE_WARM);
	assert_true(look.fore == -1 && look.back == -1 && look.attributes == LOOK_REVERSE);
	takes(&config, "window = all");
	assert_int_equal(config.window_ns, 0);
}

/* One look alone counts for all depths that have its colours. */
static void test_one_look_alone(void **state)
{
	struct config config;

	(void)state;
	takes(&config, "colour.text = green\ncolour.hot = 200\ncolour.key = red on bright-white");
	assert_int_equal(theme_look(&config.theme, DEPTH_256, STYLE_TEXT).fore, 2);
	assert_int_equal(theme_look(&config.theme, DEPTH_8, STYLE_TEXT).fore, 2);
	assert_int_equal(theme_look(&config.theme, DEPTH_256, STYLE_HOT).fore, 200);
	assert_int_equal(theme_look(&config.theme, DEPTH_16, STYLE_HOT).fore,
		theme_look(&theme_standard, DEPTH_16, STYLE_HOT).fore);
	assert_int_equal(theme_look(&config.theme, DEPTH_16, STYLE_KEY).back, 15);
	assert_int_equal(theme_look(&config.theme, DEPTH_8, STYLE_KEY).back, 7);
	assert_int_equal(theme_look(&config.theme, DEPTH_NONE, STYLE_KEY).back, -1);
}

static void test_every_key_by_its_name(void **state)
{
	static const uint32_t codes[] = { ' ', '!', '/', '#', '=', '~', 'a', KEYS_CTRL('A'),
		KEYS_CTRL('Z'), KEYS_TAB, KEYS_ENTER, KEYS_ESCAPE, KEYS_BACKSPACE, KEYS_UP,
		KEYS_LEFT, KEYS_PAGE_UP, KEYS_PAGE_DOWN, KEYS_HOME, KEYS_END, KEYS_F(1), KEYS_F(12) };
	char name[KEYS_NAME], *line, *error = NULL;
	struct config config;

	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		config_init(&config);
		line = util_format("key.zero = %s", keys_name(codes[i], name));
		assert_true(config_set(&config, line, &error));
		assert_int_equal(keys_action(&config.keys, codes[i]), ACTION_ZERO);
		assert_int_equal(keys_action(&config.keys, 'z'), ACTION_NONE);
		free(line);
	}
}

static void test_a_key_has_one_meaning(void **state)
{
	struct config config;

	(void)state;
	takes(&config, "key.filter = S k S\n");
	assert_int_equal(keys_action(&config.keys, 'S'), ACTION_FILTER);
	assert_int_equal(keys_action(&config.keys, 'k'), ACTION_FILTER);
	assert_int_equal(keys_action(&config.keys, KEYS_F(9)), ACTION_SAVE_AS);
	assert_int_equal(keys_action(&config.keys, KEYS_UP), ACTION_UP);
	takes(&config, "key.filter = s\nkey.snapshot = \\\n");
	assert_int_equal(keys_action(&config.keys, 's'), ACTION_FILTER);
	assert_int_equal(keys_action(&config.keys, '\\'), ACTION_SNAPSHOT);
	takes(&config, "key.filter = q F10 Ctrl-C\nkey.quit = x\n");
	refuses("key.filter = q F10 Ctrl-C\n", ": key.quit: no key is left for it; give one");
	refuses("key.quit = none\n", ": key.quit: no key is left for it; give one");
}

static void reads_back(const struct config *config)
{
	struct config again;
	char *text = written(config), *twice;

	takes(&again, text);
	twice = written(&again);
	assert_string_equal(text, twice);
	for (int i = 0; i < KEYS_ROWS; i++)
		assert_memory_equal(config->keys.rows[i].codes, again.keys.rows[i].codes,
			sizeof(again.keys.rows[i].codes));
	for (int i = 0; i < STYLES; i++) {
		assert_memory_equal(&config->theme.entries[i].rich, &again.theme.entries[i].rich,
			sizeof(struct look));
		assert_memory_equal(&config->theme.entries[i].base, &again.theme.entries[i].base,
			sizeof(struct look));
	}
	assert_int_equal(config->columns.count, again.columns.count);
	assert_memory_equal(config->columns.order, again.columns.order,
		again.columns.count * sizeof(int));
	assert_true(config->sort == again.sort && config->window_ns == again.window_ns);
	assert_int_equal(config->format, again.format);
	free(twice);
	free(text);
}

static void test_what_is_written_is_read(void **state)
{
	struct config config;
	char *text;

	(void)state;
	config_init(&config);
	reads_back(&config);
	takes(&config, "window=1s\nsnapshot=pprof\nsort=cpu\ncolumns=source function cpu\nkey.help=none\n"
		"key.next=F2 Tab PgDn ;\nkey.page-down=n\n"
		"colour.bad = 1 on 200 dim / black on bright-white\n");
	reads_back(&config);
	text = written(&config);
	assert_non_null(strstr(text, "\ncolumns = source function cpu\n"));
	assert_non_null(strstr(text, "\nsnapshot = pprof\n"));
	assert_non_null(strstr(text, "\nkey.next = F2 Tab PgDn ;\n"));
	assert_non_null(strstr(text, "\ncolour.bad = red on 200 dim / black on bright-white\n"));
	free(text);
}

static void test_refusals(void **state)
{
	(void)state;
	refuses("window = 5s", ":1: window: no such window; give 1s");
	refuses("window = 1s 10s", ":1: window: no such window");
	refuses("\n#\nwindow\n", ":3: window: not a setting; write NAME = VALUE");
	refuses("= 1s", ":1: =: not a setting");
	refuses("win dow = 1s", ":1: win: not a setting");
	refuses("window =", ":1: window: no value; give one");
	refuses("snapshot = jpeg", ":1: snapshot: no such format of snapshots; `ktop config`");
	refuses("snapshot = svg html", ":1: snapshot: no such format");
	refuses("windows = 1s", ":1: windows: no such setting; `ktop config`");
	refuses("sort = trend", ":1: sort: no such column to sort by; give self");
	refuses("columns = self", ":1: columns: the column function is missing");
	refuses("columns = function self self", ":1: columns: self: is given twice");
	refuses("columns = function hat", ":1: columns: hat: no such column; give");
	refuses("key.fly = f", ":1: key.fly: no such action");
	refuses("key.help = F13", ":1: key.help: F13: no such key; give a character");
	refuses("key.help = F1x", "no such key");
	refuses("key.help = Ctrl-H", "no such key");
	refuses("key.help = Ctrl-", "no such key");
	refuses("key.help = none none", "no such key");
	refuses("key.help = \xc3\xa4", "no such key");
	refuses("key.help = 1 2 3 4 5", ":1: key.help: too many keys; give at most 4");
	refuses("colour.sky = blue", ":1: colour.sky: no such style");
	refuses("colour.title = red on", ":1: colour.title: on: no colour follows it; give one");
	refuses("colour.title = on bold", "on: no colour follows it");
	refuses("colour.title = red on / blue", "on: no colour follows it");
	refuses("colour.title = red / blue on", "on: no colour follows it");
	refuses("colour.title = red on on", ": on: neither a colour");
	refuses("colour.title = red blue", ": blue: a second colour; give one");
	refuses("colour.title = red on blue green", ": green: a second colour; give one");
	refuses("colour.hot = blau", ":1: colour.hot: blau: neither a colour nor an attribute");
	refuses("colour.hot = 256", "256: neither");
	refuses("colour.hot = -1", "-1: neither");
	refuses("colour.hot = 1x", "1x: neither");
	refuses("colour.hot = red / red / red", "more than one /");
	refuses("colour.hot = 200 / 200", "16 colours");
	refuses("colour.hot = 200 / red on 16", "16 colours");
}

/* A setting that fails changes nothing. */
static void test_half_a_setting(void **state)
{
	static const char *const lines[] = { "columns = self hits", "key.zero = 1 2 none",
		"colour.hot = red / pink", "sort = self total", "window = 1s 1s" };
	struct config config;
	char *before, *after;

	(void)state;
	config_init(&config);
	before = written(&config);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		char *line = util_copy(lines[i], strlen(lines[i])), *error = NULL;

		assert_false(config_set(&config, line, &error));
		after = written(&config);
		assert_string_equal(before, after);
		free(after);
		free(line);
		free(error);
	}
	free(before);
}

static void test_what_is_no_configuration(void **state)
{
	struct random random = { 1 };
	struct config config;
	char *text = util_alloc(100001);

	(void)state;
	memset(text, 'a', 100000);
	refuses(text, "; write NAME = VALUE");
	memcpy(text, "colour.hot = ", 13);
	refuses(text, "neither a colour");
	for (size_t i = 13; i < 100000; i += 2)
		text[i] = ' ';
	refuses(text, "too many words; give fewer");
	for (int i = 0; i < 2000; i++) {
		size_t some = random_below(&random, 300);

		for (size_t j = 0; j < some; j++)
			text[j] = random_below(&random, 3) ? (char)random_next(&random) :
				"key. =#\n"[random_below(&random, 8)];
		load(&config, text, some);
	}
	assert_null(load(&config, "", 0));
	free(text);
}

static void test_where_it_lies(void **state)
{
	struct config config;
	char *error = NULL;

	(void)state;
	assert_int_equal(setenv("HOME", scratch_path("home"), 1), 0);
	scratch_run("rm -f ktop/config && mkdir -p home/.config/ktop && "
		"echo 'window = all' >home/.config/ktop/config");
	assert_true(config_file_load(&config, &error));		/* there is no file */
	assert_int_equal(config.window_ns, 10 * NS_PER_SECOND);
	scratch_text("ktop/config", "window = 1s\n");
	assert_true(config_file_load(&config, &error));
	assert_int_equal(config.window_ns, NS_PER_SECOND);
	assert_int_equal(setenv("XDG_CONFIG_HOME", "relative", 1), 0);
	assert_true(config_file_load(&config, &error));
	assert_int_equal(config.window_ns, 0);
	assert_int_equal(unsetenv("HOME"), 0);
	assert_true(config_file_load(&config, &error));
	assert_int_equal(config.window_ns, 10 * NS_PER_SECOND);
	assert_int_equal(setenv("XDG_CONFIG_HOME", scratch_path("home"), 1), 0);
	scratch_run("mkdir -p home/ktop/config");
	assert_false(config_file_load(&config, &error));
	assert_non_null(strstr(error, "home/ktop/config: not read: Is a directory; make it readable"));
	free(error);
	error = NULL;
	scratch_run("rmdir home/ktop/config && mkfifo home/ktop/config");
	assert_false(config_file_load(&config, &error));	/* nobody writes into it */
	assert_non_null(strstr(error, "home/ktop/config: not read: not a regular file; make it readable"));
	free(error);
	error = NULL;
	assert_false(config_file_keep_format(0, &error));
	assert_non_null(strstr(error, "not a regular file"));
	free(error);
	error = NULL;
	scratch_run("rm home/ktop/config && truncate -s 1T home/ktop/config");
	assert_false(config_file_load(&config, &error));
	assert_non_null(strstr(error, "home/ktop/config: not read: it is larger than 1 MB; "));
	free(error);
	error = NULL;
	assert_int_equal(setenv("XDG_CONFIG_HOME", scratch_path("ktop/config"), 1), 0);
	assert_true(config_file_load(&config, &error));		/* its folder is a file, so there is no file */
}

/* The settings file has this text; then it is told the format of snapshots, and has that text. */
static void keeps(const char *text, const char *wanted)
{
	struct config config;
	char *error = NULL, *now;
	size_t size, format = 0;

	scratch_text("ktop/config", text);
	assert_true(save_format_named("speedscope", &format));
	assert_true(config_file_keep_format(format, &error));
	now = scratch_read(scratch_path("ktop/config"), &size);
	assert_string_equal(now, wanted);
	assert_true(config_file_load(&config, &error));
	assert_int_equal(config.format, format);
	free(now);
}

static void test_format_is_kept(void **state)
{
	char *error = NULL;

	(void)state;
	assert_int_equal(setenv("XDG_CONFIG_HOME", scratch_path("."), 1), 0);
	scratch_run("rm -rf ktop && mkdir ktop");
	keeps("", "snapshot = speedscope\n");
	keeps("window = 1s", "window = 1s\nsnapshot = speedscope\n");
	keeps("# mine\n\tsnapshot=svg\nsort = total\n", "# mine\nsnapshot = speedscope\nsort = total\n");
	keeps("snapshot = svg\n#snapshot = csv\nsnapshot = html", "snapshot = speedscope\n#snapshot = csv\n");
	keeps("key.snapshot = s\nsort = self\n", "key.snapshot = s\nsort = self\nsnapshot = speedscope\n");
	keeps("sort = self\nsnapshot = csv", "sort = self\nsnapshot = speedscope");

	assert_int_equal(setenv("XDG_CONFIG_HOME", scratch_path("new/folders"), 1), 0);
	assert_true(config_file_keep_format(EXPORT_FOLDED, &error));
	scratch_run("grep -qx 'snapshot = folded' new/folders/ktop/config");
	scratch_run("ln -sf ../../../mine new/folders/ktop/config && echo 'sort = total' >mine");
	assert_true(config_file_keep_format(EXPORT_FOLDED, &error));
	scratch_run("test -L new/folders/ktop/config");
	scratch_run("grep -qx 'sort = total' mine && grep -qx 'snapshot = folded' mine");

	scratch_run("rm new/folders/ktop/config && mkdir new/folders/ktop/config");
	assert_false(config_file_keep_format(EXPORT_FOLDED, &error));
	assert_non_null(strstr(error, "folders/ktop/config: not read: Is a directory; "));
	free(error);
	error = NULL;
	assert_int_equal(setenv("XDG_CONFIG_HOME", "relative", 1), 0);
	assert_int_equal(unsetenv("HOME"), 0);
	assert_false(config_file_keep_format(EXPORT_FOLDED, &error));
	assert_string_equal(error, "the format of snapshots is not kept: there is no folder for settings; set HOME");
	free(error);
}

/* Any columns in any order: they are shown in this order, do not overlap, and fit into the width. */
static void test_columns_in_any_order(void **state)
{
	struct random random = { 7 };

	(void)state;
	for (int i = 0; i < 3000; i++) {
		const int change = COLUMNS - 1;		/* settings do not give it; a baseline does */
		struct columns wanted = { .count = 0 };
		struct column_layout layout;
		struct column_needs needs = {
			.name = (int)random_below(&random, 90), .object = (int)random_below(&random, 90),
		};
		bool compared = random_below(&random, 2);
		int columns = (int)random_below(&random, 260), end = 0;
		size_t at = 0;

		for (int j = 0; j < change; j++) {
			size_t place = random_below(&random, wanted.count + 1);

			if (j != column_named("function") && random_below(&random, 2))
				continue;
			memmove(wanted.order + place + 1, wanted.order + place,
				(wanted.count++ - place) * sizeof(int));
			wanted.order[place] = j;
		}
		layout = column_layout(&wanted, columns, compared, needs);
		for (size_t j = 0; j < layout.count && columns >= 30; j++) {
			if (layout.slots[j].index == change) {
				assert_true(compared);
			} else {
				while (at < wanted.count && wanted.order[at] != layout.slots[j].index)
					at++;
				assert_true(at < wanted.count);
			}
			assert_true(layout.slots[j].column > end);
			end = layout.slots[j].column + layout.slots[j].width;
		}
		assert_true(columns < 40 || (end <= columns && layout.count > 0));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_setting),
		cmocka_unit_test(test_one_look_alone),
		cmocka_unit_test(test_every_key_by_its_name),
		cmocka_unit_test(test_a_key_has_one_meaning),
		cmocka_unit_test(test_what_is_written_is_read),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_half_a_setting),
		cmocka_unit_test(test_what_is_no_configuration),
		cmocka_unit_test(test_where_it_lies),
		cmocka_unit_test(test_format_is_kept),
		cmocka_unit_test(test_columns_in_any_order),
	};

	scratch_run("mkdir ktop");
	setenv("XDG_CONFIG_HOME", scratch_folder, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
