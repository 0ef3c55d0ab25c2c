/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/budget.h"
#include "agent/base/job.h"
#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "agent/names/dwarf/sym_cfi.h"
#include "agent/names/files/debug_file.h"
#include "agent/names/files/image.h"
#include "agent/names/files/symbol_table.h"
#include "programs.h"

enum { NOTE_BYTES = 256 };

struct program_file {			/* has been read, is being read, or was refused */
	struct stat is;			/* the file as it was when it was read */
	bool reading;
	struct image *image;		/* NULL: refused */
	char *note, *refused;		/* as in struct program_found; NULL: nothing to say */
	bool starved;
	uint64_t boot;			/* the boot that asked for it last */
};

struct program_search {
	struct programs *programs;	/* held */
	struct program_search *next;	/* in the queue */
	uint64_t boot;
	char *name, *shown, *sysroot, *own;
	size_t size;			/* of the name */
	char **folders;			/* NULL-terminated; NULL */
	struct debug_folders debug;
	struct build_id build_id;
	struct program_found found;
	int copy;			/* likewise, until it is read */
	bool begun, done, left;		/* `done` and `left`: whichever is set second frees the search */
};

struct programs {
	struct budget *budget;		/* held */
	pthread_mutex_t lock;		/* guards what follows; never held during a wait for a file */
	pthread_cond_t changed;		/* a file has been read; only workers wait for it */
	unsigned holders;
	uint64_t boots;
	struct program_search *first, **last;	/* the queue of searches */
	int workers;
	struct program_file files[PROGRAMS_MAX];
	size_t count;
};

/* ---- one file, and what came of reading it ---- */

static void program_file_clear(struct program_file *file)
{
	image_free(file->image);
	free(file->note);
	free(file->refused);
	*file = (struct program_file) { 0 };
}

/* A stripped program's debug file has its symbols, too: takes that table if it has more. False: memory was short. */
static bool add_symbols(const struct debug_folders *folders, struct image *image, char *note)
{
	uint64_t refused = budget_refused(image->budget);
	int fd = debug_file_open(folders, &image->debug, image->budget, note, NOTE_BYTES);
	struct image *debug = fd < 0 ? NULL :
		image_read(fd, "its debug file", image->budget, NULL);

	if (debug && symbol_table_count(debug->table) > symbol_table_count(image->table)) {
		struct symbol_table *table = image->table;

		image->table = debug->table;
		debug->table = table;
	}
	if (!debug)
		image_add_bare(image);
	image_free(debug);
	return debug || budget_refused(image->budget) == refused;
}

/*
 * Reads the file and its debug file, which may take long. Takes over the descriptor; leaves `is` and `boot` to the
 * caller. A starved image has only the few symbols of the file itself. `alone`: it is a copy with holes, which nobody
 * can read again, and which lies in no folder with a debug file.
 */
static struct program_file program_file_read(int fd, const char *path, bool alone, const struct debug_folders *folders,
	struct budget *budget)
{
	uint64_t refused = budget_refused(budget);
	char note[NOTE_BYTES] = "";
	struct program_file file = { 0 };

	file.image = image_read(fd, path, budget, &file.refused);
	if (file.image && alone)
		file.image->debug.fd = -1;
	file.starved = file.image ? !add_symbols(folders, file.image, note) :
		budget_refused(budget) != refused;
	if (file.image && file.starved) {
		util_fail(&file.refused, "%s: its debug file is not read: memory is full; give more by "
			"--memory", path);
	} else if (file.image && symbol_table_count(file.image->table) == 0) {
		util_fail(&file.refused, "%s: it has no symbols; give the unstripped file", path);
		image_free(file.image);
		file.image = NULL;
	}
	file.note = note[0] ? util_copy(note, strlen(note)) : NULL;
	return file;
}

/* ---- the programs ---- */

static char *copy(const char *text)
{
	return text ? util_copy(text, strlen(text)) : NULL;
}

struct programs *programs_new(struct budget *budget)
{
	struct programs *programs = util_alloc(sizeof(*programs));

	programs->budget = budget_hold(budget);
	programs->holders = 1;
	programs->last = &programs->first;
	pthread_mutex_init(&programs->lock, NULL);
	pthread_cond_init(&programs->changed, NULL);
	return programs;
}

