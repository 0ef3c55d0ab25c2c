/* SPDX-License-Identifier: MIT */
/*
 * The greeting asks what the machine is: the stub's features, the target description file by file, the CPUs; and where
 * its RAM is.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "gdb_stub_state.h"

static void ask_file(struct gdb_stub *stub)
{
	gdb_ask(stub, GDB_ASK_FILE, 0, "qXfer:features:read:%s:%zx,7fb",
		stub->file ? stub->target.files[stub->file - 1] : "target.xml", stub->text_size);
}

void gdb_greet(struct gdb_stub *stub)
{
	gdb_ask(stub, GDB_ASK_FEATURES, 0, "qSupported:multiprocess+");
}

static void take_features(struct gdb_stub *stub, const char *body)
{
	if (strstr(body, "qXfer:features:read+"))
		ask_file(stub);
	else
		gdb_fail(stub, "the stub does not describe its registers");
}

static void end_file(struct gdb_stub *stub)
{
	stub->text[stub->text_size] = '\0';
	gdb_target_read(&stub->target, stub->text);
	stub->text_size = 0;
	if (stub->file++ < stub->target.file_count) {
		ask_file(stub);
		return;
	}
	stub->cpu_target = gdb_target_name(&stub->target) ? target_find(gdb_target_name(&stub->target)) : NULL;
	if (stub->cpu_target)
		gdb_ask(stub, GDB_ASK_THREADS, 0, "qfThreadInfo");
	else
		gdb_fail(stub, "a CPU that is not known here: x86_64, i386, riscv64 and aarch64 are");
}

/* An answer is 'm' and a part of the file, or 'l' and its last part. */
static void take_file(struct gdb_stub *stub, const char *body, size_t size)
{
	if ((body[0] != 'm' && body[0] != 'l') || size > GDB_TEXT - stub->text_size) {
		gdb_fail(stub, "the description of its registers cannot be read");
		return;
	}
	if (stub->text == NULL)
		stub->text = util_alloc(GDB_TEXT + 1);
	memcpy(stub->text + stub->text_size, body + 1, size - 1);
	stub->text_size += size - 1;
	if (body[0] == 'm' && size > 1)
		ask_file(stub);
	else
		end_file(stub);
}

static bool is_id(const char *id)
{
	size_t size = strspn(id, "p.0123456789abcdefABCDEF");

	return size && id[size] == '\0' && size < sizeof(((struct gdb_cpu *)NULL)->id);
}

/* ---- CPUs ---- */

static void ask_for_ram(struct gdb_stub *stub)
{
	gdb_ask(stub, GDB_ASK_PHYSICAL, 0, GDB_PHYSICAL "0");
}

/* An answer is 'm' and ids with commas between them. 'l': there are no more. */
static void take_threads(struct gdb_stub *stub, char *body)
{
	char *rest = NULL;

	if (body[0] == 'l' && stub->cpu_count) {
		ask_for_ram(stub);
		return;
	}
	if (body[0] != 'm') {
		gdb_fail(stub, "the stub does not tell its CPUs");
		return;
	}
	if (stub->cpus == NULL)
		stub->cpus = util_alloc(GDB_CPUS * sizeof(*stub->cpus));
	for (char *id = strtok_r(body + 1, ",", &rest); id && stub->cpu_count < GDB_CPUS;
			id = strtok_r(NULL, ",", &rest))
		if (is_id(id))
			strcpy(stub->cpus[stub->cpu_count++].id, id);
	if (stub->cpu_count < GDB_CPUS)
		gdb_ask(stub, GDB_ASK_THREADS, 0, "qsThreadInfo");
	else
		ask_for_ram(stub);
}

/* ---- RAM ---- */

/* A stub that takes physical addresses is asked where there is RAM. */
static void take_physical(struct gdb_stub *stub, const char *body)
{
	if (strcmp(body, "OK") == 0)
		gdb_ask_monitor(stub, GDB_ASK_MAP, 0, RAM_MAP_COMMAND);
	else
		gdb_go_on(stub);
}

static void take_map(struct gdb_stub *stub, const char *body)
{
	stub->obeys = strcmp(body, "OK") == 0;
	ram_map_finish(&stub->map, gdb_stub_arch(stub));
	gdb_go_on(stub);
}

void gdb_take_greeting(struct gdb_stub *stub, enum gdb_question question, char *body, size_t size)
{
	if (question == GDB_ASK_FEATURES)
		take_features(stub, body);
	else if (question == GDB_ASK_FILE)
		take_file(stub, body, size);
	else if (question == GDB_ASK_THREADS)
		take_threads(stub, body);
	else if (question == GDB_ASK_PHYSICAL)
		take_physical(stub, body);
	else
		take_map(stub, body);
}
