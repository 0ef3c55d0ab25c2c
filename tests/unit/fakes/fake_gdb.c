/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fake_gdb.h"

/* x86-64's, without those that nobody reads: 0 to 32. The comment has a register that there is not. */
#define WIDE(name) "<reg name=\"" name "\" bitsize=\"64\" type=\"int64\"/>"
#define NARROW(name) "<reg name=\"" name "\" bitsize=\"32\"/>"
static const char core[] =
	"<feature name=\"org.gnu.gdb.i386.core\">"
	WIDE("rax") WIDE("rbx") WIDE("rcx") WIDE("rdx") WIDE("rsi") WIDE("rdi") WIDE("rbp") WIDE("rsp")
	"<!-- " WIDE("none") " -->"
	WIDE("r8") WIDE("r9") WIDE("r10") WIDE("r11") WIDE("r12") WIDE("r13") WIDE("r14") WIDE("r15") WIDE("rip")
	NARROW("eflags") NARROW("cs") NARROW("ss") NARROW("ds") NARROW("es") NARROW("fs") NARROW("gs")
	WIDE("fs_base") WIDE("gs_base") WIDE("k_gs_base") WIDE("cr0") WIDE("cr2") WIDE("cr3") WIDE("cr4") WIDE("cr8")
	WIDE("efer") "</feature>";

enum { PIECE = 128, PAGE = 4096, RIP = 16, CS = 18, GS_BASE = 25, CR0 = 27, CR3 = 29, EFER = 32, NUMBERS = 33 };

void fake_gdb_say(struct fake_gdb *fake, const char *body)
{
	size_t size = strlen(body);
	char *packet = malloc(size + 8);
	unsigned sum = 0;
	int length;

	for (size_t i = 0; i < size; i++)
		sum += (uint8_t)body[i];
	length = sprintf(packet, "+$%s#%02x", body, sum & 0xff);
	if (!fake->mute && fake->fd >= 0 && send(fake->fd, packet, (size_t)length, MSG_NOSIGNAL) < 0)
		fake_gdb_end(fake);
	free(packet);
}

void fake_gdb_stop(struct fake_gdb *fake)
{
	if (fake->running)
		fake_gdb_say(fake, "T02thread:p01.01;");
	fake->running = false;
}

/* CPU 0 waits in user code's half; CPU 1 is in the kernel. */
static uint64_t register_of(const struct fake_gdb *fake, unsigned number)
{
	switch (number) {
	case 7:
		return fake->cpu ? UINT64_C(0xffffc90000000000) + FAKE_GDB_SP : 0x7ffe00001000;
	case RIP:
		return fake->cpu ? 0xffffffff81000010 : 0x401000;
	case CS:
		return fake->cpu ? 0x10 : 0x33;
	case GS_BASE:
		return 0xffff888000000000;
	case CR0:
		return 0x80050033;
	case CR3:
		return 0x1234000 + fake->cpu;
	case EFER:
		return 0xd01;
	default:
		return number;
	}
}

static void tell_registers(struct fake_gdb *fake)
{
	char body[2 * 8 * NUMBERS + 1], *at = body;

	for (unsigned i = 0; i < NUMBERS; i++) {
		uint64_t value = register_of(fake, i);

		for (unsigned byte = 0; byte < (i > RIP && i < 24 ? 4u : 8u); byte++)
			at += sprintf(at, "%02x", (unsigned)(value >> 8 * byte & 0xff));
	}
	fake_gdb_say(fake, body);
}

/* The stack's page, whose bytes count from 0; hlt before CPU 1's program counter. */
static void tell_memory(struct fake_gdb *fake, uint64_t address, uint64_t size)
{
	uint64_t page = UINT64_C(0xffffc90000000000) + FAKE_GDB_SP / PAGE * PAGE;
	char body[2 * PAGE + 1], *at = body;

	if (address == 0xffffffff8100000f && size == 1) {
		fake_gdb_say(fake, "90");
		return;
	}
	if (address < page || address + size > page + PAGE) {
		fake_gdb_say(fake, "E14");
		return;
	}
	for (uint64_t i = 0; i < size; i++)
		at += sprintf(at, "%02x", (unsigned)((address + i) & 0xff));
	fake_gdb_say(fake, body);
}

