/* What a person may set about the screen: colours, keys, columns, order, window. */
#ifndef CONFIG_H
#define CONFIG_H

#include <stdint.h>

#include "column.h"
#include "keys.h"
#include "query.h"
#include "theme.h"

struct config {
	struct theme theme;
	struct keys keys;
	struct columns columns;
	enum table_column sort;
	uint64_t window_ns;		/* 0: all */
};

/* How it is when nobody sets anything. */
void config_init(struct config *config);

#endif