struct programs *programs_hold(struct programs *programs)
{
	pthread_mutex_lock(&programs->lock);
	programs->holders++;
	pthread_mutex_unlock(&programs->lock);
	return programs;
}

void programs_release(struct programs *programs)
{
	bool last;

	if (!programs)
		return;
	pthread_mutex_lock(&programs->lock);
	last = --programs->holders == 0;
	pthread_mutex_unlock(&programs->lock);
	if (!last)
		return;
	for (size_t i = 0; i < programs->count; i++)
		program_file_clear(&programs->files[i]);
	pthread_cond_destroy(&programs->changed);
	pthread_mutex_destroy(&programs->lock);
	budget_release(programs->budget);
	free(programs);
}

uint64_t programs_boot(struct programs *programs)
{
	uint64_t boot;

	pthread_mutex_lock(&programs->lock);
	boot = ++programs->boots;
	pthread_mutex_unlock(&programs->lock);
	return boot;
}

/* Removes a file. The last file moves to its place. */
static void forget(struct programs *programs, struct program_file *file)
{
	program_file_clear(file);
	*file = programs->files[--programs->count];
	programs->files[programs->count] = (struct program_file) { 0 };
}

void programs_retry(struct programs *programs)
{
	pthread_mutex_lock(&programs->lock);
	for (size_t i = programs->count; i-- > 0;)
		if ((!programs->files[i].image || programs->files[i].starved) &&
				!programs->files[i].reading)
			forget(programs, &programs->files[i]);
	pthread_mutex_unlock(&programs->lock);
}

