/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/vm/launch.h"
#include "tests/unit/fakes/scratch.h"

enum { WORDS = 16 };

/* The plugin's file, beside this program. */
static char *beside;

/* What is to be loaded into this QEMU, in fresh memory. Splits the line at spaces. */
static char *plugin_of(const char *line, enum link_choice choice, char **error)
{
	char *copy = util_copy(line, strlen(line)), *words[WORDS], *plugin;
	size_t count = 0;

	for (char *word = strtok(copy, " "); word && count < WORDS; word = strtok(NULL, " "))
		words[count++] = word;
	*error = NULL;
	plugin = launch_plugin(words, count, choice, error);
	free(copy);
	return plugin;
}

static void check_loaded(const char *line, enum link_choice choice)
{
	char *error, *plugin = plugin_of(line, choice, &error);

	assert_null(error);
	if (!plugin)
		fail_msg("not loaded: %s", line);
	assert_string_equal(plugin, beside);
	free(plugin);
}

static void check_not_loaded(const char *line, enum link_choice choice)
{
	char *error, *plugin = plugin_of(line, choice, &error);

	assert_null(error);
	if (plugin)
		fail_msg("loaded: %s", line);
}

static void check_refused(const char *line, const char *why)
{
	char *error, *plugin = plugin_of(line, LINK_PLUGIN, &error);

	assert_null(plugin);
	if (!error || !strstr(error, why))
		fail_msg("%s: %s", line, error ? error : "no error");
	free(error);
}

static void test_a_guest_that_knows_nothing(void **state)
{
	char *line = util_format("q -m 64 -kernel %s", scratch_text("plain", "a kernel"));

	(void)state;
	check_loaded("q -m 64", LINK_AUTO);
	check_loaded("q -m 64 -accel tcg,thread=multi", LINK_AUTO);
	check_loaded("q -kernel /nonexistent", LINK_AUTO);
	check_loaded(line, LINK_AUTO);
	free(line);
}

/* The last option counts, as for QEMU. */
static void test_a_guest_that_has_the_hook(void **state)
{
	char *hook = util_format("%s", scratch_text("hooked", "says org.ktop.0, and more"));
	char *plain = util_format("%s", scratch_text("plain", "a kernel"));
	char *kernel = util_format("q -kernel %s", hook), *initrd = util_format("q --initrd %s", hook);
	char *later = util_format("q -kernel %s -kernel %s", hook, plain);

	(void)state;
	check_not_loaded(kernel, LINK_AUTO);
	check_not_loaded(initrd, LINK_AUTO);
	check_loaded(kernel, LINK_PLUGIN);
	check_loaded(later, LINK_AUTO);
	free(kernel);
	free(initrd);
	free(later);
	free(hook);
	free(plain);
}

/* Which accelerator runs is known once QEMU runs: of `-accel kvm -accel tcg` it takes the first that works. */
static void test_options_do_not_tell_the_accelerator(void **state)
{
	static const char *const lines[] = {
		"q -enable-kvm", "q -accel kvm", "q -M accel=kvm", "q -accel kvm -accel tcg", "q -accel tcg -accel kvm",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		check_loaded(lines[i], LINK_AUTO);
		check_loaded(lines[i], LINK_PLUGIN);
		check_not_loaded(lines[i], LINK_GDB);
	}
}

static void test_the_user_says_otherwise(void **state)
{
	(void)state;
	check_not_loaded("q", LINK_HOOK);
	check_not_loaded("q", LINK_GDB);
	check_not_loaded("q -plugin other.so", LINK_AUTO);
	check_loaded("q -plugin other.so", LINK_PLUGIN);
}

static void test_no_file(void **state)
{
	char *error;

	(void)state;
	assert_int_equal(unlink(beside), 0);
	assert_null(plugin_of("q", LINK_AUTO, &error));
	assert_null(error);
	check_refused("q", "ktop-plugin.so: not found");
}

static int make_file(void **state)
{
	char program[4096], *end;
	ssize_t size = readlink("/proc/self/exe", program, sizeof(program) - 1);
	FILE *file;

	(void)state;
	if (size < 0)
		return -1;
	program[size] = '\0';
	end = strrchr(program, '/');
	*end = '\0';
	beside = util_format("%s/ktop-plugin.so", program);
	file = fopen(beside, "w");
	return file ? fclose(file) : -1;
}

static int remove_file(void **state)
{
	(void)state;
	unlink(beside);
	free(beside);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_guest_that_knows_nothing),
		cmocka_unit_test(test_a_guest_that_has_the_hook),
		cmocka_unit_test(test_options_do_not_tell_the_accelerator),
		cmocka_unit_test(test_the_user_says_otherwise),
		cmocka_unit_test(test_no_file),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
