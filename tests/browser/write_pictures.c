/* SPDX-License-Identifier: MIT */
/*
 * For tests/browser/pictures: writes pictures of sets whose sums are known into the folder that is given: small.svg and
 * small.html with hostile names and times, many.html with 100,000 stacks.
 */
#include <stdio.h>
#include <stdlib.h>

#include "agent/base/util.h"
#include "agent/formats/set_format.h"
#include "agent/samples/sample_set.h"
#include "tests/unit/agent/formats/hand_set.h"

enum { MANY = 100000 };

static bool write_one(const struct set_format *format, const struct sample_set *set, const char *folder,
	const char *name)
{
	char *path = util_format("%s/%s", folder, name), *error = NULL;
	struct set_writing writing = { .to = fopen(path, "w"), .title = "demo: 2 s" };
	bool ok = writing.to && format->write(set, &writing, &error) && fclose(writing.to) == 0;

	if (!ok)
		fprintf(stderr, "%s: %s\n", path, error ? error : "cannot be written");
	free(error);
	free(path);
	return ok;
}

int main(int count, char **words)
{
	struct hand_set *small = hand_set_new(), *many = hand_set_new_large(MANY);
	const char *folder = count > 1 ? words[1] : ".";
	bool ok = write_one(&format_svg, &small->set, folder, "small.svg") &&
		write_one(&format_html, &small->set, folder, "small.html") &&
		write_one(&format_svg, &many->set, folder, "many.svg") &&
		write_one(&format_html, &many->set, folder, "many.html");

	if (ok)
		printf("{\"small\": %llu, \"many\": %llu}\n", (unsigned long long)small->set.weight,
			(unsigned long long)many->set.weight);
	hand_set_free(small);
	hand_set_free(many);
	return ok ? 0 : 1;
}
