/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/vm/qmp/qmp_discover.h"
#include "tests/unit/fakes/fake_qmp.h"
#include "tests/unit/fakes/qmp_loop.h"
#include "tests/unit/fakes/scratch.h"
#include "fake_connection.h"

static bool discover(struct qmp *qmp, int timeout_ms, struct qmp_facts *facts, char **error)
{
	struct qmp_discovery discovery;
	bool good;

	discover_begin(&discovery, qmp, util_now(), timeout_ms);
	good = loop_talk(&discovery.talk);
	if (!good)
		util_fail(error, "%s", discovery.talk.error);
	*facts = good ? discovery.facts : (struct qmp_facts) { 0 };
	if (good)
		discovery.facts = (struct qmp_facts) { 0 };
	discover_clear(&discovery);
	return good;
}

static void check_discovery(const struct fake_script *script)
{
	struct fake_qmp *fake = fake_qmp_new(script);
	struct qmp *qmp = connect_fake(fake);
	struct qmp_facts facts;
	char *here = getcwd(NULL, 0);
	char *kernel = util_format("%s/images/kernel.elf", here);
	char *port = util_format("%s/dir,server/k.sock", here);
	char *plugin = util_format("%s/run/plugin.sock", here);

	assert_true(discover(qmp, PATIENCE_MS, &facts, NULL));
	assert_int_equal(facts.cpus, 3);
	assert_string_equal(facts.name, "toy?[2J");
	assert_string_equal(facts.qemu, "7.2.22");
	/* The other end of the socket pair is this very process, so its working directory is ours. */
	assert_string_equal(facts.kernel, kernel);
	assert_string_equal(facts.port, port);
	assert_true(facts.port_present);
	assert_false(facts.port_taken);
	assert_true(facts.port_open);
	assert_true(facts.i8042);
	if (script->answers == machine) {
		assert_true(facts.kvm);
		assert_null(facts.plugin);		/* it sees nothing of what KVM runs */
	} else {
		assert_false(facts.kvm);
		assert_string_equal(facts.plugin, plugin);
	}
	assert_int_equal(qmp_state(qmp), VM_RUNNING);

	qmp_facts_clear(&facts);
	assert_null(facts.kernel);
	qmp_free(qmp);
	fake_qmp_free(fake);
	free(here);
	free(kernel);
	free(port);
	free(plugin);
}

static void test_discovers(void **state)
{
	(void)state;
	check_discovery(&(struct fake_script) { .greeting = fake_greeting, .answers = machine });
}

static void test_tcg_has_the_plugin(void **state)
{
	enum { ROWS = sizeof(machine) / sizeof(machine[0]) };
	struct fake_answer rows[ROWS + 1] = { { "query-kvm", "\"return\": {\"enabled\": false}" } };

	(void)state;
	memcpy(rows + 1, machine, sizeof(machine));
	check_discovery(&(struct fake_script) { .greeting = fake_greeting, .answers = rows });
}

static void test_fragments(void **state)
{
	(void)state;
	check_discovery(
		&(struct fake_script) { .greeting = fake_greeting, .answers = machine, .piece = 1 });
	check_discovery(
		&(struct fake_script) { .greeting = fake_greeting, .answers = machine, .piece = 7 });
}

static void test_events_and_garbage_between(void **state)
{
	(void)state;
	check_discovery(&(struct fake_script) {
		.greeting = fake_greeting,
		.answers = machine,
		.before =
			"{\"event\": \"RTC_CHANGE\", \"data\": {}}\r\n\r\n{{{{\n\"text\"\n[1, 2]\n"
			"{\"id\": \"1\", \"return\": {}}\n{\"id\": 999999, \"return\": 5}\n\xff\xfe\n{\"event\": 3}\n",
	});
}

/* Before each answer comes a line that is too long to be taken. */
static void test_huge_lines(void **state)
{
	size_t size = 3 << 20;
	char *huge = util_alloc(size + 2);

	(void)state;
	memset(huge, '[', size);
	huge[size] = '\n';
	check_discovery(&(struct fake_script) {
		.greeting = fake_greeting, .answers = machine, .before = huge });
	free(huge);
}

