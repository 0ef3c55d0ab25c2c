/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "debug_file.h"
#include "sym_elf.h"

/* ---- debuginfod ---- */

enum { FILES_MAX = 256 };		/* the most that are asked for */

static const char program[] = "debuginfod-find";

struct wanted {
	struct build_id build_id;
	char *source;			/* the source file's path; NULL: its debug file is wanted */
	enum debuginfod_state state;
	char *path;			/* with DEBUGINFOD_FOUND */
};

struct debuginfod {
	struct wanted wanted[FILES_MAX];
	size_t count;
	struct wanted *current;		/* being fetched; NULL: nothing */
	pid_t pid;
	int output;			/* the end of a pipe from the fetch */
	char answer[PATH_MAX + 1];	/* what the fetch has written so far */
	size_t size;
};

bool debuginfod_possible(char **error)
{
	const char *servers = getenv("DEBUGINFOD_URLS");

	return (servers && *servers) || util_fail(error, "--debuginfod: there is no server to ask: "
		"DEBUGINFOD_URLS is not set; set it, or leave the option out");
}

struct debuginfod *debuginfod_new(void)
{
	struct debuginfod *debuginfod = util_alloc(sizeof(*debuginfod));

	debuginfod->output = -1;
	return debuginfod;
}

/* Ends the fetch, killing it if it still runs. Returns its exit status. */
static int end(struct debuginfod *debuginfod)
{
	int status = 0;

	close(debuginfod->output);
	debuginfod->output = -1;
	kill(debuginfod->pid, SIGKILL);
	while (waitpid(debuginfod->pid, &status, 0) < 0 && errno == EINTR)
		;
	debuginfod->current = NULL;
	return status;
}

void debuginfod_free(struct debuginfod *debuginfod)
{
	if (!debuginfod)
		return;
	if (debuginfod->current)
		end(debuginfod);
	for (size_t i = 0; i < debuginfod->count; i++) {
		free(debuginfod->wanted[i].source);
		free(debuginfod->wanted[i].path);
	}
	free(debuginfod);
}

/* ---- the process ---- */

/* In the child, after fork: only async-signal-safe calls. The child is killed when the thread that forked it ends. */
static void become(char *const *words, int output, pid_t parent)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	if (null < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		return;
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (dup2(null, 0) == 0 && dup2(output, 1) == 1 && dup2(null, 2) == 2)
		execvp(words[0], words);
}

static bool start(struct debuginfod *debuginfod, struct wanted *wanted)
{
	char id[2 * sizeof(wanted->build_id.bytes) + 1] = "";
	char *words[] = { (char *)program, (char[]) { "debuginfo" }, id, NULL, NULL };
	pid_t parent = getpid();
	int ends[2];

	for (size_t i = 0; i < wanted->build_id.size; i++)
		snprintf(id + 2 * i, 3, "%02x", wanted->build_id.bytes[i]);
	if (wanted->source) {
		words[1] = (char[]) { "source" };
		words[3] = wanted->source;
	}
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return false;
	debuginfod->pid = fork();
	if (debuginfod->pid == 0) {
		become(words, ends[1], parent);
		_exit(127);
	}
	close(ends[1]);
	if (debuginfod->pid < 0) {
		close(ends[0]);
		return false;
	}
	debuginfod->output = ends[0];
	debuginfod->size = 0;
	debuginfod->current = wanted;
	return true;
}

/* Reads the answer of the fetch, the file's path on a line, as far as it has come. At its end, takes it. */
static void listen(struct debuginfod *debuginfod)
{
	struct wanted *wanted = debuginfod->current;
	ssize_t got;
	char *line = debuginfod->answer;

	do {
		got = read(debuginfod->output, line + debuginfod->size,
			sizeof(debuginfod->answer) - 1 - debuginfod->size);
		debuginfod->size += got > 0 ? (size_t)got : 0;
	} while (got > 0 || (got < 0 && errno == EINTR));
	if (got < 0 && errno == EAGAIN)
		return;
	line[debuginfod->size] = '\0';
	line[strcspn(line, "\n")] = '\0';
	wanted->state = DEBUGINFOD_NONE;
	if (end(debuginfod) == 0 && line[0] == '/') {
		wanted->path = util_copy(line, strlen(line));
		wanted->state = DEBUGINFOD_FOUND;
	}
}