/* ---- one file, in a worker ---- */

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_unchanged(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
		a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The entry of the file, once nobody is reading it; NULL: none. With the lock held; a worker may wait here. */
static struct program_file *find(struct programs *programs, const struct stat *is)
{
	for (size_t i = 0; i < programs->count; i++) {
		struct program_file *file = &programs->files[i];

		if (!is_same_file(&file->is, is))
			continue;
		if (!file->reading)
			return file;
		pthread_cond_wait(&programs->changed, &programs->lock);
		i = (size_t)-1;
	}
	return NULL;
}

/*
 * An entry for a new file. If there are too many, removes those that earlier boots asked for. NULL: there
 * is no room.
 */
static struct program_file *make_place(struct programs *programs, uint64_t boot)
{
	for (size_t i = 0; programs->count == PROGRAMS_MAX && i < programs->count; i++)
		if (programs->files[i].boot != boot && !programs->files[i].reading)
			forget(programs, &programs->files[i]);
	return programs->count < PROGRAMS_MAX ? &programs->files[programs->count++] : NULL;
}

/* Memory is short: drops the files that only earlier boots asked for. True: there were some. */
static bool forget_earlier(struct programs *programs, uint64_t boot)
{
	bool some = false;

	for (size_t i = programs->count; i-- > 0;)
		if (programs->files[i].boot != boot && programs->files[i].image) {
			forget(programs, &programs->files[i]);
			some = true;
		}
	return some;
}

static struct program_file *being_read(struct programs *programs, const struct stat *is)
{
	for (size_t i = 0; i < programs->count; i++)
		if (programs->files[i].reading && is_same_file(&programs->files[i].is, is))
			return &programs->files[i];
	return NULL;
}

/* Reads the file into its entry, which may move meanwhile. Called and left with the lock held; reads without it. */
static struct program_file *fill(struct program_search *search, struct program_file *place, const struct stat *is,
	int fd, const char *path)
{
	struct programs *programs = search->programs;
	int again = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	struct program_file file;

	program_file_clear(place);
	*place = (struct program_file) { .is = *is, .reading = true, .boot = search->boot };
	pthread_mutex_unlock(&programs->lock);
	file = program_file_read(fd, path, false, &search->debug, programs->budget);
	pthread_mutex_lock(&programs->lock);
	if (file.starved && again >= 0 && forget_earlier(programs, search->boot)) {
		pthread_mutex_unlock(&programs->lock);
		program_file_clear(&file);
		file = program_file_read(again, path, false, &search->debug, programs->budget);
		again = -1;
		pthread_mutex_lock(&programs->lock);
	}
	if (again >= 0)
		close(again);
	place = being_read(programs, is);
	file.is = *is;
	file.boot = search->boot;
	*place = file;
	pthread_cond_broadcast(&programs->changed);
	return place;
}

static void replace_text(char **what, const char *text)
{
	free(*what);
	*what = copy(text);
}

/* Takes the result for one file. What is wrong with a file is told once a boot. */
static void take(struct program_search *search, const struct program_file *file, bool first)
{
	struct program_found *found = &search->found;

	found->image = file->image ? image_share(file->image) : NULL;
	if (first && file->note)
		replace_text(&found->note, file->note);
	if (first && file->refused)
		replace_text(&found->refused, file->refused);
	if (file->image && !found->image) {
		free(found->refused);
		util_fail(&found->refused, "%s: not used: too many files are open; let ktop have more "
			"(ulimit -n)", file->image->path);
	}
	found->starved |= file->starved;
}

/*
 * Takes the result for the open file. If nobody has read the file, or it has changed since, reads it first. Takes
 * over `fd`.
 */
static void get(struct program_search *search, int fd, const char *path, const struct stat *is)
{
	struct programs *programs = search->programs;
	struct program_file *file;
	bool first;

	pthread_mutex_lock(&programs->lock);
	file = find(programs, is);
	first = !file || file->boot != search->boot || !is_unchanged(&file->is, is);
	if (!file)
		file = make_place(programs, search->boot);
	else if (is_unchanged(&file->is, is))
		close(fd);
	if (file && !is_unchanged(&file->is, is))
		file = fill(search, file, is, fd, path);
	else if (!file)
		close(fd);
	if (file) {
		file->boot = search->boot;
		take(search, file, first);
	} else {
		free(search->found.note);
		search->found.note = util_format("more than %d programs: functions of later ones "
			"have no names", PROGRAMS_MAX);
	}
	pthread_mutex_unlock(&programs->lock);
}

/* Takes the file if there is one, and if it is not of another build than the guest's. Takes over `fd` and `path`. */
static void try_file(struct program_search *search, int fd, char *path)
{
	struct program_found *found = &search->found;
	struct stat is;

	if (fd >= 0 && fstat(fd, &is) == 0)
		get(search, fd, path, &is);
	else if (fd >= 0)
		close(fd);
	if (found->image && build_id_contradicts(&found->image->build_id, &search->build_id)) {
		free(found->note);
		found->note = util_format("%s is not used: it is of another build than %s in the "
			"guest; give a copy of that",
			path, search->shown);
		image_free(found->image);
		found->image = NULL;
	}
	free(path);
}

/* The guest chose the base name: it must not lead out of the folder. */
static bool is_file_name(const char *base, size_t size)
{
	return size > 0 && size < 256 && !memchr(base, '\0', size) &&
		!(size <= 2 && memcmp(base, "..", size) == 0);
}

static void read_rules(struct program_search *search)
{
	const struct image *image = search->found.image;

	if (image)
		search->found.rules = sym_cfi_open_paid(fcntl(image->fd, F_DUPFD_CLOEXEC, 0), image->budget);
}

static void note_lost_rules(struct program_search *search)
{
	struct program_found *found = &search->found;
	const struct image *image = found->image;
	struct elf_identity identity;

	if (image && !found->rules && !found->note && sym_elf_identify(image->fd, &identity, image->budget) &&
			identity.frames)
		found->note = util_format("stacks that go through %s are short: %s; give the file as it was linked",
			image->path, identity.frames);
}

/* No other boot has the same copy. Nobody chose the file, so nothing is said about it. */
static void read_copy(struct program_search *search)
{
	struct program_file file = program_file_read(search->copy, search->shown, true, &search->debug,
		search->programs->budget);

	search->copy = -1;
	search->found.image = file.image;
	search->found.starved = file.starved;
	file.image = NULL;
	program_file_clear(&file);
	read_rules(search);
	if (search->found.image)
		image_forget_file(search->found.image);
}

static void run_search(struct program_search *search)
{
	const char *slash = memrchr(search->name, '/', search->size);
	const char *base = slash ? slash + 1 : search->name;
	size_t size = search->size - (size_t)(base - search->name);
	char *const *folder = search->folders;
	char *path;
	int fd;

	if (search->copy >= 0) {
		read_copy(search);
		return;
	}
	if (search->sysroot) {
		fd = sysroot_open(search->sysroot, search->name, search->size, &path);
		try_file(search, fd, path);
	}
	for (; !search->found.image && is_file_name(base, size) && folder && *folder; folder++) {
		path = util_format("%s/%.*s", *folder, (int)size, base);
		fd = util_file_read(AT_FDCWD, path, 0, NULL);
		try_file(search, fd, path);
	}
	read_rules(search);
	note_lost_rules(search);
}

/* ---- searches ---- */

static void free_search(struct program_search *search)
{
	struct programs *programs = search->programs;

	if (search->copy >= 0)
		close(search->copy);
	image_free(search->found.image);
	sym_cfi_close(search->found.rules);
	free(search->found.note);
	free(search->found.refused);
	for (char **folder = search->folders; folder && *folder; folder++)
		free(*folder);
	free(search->folders);
	free(search->name);
	free(search->shown);
	free(search->sysroot);
	free(search->own);
	free(search);
	programs_release(programs);
}

static struct program_search *next_search(struct programs *programs)
{
	struct program_search *search;

	pthread_mutex_lock(&programs->lock);
	search = programs->first;
	if (search) {
		programs->first = search->next;
		search->begun = true;
	} else {
		programs->workers--;
	}
	if (!programs->first)
		programs->last = &programs->first;
	pthread_mutex_unlock(&programs->lock);
	return search;
}

/* A worker's thread: runs searches until none waits. */
static void run(void *context)
{
	struct programs *programs = context;
	struct program_search *search;
	bool left;

	while ((search = next_search(programs))) {
		run_search(search);
		pthread_mutex_lock(&programs->lock);
		search->done = true;
		left = search->left;
		pthread_mutex_unlock(&programs->lock);
		if (left)
			free_search(search);
	}
}

static void release(void *context)
{
	programs_release(context);
}

static char **copy_folders(const char *const *folders)
{
	size_t count = 0;
	char **copies;

	while (folders && folders[count])
		count++;
	copies = util_alloc((count + 1) * sizeof(*copies));
	for (size_t i = 0; i < count; i++)
		copies[i] = copy(folders[i]);
	return copies;
}

struct program_search *programs_search(struct programs *programs, uint64_t boot,
	const struct program_clue *clue)
{
	static const struct job_work work = { .run = run, .free = release };
	struct program_search *search = util_alloc(sizeof(*search));
	bool more;

	search->programs = programs_hold(programs);
	search->boot = boot;
	search->name = util_copy(clue->name.bytes, clue->name.size);
	search->size = clue->name.size;
	search->shown = copy(clue->shown);
	search->build_id = clue->build_id;
	search->copy = clue->copy;
	search->folders = copy_folders(clue->folders);
	search->sysroot = copy(clue->debug.sysroot);
	search->own = copy(clue->debug.own);
	search->debug = (struct debug_folders) {
		.own = search->own, .sysroot = search->sysroot, .system = clue->debug.system,
	};
	pthread_mutex_lock(&programs->lock);
	*programs->last = search;
	programs->last = &search->next;
	more = programs->workers < PROGRAMS_AT_ONCE;
	programs->workers += more;
	pthread_mutex_unlock(&programs->lock);
	if (more)
		job_leave(job_new(&work, programs_hold(programs)));
	return search;
}

bool programs_done(struct program_search *search, struct program_found *found)
{
	bool done;

	pthread_mutex_lock(&search->programs->lock);
	done = search->done;
	pthread_mutex_unlock(&search->programs->lock);
	if (!done)
		return false;
	*found = search->found;
	search->found = (struct program_found) { 0 };
	free_search(search);
	return true;
}

/* Takes a search out of the queue that no worker has begun. With the lock held. */
static void unqueue(struct programs *programs, struct program_search *search)
{
	struct program_search **at = &programs->first;

	while (*at != search)
		at = &(*at)->next;
	*at = search->next;
	if (!*at)
		programs->last = at;
}

void programs_leave(struct program_search *search)
{
	struct programs *programs = search->programs;
	bool ours;

	pthread_mutex_lock(&programs->lock);
	search->left = true;
	if (!search->begun)
		unqueue(programs, search);
	ours = search->done || !search->begun;
	pthread_mutex_unlock(&programs->lock);
	if (ours)
		free_search(search);
}
