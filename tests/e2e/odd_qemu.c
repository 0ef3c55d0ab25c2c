/* SPDX-License-Identifier: MIT */
/*
 * A QEMU whose QMP misbehaves from answer N on: it is silent, sends a byte now and then, or gives false answers. The
 * greeting is answer 0. Usage: odd_qemu SOCKET silent|drips|lies N. Its machine has no port, so ktop plugs one in.
 * Serves one client until standard input ends, then prints how many questions came.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/fakes/fake_machine.h"
#include "tests/unit/fakes/fake_qmp.h"

int main(int count, char **words)
{
	static const char *const oddities[] = { "fair", "silent", "drips", "lies" };
	struct machine machine = machine_pc;
	struct fake_script script = {
		.greeting = fake_greeting, .machine = machine_answer, .context = &machine,
	};
	struct fake_qmp *fake;
	char byte;

	if (count != 4)
		return 2;
	for (int odd = FAKE_FAIR; odd < FAKE_ODDITIES; odd++)
		if (strcmp(words[2], oddities[odd]) == 0)
			script.odd = (enum fake_oddity)odd;
	script.odd_from = atoi(words[3]);
	fake = fake_qmp_listen(&script, words[1]);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	printf("%d\n", fake_qmp_answered(fake));
	fake_qmp_free(fake);
	free(machine.text);
	return 0;
}
