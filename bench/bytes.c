/* SPDX-License-Identifier: MIT */
/* `bytes FILE name=value...` writes what such a guest sends into a file. */
#include <stdio.h>

#include "tests/unit/fakes/packets.h"
#include "setup.h"

int main(int argc, char **argv)
{
	FILE *file = argc > 1 ? fopen(argv[1], "w") : NULL;
	struct setup setup = setup_parse(argc - 1, argv + 1);
	struct world *world = world_new(&setup.world);
	struct traffic *traffic = traffic_new(world, &setup.traffic);
	struct packets *packets = traffic_bytes(traffic);

	if (!file) {
		fprintf(stderr, "usage: %s FILE name=value...\n", argv[0]);
		return 2;
	}
	traffic_hello(traffic);
	while (traffic_samples(traffic) < setup.samples) {
		traffic_turn(traffic);
		fwrite(packets->bytes, packets->size, 1, file);
		packets->size = 0;
	}
	traffic_free(traffic);
	world_free(world);
	return fclose(file) == 0 ? 0 : 1;
}
