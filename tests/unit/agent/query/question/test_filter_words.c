/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/query/question/filter.h"

/* What a filter became: "[!]kind=alternative|alternative " for each term; modes as their bits. */
static char *written(const struct filter *filter)
{
	static const char *const kinds[FILTER_BYS] = {
		[FILTER_FUNCTION] = "name", [FILTER_CPU] = "cpu", [FILTER_MODE] = "mode", [FILTER_THREAD] = "thread",
		[FILTER_COMM] = "comm", [FILTER_PROCESS] = "process", [FILTER_OBJECT] = "object",
		[FILTER_FILE] = "file", [FILTER_UNDER] = "under", [FILTER_MACHINE] = "machine",
	};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (uint32_t i = 0; i < filter->count; i++) {
		const struct filter_term *term = &filter->terms[i];
		const char *part = filter->text + term->text;

		fprintf(out, "%s%s=", term->negated ? "!" : "", kinds[term->by]);
		if (term->by == FILTER_MODE)
			fprintf(out, "%u", term->modes);
		for (; *part; part += strlen(part) + 1)
			fprintf(out, "%s|", part);
		fputc(' ', out);
	}
	fclose(out);
	return text;
}

static void take(const char *text, const char *wanted)
{
	struct filter filter = { .count = 1 };
	char *error = NULL, *got;

	if (!filter_parse(text, &filter, &error))
		fail_msg("\"%s\" was refused: %s", text, error);
	got = written(&filter);
	assert_string_equal(got, wanted);
	free(got);
}

/* The filter is refused: the message names the word, says why and what to do. The filter is unchanged. */
static void refuse(const char *text, const char *why, const char *what_to_do)
{
	struct filter filter = { .count = 1, .text = "before" }, before = filter;
	char *error = NULL, *end;

	if (filter_parse(text, &filter, &error))
		fail_msg("\"%s\" was taken", text);
	end = strchr(error, ';');
	if (!end || !strstr(error, why) || strstr(error, why) > end || !strstr(end, what_to_do))
		fail_msg("\"%s\": %s", text, error);
	assert_memory_equal(&filter, &before, sizeof(filter));
	free(error);
}

