/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "agent/vm/ram/ram_file.h"
#include "machine_memory.h"
#include "qmp.h"
#include "qmp_discover.h"

enum { COPIES_MOST = RAM_RANGES, COPY_TIMES = 10, STEP_MS = 50 };

struct copy {				/* a file with a range of the memory */
	int fd;
	uint64_t from, size;
};

struct machine_memory {
	struct ram_file *shared;	/* NULL: QEMU shares none; then: */
	unsigned layout;
	struct copy copies[COPIES_MOST];
	uint32_t count;
	uint64_t end;
	struct qmp_facts facts;		/* owned */
};

/* ---- QEMU ---- */

struct asking {
	struct qmp *qmp;
	int timeout_ms;
};

/* Steps until `done`, for so long. False: the time is over, or the connection is gone. */
static bool wait_for(const struct asking *asking, bool (*done)(const struct qmp *qmp), int ms)
{
	const uint64_t end = util_now() + (uint64_t)ms * NS_PER_MS;
	struct pollfd socket = { .fd = qmp_fd(asking->qmp), .events = POLLIN };
	bool goes_on = true;

	while (goes_on && !done(asking->qmp) && util_now() < end) {
		poll(&socket, 1, STEP_MS);
		goes_on = qmp_step(asking->qmp, util_now());
	}
	return done(asking->qmp);
}

static bool is_ready(const struct qmp *qmp)
{
	return qmp_phase(qmp) == QMP_READY || qmp_phase(qmp) == QMP_FAILED;
}

/* Takes over `arguments`. Returns the answer's "return"; the caller frees *answer. NULL: QEMU refuses, or is silent. */
static const cJSON *ask(const struct asking *asking, const char *command, cJSON *arguments, int ms, cJSON **answer)
{
	qmp_request(asking->qmp, command, arguments, -1);
	*answer = wait_for(asking, qmp_has_answer, ms) ? qmp_take_answer(asking->qmp) : NULL;
	return cJSON_GetObjectItemCaseSensitive(*answer, "return");
}

/* Of its "target", such as "x86_64". */
static void find_arch(const struct asking *asking, char *arch, size_t size)
{
	cJSON *answer;
	const char *name = talk_member(ask(asking, "query-target", NULL, asking->timeout_ms, &answer), "arch");

	util_print(arch, size, "%s", name ? name : "");
	cJSON_Delete(answer);
}

static bool find_ranges(const struct asking *asking, const char *arch, struct ram_map *map)
{
	cJSON *arguments = cJSON_CreateObject(), *answer;
	const cJSON *said;

	cJSON_AddStringToObject(arguments, "command-line", RAM_MAP_COMMAND);
	said = ask(asking, "human-monitor-command", arguments, asking->timeout_ms, &answer);
	if (cJSON_IsString(said)) {
		ram_map_take(map, said->valuestring, strlen(said->valuestring));
		ram_map_take(map, "\n", 1);
		ram_map_finish(map, arch);
	}
	cJSON_Delete(answer);
	return map->count;
}

/* A file that has no name: it is gone with its descriptor. */
static int nameless_file(const char *folder)
{
	char *path = util_format("%s/.ktop-memory-XXXXXX", folder);
	int fd = mkostemp(path, O_CLOEXEC);

	if (fd >= 0)
		unlink(path);
	free(path);
	return fd;
}

static bool copy_range(struct machine_memory *memory, const struct asking *asking, const char *folder,
	const struct ram_range *range, char **error)
{
	const uint64_t size = range->last - range->from + 1;
	cJSON *arguments = cJSON_CreateObject(), *answer;
	struct copy *copy = &memory->copies[memory->count];
	char *path;
	struct stat is;
	bool done;

	*copy = (struct copy) { .fd = nameless_file(folder), .from = range->from, .size = size };
	if (copy->fd < 0) {
		cJSON_Delete(arguments);
		return util_fail(error, "%s: no copy of the machine's memory: %s; %s", folder, strerror(errno),
			util_write_remedy(errno));
	}
	memory->count++;
	path = util_format("/proc/%d/fd/%d", (int)getpid(), copy->fd);
	cJSON_AddNumberToObject(arguments, "val", (double)range->from);
	cJSON_AddNumberToObject(arguments, "size", (double)size);
	cJSON_AddStringToObject(arguments, "filename", path);
	free(path);
	done = ask(asking, "pmemsave", arguments, COPY_TIMES * asking->timeout_ms, &answer);
	cJSON_Delete(answer);
	if (!done || fstat(copy->fd, &is) != 0 || (uint64_t)is.st_size != size)
		return util_fail(error, "the machine's memory was not read: QEMU did not write a copy of it; is there "
			"room for %" PRIu64 " MiB at %s, and is QEMU yours? Else give it memory that it shares: "
			"-object memory-backend-memfd,share=on", size >> 20, folder);
	return true;
}

static bool copy_all(struct machine_memory *memory, const struct asking *asking, const struct ram_map *map,
	const char *folder, char **error)
{
	for (uint32_t i = 0; i < map->count; i++)
		if (!copy_range(memory, asking, folder, &map->ranges[i], error))
			return false;
	return true;
}

/* Of a machine's RAM, QEMU's map leaves out what changes: below 1 MiB, and where firmware lies. */
enum { RAM_UNTOLD = 4 << 20 };

/* Is this file the memory that the map tells of, laid out in this way? Some of a machine's memory may not be in it. */
static bool is_laid_out(const struct ram_file *shared, unsigned layout, const struct ram_map *map)
{
	uint8_t byte;

	for (uint32_t i = 0; i < map->count; i++)
		if (!ram_file_read(shared, layout, map->ranges[i].from, &byte, 1) ||
				!ram_file_read(shared, layout, map->ranges[i].last, &byte, 1))
			return false;
	return true;
}