static void tell_file(struct fake_gdb *fake, const char *name)
{
	char whole[128], body[PIECE + 2];
	const char *offset = strchr(name, ':'), *text = whole;
	size_t from = offset ? strtoul(offset + 1, NULL, 16) : 0;

	snprintf(whole, sizeof(whole),
		"<target><architecture>%s</architecture><xi:include href=\"core.xml\"/></target>",
		fake->architecture);
	if (strncmp(name, "core.xml:", strlen("core.xml:")) == 0)
		text = core;
	from = from < strlen(text) ? from : strlen(text);
	snprintf(body, sizeof(body), "%c%.*s", strlen(text) - from > PIECE ? 'm' : 'l', PIECE, text + from);
	fake_gdb_say(fake, body);
}

static void answer(struct fake_gdb *fake, const char *is)
{
	uint64_t address, size;

	if (strcmp(is, "?") == 0)
		fake_gdb_say(fake, "T05thread:p01.01;");
	else if (strcmp(is, "qC") == 0)
		fake_gdb_say(fake, "QCp01.01");
	else if (strncmp(is, "qSupported", strlen("qSupported")) == 0)
		fake_gdb_say(fake, "PacketSize=1000;qXfer:features:read+;multiprocess+");
	else if (strncmp(is, "qXfer:features:read:", strlen("qXfer:features:read:")) == 0)
		tell_file(fake, is + strlen("qXfer:features:read:"));
	else if (strcmp(is, "qfThreadInfo") == 0)
		fake_gdb_say(fake, "mp01.01,p01.02");
	else if (strcmp(is, "qsThreadInfo") == 0)
		fake_gdb_say(fake, "l");
	else if (sscanf(is, "Hgp01.0%u", &fake->cpu) == 1)
		fake->cpu -= 1, fake_gdb_say(fake, "OK");
	else if (strcmp(is, "g") == 0)
		tell_registers(fake);
	else if (sscanf(is, "m%" SCNx64 ",%" SCNx64, &address, &size) == 2)
		tell_memory(fake, address, size);
	else if (strcmp(is, "c") == 0)
		fake->continues++, fake->running = true;
	else
		fake_gdb_say(fake, "");
}

static void take(struct fake_gdb *fake, char c)
{
	char *sum;

	if (fake->running) {			/* whatever byte it is, it only stops the machine */
		fake->stops++;
		fake_gdb_stop(fake);
		return;
	}
	if (c == '$')
		fake->size = 0;
	if (fake->size + 1 < sizeof(fake->packet))
		fake->packet[fake->size++] = c;
	fake->packet[fake->size] = '\0';
	sum = strchr(fake->packet, '#');
	if (fake->packet[0] != '$' || !sum || strlen(sum) < 3)
		return;
	*sum = '\0';
	fake->size = 0;
	answer(fake, fake->packet + 1);
}

void fake_gdb_step(struct fake_gdb *fake)
{
	char bytes[512];
	ssize_t got = fake->fd < 0 ? -1 : recv(fake->fd, bytes, fake->bounded ? 1 : sizeof(bytes), MSG_DONTWAIT);

	for (ssize_t i = 0; i < got; i++)
		take(fake, bytes[i]);
	if (got == 0)
		fake_gdb_end(fake);
}

int fake_gdb_begin(struct fake_gdb *fake)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0)
		abort();
	fake->fd = pair[1];
	if (!fake->architecture)
		fake->architecture = "i386:x86-64";
	fake->running = true;
	fake_gdb_stop(fake);
	return pair[0];
}

void fake_gdb_end(struct fake_gdb *fake)
{
	if (fake->fd >= 0)
		close(fake->fd);
	fake->fd = -1;
}