/* ---- what is wanted ---- */

static bool is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* NULL: there are too many. */
static struct wanted *have_wanted(struct debuginfod *debuginfod, const struct build_id *id, const char *source)
{
	struct wanted *wanted = debuginfod->wanted;

	for (; wanted < debuginfod->wanted + debuginfod->count; wanted++)
		if (!build_id_contradicts(&wanted->build_id, id) && is_same(wanted->source, source))
			return wanted;
	if (debuginfod->count == FILES_MAX)
		return NULL;
	debuginfod->count++;
	*wanted = (struct wanted) { .build_id = *id, .source = source ? util_copy(source, strlen(source)) : NULL };
	return wanted;
}

static enum debuginfod_state find(struct debuginfod *debuginfod, const struct build_id *build_id, const char *source,
	const char **path)
{
	struct wanted *wanted = build_id_known(build_id) ?
		have_wanted(debuginfod, build_id, source) : NULL;

	if (!wanted)
		return DEBUGINFOD_NONE;
	if (debuginfod->current)
		listen(debuginfod);
	if (wanted->state == DEBUGINFOD_ASKING && !debuginfod->current &&
			!start(debuginfod, wanted))
		wanted->state = DEBUGINFOD_NONE;
	*path = wanted->path;
	return wanted->state;
}

enum debuginfod_state debuginfod_find(struct debuginfod *debuginfod,
	const struct build_id *build_id, const char **path)
{
	return find(debuginfod, build_id, NULL, path);
}

/* A path is a part of a URL. */
static bool is_plain(const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+~,@=";

	return path[0] == '/' && strlen(path) < PATH_MAX && path[strspn(path, plain)] == '\0';
}

enum debuginfod_state debuginfod_find_source(struct debuginfod *debuginfod,
	const struct build_id *build_id, const char *source, const char **path)
{
	return is_plain(source) ? find(debuginfod, build_id, source, path) : DEBUGINFOD_NONE;
}

/* ---- debug file ---- */

enum { WALK_MAX = 1 << 16 };		/* the most files of a modules' folder that are looked at */

struct search {
	const struct debug_folders *folders;
	const struct debug_object *object;
	struct budget *budget;
	char *remark;
	size_t remark_size;
	int fd;				/* the result; -1: nothing so far */
};

/* ---- one file ---- */

static void tell_unused(const char *path, const char *why, char *remark, size_t size)
{
	char *text = util_format("%s is not used: %s; give the one of the same build", path, why);
	char *printable = util_printable(text, strlen(text));

	snprintf(remark, size, "%s", printable);
	free(printable);
	free(text);
}

/* Returns the file if it is the right one; else closes it and returns -1. */
static int check(struct search *search, int fd, const char *path)
{
	const struct build_id *wanted = &search->object->build_id;
	struct elf_identity identity;

	if (sym_elf_identify(fd, &identity, search->budget)) {
		bool own = build_id_known(&identity.build_id) && build_id_known(wanted) &&
			!build_id_contradicts(&identity.build_id, wanted);
		const char *why = identity.lines ? "it is of another build" : identity.damage;

		if (own && identity.lines)
			return fd;
		if (why)
			tell_unused(path, why, search->remark, search->remark_size);
	}
	close(fd);
	return -1;
}

int debug_file_try(const char *path, const struct build_id *build_id, struct budget *budget,
	char *remark, size_t size)
{
	const struct debug_object object = { .fd = -1, .build_id = *build_id };
	struct search search = {
		.object = &object, .budget = budget, .remark = remark, .remark_size = size,
	};
	int fd = util_file_read(AT_FDCWD, path, 0, NULL);

	return fd < 0 ? -1 : check(&search, fd, path);
}

