#include <stdbool.h>
#include <stdlib.h>

#include "kernel_names.h"
#include "spool.h"
#include "symbols.h"
#include "util.h"

enum { PIPE_MS = 30000 };		/* for the writer of a pipe: nm may take its time */

struct kernel_names {
	struct spool spool;
	struct symbols *symbols;	/* of no boot: those of boots share what it has read */
};

static bool load(struct kernel_names *names, const char *path, struct budget *budget, char **error)
{
	if (!spool_open(&names->spool, path, PIPE_MS, budget, error))
		return false;
	names->symbols = symbols_new(budget);
	return symbols_load_kernel(names->symbols, names->spool.path, error);
}

struct kernel_names *kernel_names_open(const char *path, struct budget *budget, char **error)
{
	struct kernel_names *names = util_alloc(sizeof(*names));

	names->spool.fd = -1;
	if (load(names, path, budget, error))
		return names;
	kernel_names_free(names);
	return NULL;
}

void kernel_names_free(struct kernel_names *names)
{
	if (!names)
		return;
	symbols_free(names->symbols);
	spool_close(&names->spool);
	free(names);
}

const char *kernel_names_path(const struct kernel_names *names)
{
	return names->spool.path;
}

struct symbols *kernel_names_take(struct kernel_names *names)
{
	return symbols_again(names->symbols, names->spool.path);
}