static void test_what_is_taken(void **state)
{
	static const struct {
		const char *text, *wanted;
	} rows[] = {
		{ "", "" },
		{ "  \t ", "" },
		{ "alloc", "name=alloc| " },
		{ " operator  new ", "name=operator| name=new| " },
		{ "alloc|free !page", "name=alloc|free| !name=page| " },
		{ "operator||", "name=operator| " },
		{ "cpu:0", "cpu=0| " },
		{ "!machine:web|2", "!machine=web|2| " },
		{ "cpu:4095 alloc", "cpu=4095| name=alloc| " },
		{ "a cpu:1|3 b", "name=a| cpu=1|3| name=b| " },
		{ "cpu:1 !cpu:2", "cpu=1| !cpu=2| " },
		{ "thread:init", "thread=init| " },
		{ "thread:kworker/0:1", "thread=kworker/0:1| " },
		{ "thread:12 mode:user", "thread=12| mode=2 " },
		{ "file:mm/page.c|slab !file:lib/", "file=mm/page.c|slab| !file=lib/| " },
		{ "process:sh|init !object:e1000", "process=sh|init| !object=e1000| " },
		{ "under:vm_fault under:std::sort", "under=vm_fault| under=std::sort| " },
		{ "mode:kernel", "mode=1 " },
		{ "mode:kernel|user", "mode=3 " },
		{ "!mode:idle,kernel", "!mode=5 " },
		{ "mode:irq|softirq !mode:softirq", "mode=24 !mode=16 " },
		{ "std::vector::push_back", "name=std::vector::push_back| " },
		{ "<T as core::fmt>", "name=<T| name=as| name=core::fmt>| " },
		{ "cpu", "name=cpu| " },
		{ ":", "name=:| " },
		{ "größe", "name=größe| " },
		{ "comm:\"tmux: server\"|sh cpu:0", "comm=tmux: server|sh| cpu=0| " },
		{ "!process:\"a|b\" \"operator new\"", "!process=a|b| name=operator new| " },
		{ "thread:\"say \"\"hi\"\" \"|x", "thread=say \"hi\" |x| " }, { "comm:\"\"\"\"", "comm=\"| " },
		{ "object:\"\"|x file:\" \"", "object=x| file= | " }, { "operator\"\"_s", "name=operator\"\"_s| " },
		{ "comm:\"a\"b\"", "comm=a\"b| " }, { "under:\"f(int, char)\"", "under=f(int, char)| " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		take(rows[i].text, rows[i].wanted);
}

static void test_what_is_refused(void **state)
{
	static const char *const unknown[] = { "pid:5", "command:dd", "foo:bar", "foo:", "CPU:0",
		"modes:user", "cp:0", "alloc pid:5", "not-known:x", "!pid:5" };

	(void)state;
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++) {
		refuse(unknown[i], "is not a word of a filter", "cpu:N");
		refuse(unknown[i], "is not a word of a filter", "thread:NAME");
		refuse(unknown[i], "is not a word of a filter", "mode:kernel|user|idle|irq|softirq");
		refuse(unknown[i], "is not a word of a filter", "under:FUNCTION");
	}
	refuse("pid:5", "pid:", "");
	refuse("cpu:", "cpu:", "cpu:0");
	refuse("cpu:x", "cpu:x is not a CPU", "cpu:0");
	refuse("cpu:-1", "cpu:-1", "cpu:0");
	refuse("cpu:0x1", "cpu:0x1", "cpu:0");
	refuse("cpu:0-3", "cpu:0-3", "cpu:0");
	refuse("cpu:0|", "cpu:0|", "cpu:0|2");
	refuse("cpu:4294967295", "cpu:4294967295", "cpu:0");
	refuse("cpu:99999999999999999999", "is not a CPU", "cpu:0");
	refuse("mode:", "mode: is not a mode", "kernel, user, idle, irq or softirq");
	refuse("mode:|", "mode: is not a mode", "kernel, user, idle, irq or softirq");
	refuse("mode:kernel|", "mode: is not a mode", "kernel, user, idle, irq or softirq");
	refuse("mode:ring0", "mode:ring0 is not a mode", "kernel, user, idle, irq or softirq");
	refuse("mode:user|kern", "mode:kern is not a mode", "kernel, user, idle, irq or softirq");
	refuse("mode:kernel|off-cpu", "mode:off-cpu is not a mode", "off-cpu or off-waker alone");
	refuse("mode:kernel mode:off-cpu", "mode:off-cpu and mode:off-waker stand without", "leave those out");
	refuse("mode:off-cpu mode:user", "mode:off-cpu and mode:off-waker stand without", "leave those out");
	refuse("mode:off-waker mode:off-cpu", "mode:off-cpu and mode:off-waker stand without", "leave those out");
	refuse("!mode:off-cpu", "!mode:off-cpu", "leave it out");
	refuse("!mode:off-waker", "!mode:off-waker", "leave it out");
	refuse("mode:soft", "mode:soft is not a mode", "softirq");
	refuse("mode:kernelx", "mode:kernelx", "kernel");
	refuse("thread:", "names nothing", "give a part");
	refuse("process:|", "names nothing", "give a part");
	refuse("object:", "names nothing", "give a part");
	refuse("file:", "names nothing", "give a part");
	refuse("under:", "names nothing", "give a part");
	refuse("!", "names nothing", "give a part");
	refuse("comm:\"\"", "names nothing", "give a part");
	refuse("comm:\"tmux: server cpu:0", "a quote of the filter is not closed", "end the name");
	refuse("comm:\"a\"\"", "a quote of the filter is not closed", "end the name");
	refuse("x comm:\"", "a quote of the filter is not closed", "end the name");
}

static void test_what_is_too_long(void **state)
{
	char text[400];

	(void)state;
	snprintf(text, sizeof(text), "%0300d", 0);
	refuse(text, "too long", "159 bytes");
	refuse("a b c d e f g h i", "too many words", "at most 8");
	snprintf(text, sizeof(text), "%0159d %0159d", 0, 0);
	strcat(text, " x");
	assert_true(filter_parse(text, &(struct filter) { .count = 0 }, NULL));
}

/* Words of a filter, and options of a report, beside each other. */
static void test_terms_are_added(void **state)
{
	struct filter filter, before;
	char *error = NULL, *got;

	(void)state;
	assert_true(filter_parse("a cpu:1", &filter, NULL));
	assert_true(filter_add(&filter, FILTER_THREAD, "init", NULL));
	got = written(&filter);
	assert_string_equal(got, "name=a| cpu=1| thread=init| ");
	free(got);
	while (filter.count < FILTER_TERMS)
		assert_true(filter_add(&filter, FILTER_UNDER, "f", NULL));
	before = filter;
	assert_false(filter_add(&filter, FILTER_UNDER, "f", &error));
	assert_non_null(strstr(error, "too many"));
	assert_memory_equal(&filter, &before, sizeof(filter));
	free(error);
}

/* What a filter becomes for a machine in tab 2, and for one without a tab. */
static void test_a_machine_takes_its_words_out(void **state)
{
	static const struct {
		const char *text, *tab, *alone;
	} rows[] = {
		{ "cpu:0 alloc", "cpu=0| name=alloc| ", "cpu=0| name=alloc| " },
		{ "cpu:0 machine:web alloc", "cpu=0| name=alloc| ", "cpu=0| name=alloc| " },
		{ "machine:WEB", "cpu= ", "cpu= " },		/* a capital letter is taken exactly */
		{ "machine:db|server", "", "" },
		{ "machine:2", "", "cpu= " },
		{ "machine:02", "", "cpu= " },
		{ "machine:1|3 mode:user", "cpu= ", "cpu= " },
		{ "!machine:2", "cpu= ", "" },
		{ "!machine:web mode:user", "cpu= ", "cpu= " },
		{ "!machine:db mode:user", "mode=2 ", "mode=2 " },
		{ "machine:web machine:db", "cpu= ", "cpu= " },
		{ "machine:web thread:init !machine:db", "thread=init| ", "thread=init| " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (int tab = 0; tab < 2; tab++) {
			struct filter filter = { .count = 0 };
			char *got;

			assert_true(filter_parse(rows[i].text, &filter, NULL));
			filter_at_machine(&filter, tab ? 2 : 0, tab ? "2 web-server" : "web-server");
			got = written(&filter);
			assert_string_equal(got, tab ? rows[i].tab : rows[i].alone);
			assert_true(strstr(got, "cpu= ") == NULL || !filter_passes_cpu(&filter, 0));
			free(got);
		}
}

/* Values that name no machine, whether they are negated or not; numbers are those of tabs. */
static void test_a_machine_that_is_not_there(void **state)
{
	static const struct {
		const char *text, *tabs, *alone;
	} rows[] = {
		{ "", NULL, NULL }, { "cpu:7 nosuch", NULL, NULL }, { "machine:web", NULL, NULL },
		{ "machine:nosuch", "nosuch", "nosuch" }, { "!machine:nosuch", "nosuch", "nosuch" },
		{ "machine:web|nosuch", "nosuch", "nosuch" }, { "machine:2", NULL, "2" },
		{ "machine:3 cpu:0", "3", "3" }, { "!machine:web machine:mail|web", "mail", "mail" },
		{ "machine:db", NULL, "db" },
	};
	static const char *const tabs[] = { "1 web-server", "2 db" }, *const alone[] = { "web-server" };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (int tab = 0; tab < 2; tab++) {
			const char *wanted = tab ? rows[i].tabs : rows[i].alone, *got;
			struct filter filter = { .count = 0 };

			assert_true(filter_parse(rows[i].text, &filter, NULL));
			got = filter_stray_machine(&filter, tab ? tabs : alone, tab ? 2 : 1, tab);
			assert_string_equal(got ? got : "", wanted ? wanted : "");
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_taken),
		cmocka_unit_test(test_a_machine_that_is_not_there),
		cmocka_unit_test(test_what_is_refused),
		cmocka_unit_test(test_what_is_too_long),
		cmocka_unit_test(test_terms_are_added),
		cmocka_unit_test(test_a_machine_takes_its_words_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