static void test_answers_of_wrong_types(void **state)
{
	static const struct fake_answer odd[] = {
		{ "qmp_capabilities", "\"return\": {}" },
		{ "query-status", "\"return\": [1]" },
		{ "query-cpus-fast", "\"return\": {\"a\": 1}" },
		{ "query-name", "\"return\": 7" },
		{ "query-version", "\"return\": {\"qemu\": [1, 2, 3]}" },
		{ "query-kvm", "\"return\": {\"enabled\": 1}" },
		{ "qom-get", "\"return\": {\"kernel\": []}" },
		{ "qom-list",
			"\"return\": [[], 1, {\"name\": 1, \"type\": \"child<virtserialport>\"}, "
			"{\"name\": \"d\", \"type\": \"child<virtserialport>\"}, {\"type\": null}]" },
		{ NULL, NULL },
	};
	struct fake_qmp *fake = fake_qmp_new(&(struct fake_script) {
		.greeting = fake_greeting, .answers = odd });
	struct qmp *qmp = connect_fake(fake);
	struct qmp_facts facts;

	(void)state;
	assert_true(discover(qmp, PATIENCE_MS, &facts, NULL));
	assert_int_equal(facts.cpus, 0);
	assert_null(facts.kernel);
	assert_null(facts.port);
	assert_false(facts.port_present);
	assert_false(facts.i8042);
	assert_false(facts.kvm);
	qmp_facts_clear(&facts);
	qmp_free(qmp);
	fake_qmp_free(fake);
}

/* Discovery gets all of the machine's answers, except the one to `request`. Only for silence does it wait in vain. */
static void check_hole(const char *request, const char *answer, const char *why)
{
	enum { ROWS = sizeof(machine) / sizeof(machine[0]) };
	struct fake_answer rows[ROWS + 1] = { { request, answer } };
	struct fake_qmp *fake;
	struct qmp_facts facts;
	struct qmp *qmp;
	char *error = NULL;

	memcpy(rows + 1, machine, sizeof(machine));
	fake = fake_qmp_new(&(struct fake_script) { .greeting = fake_greeting, .answers = rows });
	qmp = connect_fake(fake);
	assert_false(discover(qmp, answer ? PATIENCE_MS : SHORT_MS, &facts, &error));
	if (!strstr(error, why))
		fail_msg("%s: %s", request, error);
	assert_null(facts.port);
	free(error);
	qmp_free(qmp);
	fake_qmp_free(fake);
}

/* A question without an answer is not the same as the answer "there is none". */
static void test_no_answer_is_not_none(void **state)
{
	static const char *const requests[] = {
		"query-cpus-fast", "query-name", "query-version", "query-kvm", "query-chardev", "qom-list",
		QOM_GET("/machine", "kernel"), QOM_GET("/", "ktop-plugin"),
		QOM_GET("/machine/peripheral-anon/device[2]", "name"),
		"\"path\":\"/machine/unattached\"",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		check_hole(requests[i], NULL, "no answer within 0.05 s");
		check_hole(requests[i], "", "the connection was closed");
	}
}

static void test_no_cpu_is_no_machine(void **state)
{
	(void)state;
	check_hole("query-cpus-fast", "\"return\": []", "the machine of QEMU has no CPU");
}

static void take_nothing(struct qmp_talk *talk, const struct cJSON *answer)
{
	assert_null(answer);
	talk_end(talk);
}

static void check_refusal(struct qmp *qmp, const char *command, const char *why)
{
	struct qmp_talk talk;

	talk_begin(&talk, qmp, util_now(), PATIENCE_MS);
	talk_ask(&talk, command, NULL, -1, take_nothing);
	assert_true(loop_talk(&talk));
	assert_string_equal(talk.refusal, why);
	talk_clear(&talk);
}