static bool is_found(const struct search *search)
{
	return search->fd >= 0;
}

static void try(struct search *search, const char *path)
{
	int fd = util_file_read(AT_FDCWD, path, 0, NULL);

	search->fd = fd < 0 ? -1 : check(search, fd, path);
}

/* ---- places ---- */

/* May a text from the guest be a part of a path? It must not lead elsewhere. */
static bool is_part(const char *name)
{
	return name && *name && !strchr(name, '/') && strcmp(name, ".") != 0 &&
		strcmp(name, "..") != 0 && strlen(name) < 256;
}

/* ".build-id/ab/cdef.debug", in fresh memory. */
static char *build_id_path(const struct build_id *id)
{
	char digits[2 * sizeof(id->bytes) + 1] = "";

	for (size_t i = 0; i < id->size; i++)
		snprintf(digits + 2 * i, 3, "%02x", id->bytes[i]);
	return util_format(".build-id/%.2s/%s.debug", digits, digits + 2);
}

/* Tries `part` (fresh memory, freed here) in each folder. */
static void try_below(struct search *search, char *part)
{
	const struct debug_folders *folders = search->folders;
	const char *const roots[] = { folders->own, folders->system };
	char *path;

	for (size_t i = 0; i < 2 && !is_found(search); i++) {
		if (!roots[i])
			continue;
		path = util_format("%s/%s", roots[i], part);
		try(search, path);
		free(path);
	}
	if (!is_found(search) && folders->sysroot) {
		char *inside = util_format("%s/%s", DEBUG_SYSTEM, part);
		int fd = sysroot_open(folders->sysroot, inside, strlen(inside), &path);

		search->fd = fd < 0 ? -1 : check(search, fd, path);
		free(path);
		free(inside);
	}
	free(part);
}

/*
 * Follows .gnu_debuglink of the object's own file: beside that file, in its .debug, and at its place in the
 * folders.
 */
static void try_link(struct search *search)
{
	const struct debug_object *object = search->object;
	struct elf_identity identity;
	char *folder, *path;
	const char *end = object->path ? strrchr(object->path, '/') : NULL;

	if (object->fd < 0 || !object->path ||
			!sym_elf_identify(object->fd, &identity, search->budget) ||
			!is_part(identity.link))
		return;
	folder = end ? util_copy(object->path, (size_t)(end - object->path)) : util_copy(".", 1);
	path = util_format("%s/%s", folder, identity.link);
	try(search, path);
	free(path);
	path = util_format("%s/.debug/%s", folder, identity.link);
	if (!is_found(search))
		try(search, path);
	free(path);
	if (!is_found(search) && folder[0] == '/')
		try_below(search, util_format("%s/%s", folder + 1, identity.link));
	free(folder);
}

/* ---- the kernel's and its modules' ---- */

static void try_kernel(struct search *search)
{
	const char *version = search->object->version;

	try_below(search, util_copy("vmlinux", 7));
	if (!is_part(version))
		return;
	if (!is_found(search))
		try_below(search, util_format("boot/vmlinux-%s", version));
	if (!is_found(search))
		try_below(search, util_format("lib/modules/%s/vmlinux", version));
}

/* True for "snd-timer.ko" and "snd-timer.ko.debug" of the module snd_timer. */
static bool is_of_module(const char *file, const char *module)
{
	for (; *module; file++, module++)
		if (*file != *module && !(*file == '-' && *module == '_'))
			return false;
	return strcmp(file, ".ko") == 0 || strcmp(file, ".ko.debug") == 0;
}

