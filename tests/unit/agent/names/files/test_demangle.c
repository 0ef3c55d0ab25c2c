/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/names/files/symbol_table.h"

static void check(const char *mangled, const char *plain)
{
	char *text = demangle(mangled);

	assert_non_null(text);
	assert_string_equal(text, plain);
	free(text);
}

static void test_cxx(void **state)
{
	(void)state;
	check("_ZN2vm5Cache4findEPKcm", "vm::Cache::find");
	check("_Z4swapRiS_", "swap");
	check("_ZNSt6vectorIiSaIiEE9push_backERKi",
		"std::vector<int, std::allocator<int> >::push_back");
	check("_ZN2vm5CacheD1Ev", "vm::Cache::~Cache");
}

static void test_suffix_stays(void **state)
{
	(void)state;
	check("_ZN2vm5Cache4findEPKcm.cold", "vm::Cache::find.cold");
	check("_Z4swapRiS_.constprop.0.isra.1", "swap.constprop.0.isra.1");
}

static void test_rust_legacy(void **state)
{
	(void)state;
	check("_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE",
		"core::fmt::Formatter::write_str");
	check("_ZN48_$LT$kernel..Task$u20$as$u20$core..ops..Drop$GT$4drop17h92bca05d23a1a3f0E",
		"<kernel::Task as core::ops::Drop>::drop");
}

static void test_rust_v0(void **state)
{
	(void)state;
	check("_RNvCs1234_7mycrate3foo", "mycrate::foo");
	check("_RNvMs_Cs4Cv8Wi1oAIB_6kernelNtB4_4Task3run", "<kernel::Task>::run");
}

static void test_plain_names_are_none(void **state)
{
	static const char *const names[] = { "", "_", "memcpy", "_start", "__x64_sys_read", "_Z",
		"_R", "_ZN", "_Zebra", "_Reset", "_ZN3", "_ZZZZZZ", "_RNvC",
		"_ZN99999999999999999999999foo" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_null(demangle(names[i]));
}

static char *repeat(const char *head, const char *part, size_t times, const char *tail)
{
	size_t size = strlen(part);
	char *text = util_alloc(strlen(head) + size * times + strlen(tail) + 1);
	char *end = stpcpy(text, head);

	for (size_t i = 0; i < times; i++)
		end = mempcpy(end, part, size);
	strcpy(end, tail);
	return text;
}

static void check_none(char *mangled)
{
	char *text = demangle(mangled);

	assert_null(text);
	free(mangled);
}

static void test_too_long(void **state)
{
	(void)state;
	check_none(repeat("_ZN", "1a", DEMANGLE_IN_MAX, "Ev"));
	check_none(repeat("_Z1f", "P", 1000000, "i"));
}

/*
 * f<p<int, int>, p<S1_, S1_>, p<S3_, S3_>, ...>: each argument is a pair of the one before. So the text
 * doubles while the name grows by a few bytes. Substitutions count in base 36.
 */
static void test_doubling(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char *mangled = util_copy("_Z1fI1pIiiE", 11);

	(void)state;
	for (int i = 0; i < 40; i++) {
		int number = 1 + 2 * i;
		char text[3] = { digits[number / 36], digits[number % 36] };
		const char *id = number < 36 ? text + 1 : text;
		char *longer = util_format("%s1pIS%s_S%s_E", mangled, id, id);

		free(mangled);
		mangled = longer;
	}
	check_none(util_format("%sEvv", mangled));
	free(mangled);
}

/* A binder of a dozen bytes can announce 2^60 lifetimes, and all of them would be printed. */
static void test_rust_binder(void **state)
{
	(void)state;
	check_none(util_copy("_RINvC1a1fFGZZZZZZZZZ_EuE", 25));
}

static void test_deep(void **state)
{
	char *mangled = repeat("_Z1f", "P", 900, "i"), *text = demangle(mangled);

	(void)state;
	free(text);
	free(mangled);
	mangled = repeat("_RNvC1a1f", "NvC", 300, "");
	text = demangle(mangled);
	free(text);
	free(mangled);
}

/* Each cut and each damaged byte of good names gives an answer or none, under the sanitizers. */
static void test_damaged(void **state)
{
	static const char *const names[] = {
		"_ZNSt6vectorIiSaIiEE9push_backERKi",
		"_ZN48_$LT$kernel..Task$u20$as$u20$core..ops..Drop$GT$4drop17h92bca05d23a1a3f0E",
		"_RNvMs_Cs4Cv8Wi1oAIB_6kernelNtB4_4Task3run", "_RNvC6_123foou15Gdel_dazeaegbaa_d",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t size = strlen(names[i]);

		for (size_t at = 2; at < size; at++) {
			char *name = util_copy(names[i], at);

			free(demangle(name));
			free(name);
			name = util_copy(names[i], size);
			for (int byte = 1; byte < 256; byte++) {
				name[at] = (char)byte;
				free(demangle(name));
			}
			free(name);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cxx),
		cmocka_unit_test(test_suffix_stays),
		cmocka_unit_test(test_rust_legacy),
		cmocka_unit_test(test_rust_v0),
		cmocka_unit_test(test_plain_names_are_none),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_doubling),
		cmocka_unit_test(test_rust_binder),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