/* An error that makes no sense is an answer, too. */
static void test_refusal_and_silence(void **state)
{
	static const struct fake_answer few[] = {
		{ "qmp_capabilities", "\"return\": {}" },
		{ "query-status", "\"return\": {\"status\": \"paused\"}" },
		{ "refused",
			"\"error\": {\"class\": \"GenericError\", \"desc\": \"not\\u001b today\"}" },
		{ "number", "\"error\": 7" },
		{ "object", "\"error\": {\"desc\": {}}" },
		{ "neither", "\"other\": 1" },
		{ NULL, NULL },
	};
	static const char none[] = "its answer has neither a result nor an error";
	struct fake_qmp *fake = fake_qmp_new(&(struct fake_script) {
		.greeting = fake_greeting, .answers = few });
	struct qmp *qmp = connect_fake(fake);
	struct qmp_talk talk;

	(void)state;
	assert_int_equal(qmp_state(qmp), VM_PAUSED);
	check_refusal(qmp, "refused", "not? today");
	check_refusal(qmp, "number", none);
	check_refusal(qmp, "object", none);
	check_refusal(qmp, "neither", none);
	talk_begin(&talk, qmp, util_now(), SHORT_MS);
	talk_ask(&talk, "ignored", NULL, -1, take_nothing);
	assert_false(loop_talk(&talk));
	assert_non_null(strstr(talk.error, "QMP ignored: no answer within"));
	assert_true(talk.silent);
	talk_clear(&talk);
	qmp_free(qmp);
	fake_qmp_free(fake);
}

/*
 * Before QMP is ready, a refusal is not a silence, either. `silent`: the number of the question that gets no answer;
 * then the clock leaps. 0: there is none.
 */
static void check_opening(const struct fake_answer *answers, int silent, const char *why)
{
	struct fake_qmp *fake = fake_qmp_new(&(struct fake_script) {
		.greeting = fake_greeting, .answers = answers });
	struct qmp *qmp = qmp_from_fd(fake_qmp_fd(fake), "fake", PATIENCE_MS);
	uint64_t later = 0;

	while (qmp_step(qmp, util_now() + later)) {
		assert_int_not_equal(qmp_phase(qmp), QMP_READY);
		loop_wait(qmp, 10);
		if (silent && fake_qmp_answered(fake) >= silent)
			later += PATIENCE_MS * NS_PER_MS;
	}
	if (!strstr(qmp_error(qmp), why))
		fail_msg("not %s, but %s", why, qmp_error(qmp));
	qmp_free(qmp);
	fake_qmp_free(fake);
}

static void test_opening_that_fails(void **state)
{
	const struct fake_answer odd[] = { { "", "\"error\": 7" }, { NULL, NULL } };
	const struct fake_answer refused[] = { { "", "\"error\": {\"desc\": \"no\"}" }, { NULL, NULL } };
	const struct fake_answer gone[] = { { "", "" }, { NULL, NULL } };
	const struct fake_answer second[] = { { "capabilities", "\"return\": {}" }, { NULL, NULL } };

	(void)state;
	check_opening(odd, 0, "QMP qmp_capabilities: QEMU refuses: its answer has neither a result");
	check_opening(refused, 0, "QMP qmp_capabilities: QEMU refuses: no; is this the QMP socket");
	check_opening(gone, 0, "QMP qmp_capabilities: the connection was closed");
	check_opening(odd + 1, 1, "QMP qmp_capabilities: no answer in time");
	check_opening(second, 2, "QMP query-status: no answer in time");
}

/* Another client holds the socket: QEMU accepts nobody else, and sends nothing. */
static void test_taken_socket(void **state)
{
	const char *path = scratch_path("taken.qmp");
	struct fake_qmp *fake = fake_qmp_listen(&(struct fake_script) {
		.greeting = fake_greeting, .answers = machine }, path);
	bool taken;
	struct qmp *first = loop_open(qmp_connect(path, PATIENCE_MS, &taken, NULL), NULL), *second;

	(void)state;
	assert_non_null(first);
	second = qmp_connect(path, SHORT_MS, &taken, NULL);
	assert_non_null(second);
	while (qmp_step(second, util_now()))
		loop_wait(second, 10);
	assert_non_null(strstr(qmp_error(second), "no greeting in 50 ms: another client has it"));
	qmp_free(second);
	qmp_free(first);
	fake_qmp_free(fake);
}