/* Opens the file that QEMU shares, if it is the machine's memory, all of it, and no more. */
static bool open_shared(struct machine_memory *memory, const struct asking *asking, const char *arch,
	const struct ram_map *map)
{
	struct ram_file *shared = ram_file_open(qmp_fd(asking->qmp), arch);
	uint64_t told = 0;

	for (uint32_t i = 0; i < map->count; i++)
		told += map->ranges[i].last - map->ranges[i].from + 1;
	if (shared && ram_file_size(shared) >= told && ram_file_size(shared) - told <= RAM_UNTOLD)
		for (unsigned i = 0; i < ram_file_layouts(shared) && !memory->shared; i++)
			if (is_laid_out(shared, i, map)) {
				memory->shared = shared;
				memory->layout = i;
			}
	if (!memory->shared)
		ram_file_close(shared);
	return memory->shared;
}

/* What machine it is. Without an answer, nothing is known. */
static void discover(struct machine_memory *memory, const struct asking *asking)
{
	struct qmp_discovery *discovery = util_alloc(sizeof(*discovery));
	struct pollfd socket = { .fd = qmp_fd(asking->qmp), .events = POLLIN };

	discover_begin(discovery, asking->qmp, util_now(), asking->timeout_ms);
	while (!talk_step(&discovery->talk, util_now())) {
		poll(&socket, 1, STEP_MS);
		qmp_step(asking->qmp, util_now());
	}
	memory->facts = discovery->facts;
	discovery->facts = (struct qmp_facts) { .name = NULL };
	discover_clear(discovery);
	free(discovery);
}

static bool fill(struct machine_memory *memory, const struct asking *asking, const char *folder, char **error)
{
	struct ram_map map = { .count = 0 };
	char arch[16];

	if (!wait_for(asking, is_ready, 3 * asking->timeout_ms) || qmp_phase(asking->qmp) == QMP_FAILED)
		return util_fail(error, "%s", qmp_error(asking->qmp) ? qmp_error(asking->qmp) :
			"QMP: no answer in time: QEMU hangs, or the host is busy; try again");
	discover(memory, asking);
	find_arch(asking, arch, sizeof(arch));
	if (!find_ranges(asking, arch, &map))
		return util_fail(error, "the machine's memory was not read: QEMU does not say where it has some; try "
			"again");
	memory->end = map.ranges[map.count - 1].last + 1;
	return open_shared(memory, asking, arch, &map) || copy_all(memory, asking, &map, folder, error);
}

/* ---- all ---- */

struct machine_memory *machine_memory_of_qmp(struct qmp *qmp, const char *folder, int timeout_ms, char **error)
{
	struct machine_memory *memory = util_alloc(sizeof(*memory));
	const struct asking asking = { .qmp = qmp, .timeout_ms = timeout_ms };

	if (fill(memory, &asking, folder, error))
		return memory;
	machine_memory_free(memory);
	return NULL;
}

struct machine_memory *machine_memory_of_vm(const char *path, const char *folder, int timeout_ms, char **error)
{
	bool taken;
	struct qmp *qmp = qmp_connect(path, timeout_ms, &taken, error);
	struct machine_memory *memory = qmp ? machine_memory_of_qmp(qmp, folder, timeout_ms, error) : NULL;

	qmp_free(qmp);
	return memory;
}

struct machine_memory *machine_memory_of_file(const char *path, char **error)
{
	struct machine_memory *memory;
	struct stat is;
	int fd = util_file_read(AT_FDCWD, path, 0, NULL);

	if (fd < 0 || fstat(fd, &is) != 0) {
		util_fail(error, "%s: not opened: %s; %s", path, strerror(errno), util_open_remedy(errno,
			"give a file with the machine's memory, as QEMU's pmemsave writes it"));
		return NULL;
	}
	memory = util_alloc(sizeof(*memory));
	memory->copies[memory->count++] = (struct copy) { .fd = fd, .size = (uint64_t)is.st_size };
	memory->end = (uint64_t)is.st_size;
	return memory;
}

void machine_memory_free(struct machine_memory *memory)
{
	ram_file_close(memory->shared);
	qmp_facts_clear(&memory->facts);
	for (uint32_t i = 0; i < memory->count; i++)
		close(memory->copies[i].fd);
	free(memory);
}

const struct qmp_facts *machine_memory_facts(const struct machine_memory *memory)
{
	return &memory->facts;
}

uint64_t machine_memory_size(const struct machine_memory *memory)
{
	uint64_t size = memory->shared ? ram_file_size(memory->shared) : 0;

	for (uint32_t i = 0; i < memory->count; i++)
		size += memory->copies[i].size;
	return size;
}

uint64_t machine_memory_limit(const struct machine_memory *memory)
{
	return memory->end;
}

bool machine_memory_read(const void *context, uint64_t physical, void *to, size_t size)
{
	const struct machine_memory *memory = context;

	if (memory->shared)
		return ram_file_read(memory->shared, memory->layout, physical, to, size);
	for (uint32_t i = 0; i < memory->count; i++) {
		const struct copy *copy = &memory->copies[i];

		if (physical >= copy->from && physical - copy->from < copy->size &&
				size <= copy->size - (physical - copy->from))
			return pread(copy->fd, to, size, (off_t)(physical - copy->from)) == (ssize_t)size;
	}
	return false;
}
