#include "config.h"

static const uint64_t second = 1000000000u;

void config_init(struct config *config)
{
	*config = (struct config) {
		.theme = theme_standard,
		.keys = keys_standard,
		.columns = columns_standard,
		.sort = COLUMN_SELF,
		.window_ns = 10 * second,
	};
}