static void walk(struct search *search, const char *root)
{
	char *path = util_format("%s/lib/modules/%s", root, search->object->version);
	FTS *tree = fts_open((char *const[]) { path, NULL }, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;

	for (int i = 0; tree && i < WALK_MAX && !is_found(search); i++) {
		entry = fts_read(tree);
		if (!entry)
			break;
		if (entry->fts_info == FTS_F &&
			is_of_module(entry->fts_name, search->object->name))
			try(search, entry->fts_path);
	}
	if (tree)
		fts_close(tree);
	free(path);
}

static void try_module(struct search *search)
{
	const struct debug_object *object = search->object;

	if (!is_part(object->name))
		return;
	try_below(search, util_format("%s.ko", object->name));
	if (!is_part(object->version))
		return;
	if (!is_found(search) && search->folders->own)
		walk(search, search->folders->own);
	if (!is_found(search) && search->folders->system)
		walk(search, search->folders->system);
}

int debug_file_open(const struct debug_folders *folders, const struct debug_object *object,
	struct budget *budget, char *remark, size_t size)
{
	struct search search = {
		.folders = folders, .object = object, .budget = budget,
		.remark = remark, .remark_size = size, .fd = -1,
	};

	if (!build_id_known(&object->build_id))
		return -1;
	try_below(&search, build_id_path(&object->build_id));
	if (!is_found(&search))
		try_link(&search);
	if (!is_found(&search) && object->kind == DEBUG_KERNEL)
		try_kernel(&search);
	if (!is_found(&search) && object->kind == DEBUG_MODULE)
		try_module(&search);
	if (!is_found(&search) && object->kind == DEBUG_PROGRAM && is_part(object->name))
		try_below(&search, util_format("%s.debug", object->name));
	return search.fd;
}

/*
 * The name is a path of the guest's system. Only the part from ".dwz/" on counts, which lies below the
 * debug folder.
 */
int debug_file_open_shared(const struct debug_folders *folders, const char *name,
	const struct build_id *build_id, struct budget *budget)
{
	const struct debug_object object = { .fd = -1, .build_id = *build_id };
	const char *below = strstr(name, "/.dwz/");
	char remark[1];
	struct search search = {
		.folders = folders, .object = &object, .budget = budget,
		.remark = remark, .remark_size = sizeof(remark), .fd = -1,
	};

	if (!build_id_known(build_id))
		return -1;
	try_below(&search, build_id_path(build_id));
	if (!is_found(&search) && below && !strstr(below, ".."))
		try_below(&search, util_copy(below + 1, strlen(below + 1)));
	return search.fd;
}

/* ---- the sysroot ---- */

/* True for a path that begins at the root and does not lead above it. */
static bool is_path(const char *path, size_t size)
{
	if (size == 0 || path[0] != '/' || memchr(path, '\0', size))
		return false;
	for (size_t at = 0; at + 2 < size; at++)
		if (memcmp(path + at, "/..", 3) == 0)
			return false;
	return true;
}

static int open_below(const char *folder, const char *name)
{
	const struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	int root = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	long fd = root < 0 ? -1 : syscall(SYS_openat2, root, name, &how, sizeof(how));

	if (root >= 0)
		close(root);
	return (int)fd;
}

/* Opens it for reading once it is known to be a regular file: opening a pipe or a device may wait for ever. */
static int open_found(int place, char **found)
{
	char *link = util_format("/proc/self/fd/%d", place);
	int fd = util_file_read(AT_FDCWD, link, 0, NULL);

	*found = NULL;
	if (fd >= 0 && !(*found = realpath(link, NULL))) {
		close(fd);
		fd = -1;
	}
	free(link);
	return fd;
}

int sysroot_open(const char *folder, const char *path, size_t size, char **found)
{
	int place = -1, fd = -1;
	char *name;

	*found = NULL;
	if (is_path(path, size)) {
		name = util_copy(path, size);
		place = open_below(folder, name);
		free(name);
	}
	if (place >= 0) {
		fd = open_found(place, found);
		close(place);
	}
	return fd;
}