static void test_not_there(void **state)
{
	char *error = NULL;
	bool taken;

	(void)state;
	assert_null(qmp_connect(scratch_path("none.qmp"), SHORT_MS, &taken, &error));
	assert_false(taken);
	assert_non_null(strstr(error, "-qmp unix:"));
	free(error);
}

/* Another socket would not help. */
static void test_no_descriptor_is_left(void **state)
{
	struct rlimit before, none;
	char *error = NULL;
	bool taken;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_null(qmp_connect("some.qmp", SHORT_MS, &taken, &error));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_false(taken);
	assert_string_equal(error, "QMP socket some.qmp: Too many open files; let ktop have more files (ulimit -n)");
	free(error);
}

/* Other servers: they greet in another way, or in no line. */
static void test_no_qmp(void **state)
{
	static const char *const greetings[] = {
		"QEMU 7.2.22 monitor - type 'help' for more information\r\n(qemu) ", "login: ", "SSH-2.0-x\r\n",
		"{\"event\": \"x\"}\n", "{}\n", "\r\n(qemu) \r\n", "{nonsense\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(greetings) / sizeof(greetings[0]); i++) {
		int ends[2];
		char *error = NULL;

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
		assert_int_equal(write(ends[0], greetings[i], strlen(greetings[i])), strlen(greetings[i]));
		assert_null(loop_open(qmp_from_fd(ends[1], "fake", PATIENCE_MS), &error));
		assert_string_equal(error, "QMP socket fake: what it sends is no greeting; is it a QMP socket?");
		close(ends[0]);
		free(error);
	}
}

/* The guest's console is on a pty of a serial port, and not on one of the monitor. */
static void test_the_pty_of_the_guests_console(void **state)
{
	static const struct { const char *rows, *path; } cases[] = {
		{ "{\"label\":\"compat_monitor0\",\"filename\":\"pty:/dev/pts/1\"},"
			"{\"label\":\"serial1\",\"filename\":\"pty:/dev/pts/2\"},"
			"{\"label\":\"serial0\",\"filename\":\"pty:/dev/pts/3\"},"
			"{\"label\":\"con\",\"filename\":\"pty:/dev/pts/4\"}", "/dev/pts/3" },
		{ "{\"label\":\"con\",\"filename\":\"pty:/dev/pts/4\"}", "/dev/pts/4" },
		{ "{\"label\":\"gdb\",\"filename\":\"pty:/dev/pts/4\"}", NULL },
		{ "{\"label\":\"serial0\",\"filename\":\"vc\"},{\"label\":5,\"filename\":{}},7,null", NULL },
		{ "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text = util_format("{\"return\":[%s]}", cases[i].rows);
		char *path = qmp_serial_pty(cJSON_Parse(text));

		assert_int_equal(!path, !cases[i].path);
		if (path)
			assert_string_equal(path, cases[i].path);
		free(path);
		free(text);
	}
}

static void test_closed_without_greeting(void **state)
{
	int ends[2];
	char *error = NULL;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	close(ends[0]);
	assert_null(loop_open(qmp_from_fd(ends[1], "fake", PATIENCE_MS), &error));
	assert_non_null(strstr(error, "closed without a greeting"));
	free(error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_discovers),
		cmocka_unit_test(test_tcg_has_the_plugin), cmocka_unit_test(test_fragments),
		cmocka_unit_test(test_events_and_garbage_between),
		cmocka_unit_test(test_huge_lines),
		cmocka_unit_test(test_answers_of_wrong_types),
		cmocka_unit_test(test_no_answer_is_not_none),
		cmocka_unit_test(test_no_cpu_is_no_machine),
		cmocka_unit_test(test_refusal_and_silence),
		cmocka_unit_test(test_opening_that_fails),
		cmocka_unit_test(test_taken_socket),
		cmocka_unit_test(test_not_there), cmocka_unit_test(test_no_descriptor_is_left),
		cmocka_unit_test(test_no_qmp),
		cmocka_unit_test(test_the_pty_of_the_guests_console),
		cmocka_unit_test(test_closed_without_greeting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
