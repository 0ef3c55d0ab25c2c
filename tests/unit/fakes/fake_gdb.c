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

/* aarch64's general registers are 0 to 33; these three have numbers of their own. */
enum { ARM_SP = 31, ARM_PC, ARM_STATE, ARM_NUMBERS, ARM_TCR = 300, ARM_TTBR1 = 305, ARM_SP_EL0 = 310 };
static const char arm_core[] = WIDE("SP_EL0\" regnum=\"310") WIDE("TCR_EL1\" regnum=\"300")
	WIDE("TTBR1_EL1\" regnum=\"305");

/* riscv64's are 0 to 32; these have numbers of their own, and there are more than anybody counts. */
enum { RISCV_SP = 2, RISCV_PC = 32, RISCV_NUMBERS, RISCV_PRIV = 69, RISCV_SATP = 454 };
static const char riscv_core[] =
	WIDE("priv\" regnum=\"69") WIDE("satp\" regnum=\"454") WIDE("far\" regnum=\"4000") WIDE("none");

enum { DEVICE = 0x08000000, ROOT = 0x41234000, TABLES = 0x41300000, LEVELS = 4 };
enum { PIECE = 128, PAGE = 4096, STACK_SIZE = 16384 };
enum { RIP = 16, CS = 18, GS_BASE = 25, KERNEL_GS_BASE = 26, CR0 = 27, CR3 = 29, EFER = 32, NUMBERS = 33 };

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
	fake->waits = true;
	free(packet);
}

void fake_gdb_stop(struct fake_gdb *fake)
{
	if (fake->running)
		fake_gdb_say(fake, "T02thread:p01.01;");
	fake->running = false;
}

static uint64_t sp_of(const struct fake_gdb *fake)
{
	return fake->sp ? fake->sp : FAKE_GDB_STACKS + FAKE_GDB_SP;
}

/* In EL1, with addresses of 48 bits. */
static uint64_t arm_register_of(const struct fake_gdb *fake, unsigned number)
{
	switch (number) {
	case ARM_SP:
		return fake->cpu ? sp_of(fake) : 0xfffffff00000;
	case ARM_PC:
		return !fake->cpu ? 0x401000 : fake->pc ? fake->pc : 0xffff800008081234;
	case ARM_STATE:
		return fake->cpu ? 5 : 0;
	case ARM_TCR:
		return 0xf5b5503510;
	case ARM_TTBR1:
		return ROOT | UINT64_C(1) << 48;
	case ARM_SP_EL0:
		return fake->cpu && !fake->task ? FAKE_GDB_ARM_TASK : fake->task;
	default:
		return number;
	}
}

static uint64_t riscv_register_of(const struct fake_gdb *fake, unsigned number)
{
	switch (number) {
	case RISCV_SP:
		return fake->cpu ? sp_of(fake) : 0x3ffff000;
	case RISCV_PC:
		return fake->cpu ? fake->pc : 0x10400;
	case RISCV_PRIV:
		return fake->cpu ? fake->privilege : 0;
	case RISCV_SATP:
		return UINT64_C(8) << 60 | 0x81234;
	default:
		return number;
	}
}

/* CPU 0 waits in user code's half; CPU 1 is in the kernel. */
static uint64_t register_of(const struct fake_gdb *fake, unsigned number)
{
	switch (number) {
	case 7:
		return fake->cpu ? sp_of(fake) : FAKE_GDB_PROGRAM;
	case RIP:
		return fake->cpu ? 0xffffffff81000010 : 0x401000;
	case CS:
		return fake->cpu ? 0x10 : 0x33;
	case GS_BASE:
		return 0xffff888000000000;
	case KERNEL_GS_BASE:
		return fake->cpu ? fake->program_base : number;
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
	char body[2 * 8 * (NUMBERS + ARM_NUMBERS) + 1], *at = body;

	for (unsigned i = 0; i < (fake->arm ? ARM_NUMBERS : fake->riscv ? RISCV_NUMBERS : (unsigned)NUMBERS); i++) {
		uint64_t value = fake->arm ? arm_register_of(fake, i) :
			fake->riscv ? riscv_register_of(fake, i) : register_of(fake, i);
		bool narrow = fake->arm ? i == ARM_STATE : !fake->riscv && i > RIP && i < 24;

		for (unsigned byte = 0; byte < (narrow ? 4u : 8u); byte++)
			at += sprintf(at, "%02x", (unsigned)(value >> 8 * byte & 0xff));
	}
	fake_gdb_say(fake, body);
}

static void tell_bytes(struct fake_gdb *fake, const void *bytes, size_t size)
{
	char body[2 * PAGE + 1], *at = body;

	*at = '\0';
	for (size_t i = 0; i < size && i < PAGE; i++)
		at += sprintf(at, "%02x", ((const uint8_t *)bytes)[i]);
	fake_gdb_say(fake, body);
}

/* CPU 1's thread. False: the address is none of its record. */
static bool tell_task(struct fake_gdb *fake, uint64_t address, uint64_t size)
{
	const struct { uint32_t process, thread; uint64_t nothing, memory, nothing_either; char name[16]; } record = {
		.process = 100, .thread = 101, .memory = fake->memory, .name = "worker",
	};
	uint64_t task = fake->task ? fake->task : FAKE_GDB_TASK;
	uint64_t offset = address - ((fake->arm ? FAKE_GDB_ARM_TASK : FAKE_GDB_TASK) + 0x10);

	if (address == FAKE_GDB_POINTER && size == sizeof(task))
		tell_bytes(fake, &task, sizeof(task));
	else if (offset < sizeof(record) && size <= sizeof(record) - offset)
		tell_bytes(fake, (const char *)&record + offset, size);
	else
		return false;
	return true;
}

static bool is_page(const struct fake_gdb *fake, uint64_t address)
{
	uint64_t page = address / PAGE, stack = sp_of(fake) / PAGE;

	return page == stack || (fake->deep && page == stack + 1) || page == FAKE_GDB_DATA / PAGE ||
		(fake->link && page == fake->link / PAGE) || (fake->program_stack && page == FAKE_GDB_PROGRAM / PAGE);
}

/* The last words of a thread's stack: what the kernel keeps of the program that it was entered from. */
static void put_left(const struct fake_gdb *fake, uint64_t address, uint8_t *bytes, uint64_t size)
{
	const uint64_t words[] = { 0x401000, 0x33, 0x246, fake->left, 0x2b };

	if (fake->left && address >> 63 && (address + size) % STACK_SIZE == 0 && size >= sizeof(words))
		memcpy(bytes + size - sizeof(words), words, sizeof(words));
}

/* The stack's pages and one of data, whose bytes count from 0; hlt before CPU 1's program counter. */
static void tell_virtual(struct fake_gdb *fake, uint64_t address, uint64_t size)
{
	uint64_t unit = fake->loose ? PAGE : STACK_SIZE, top = (sp_of(fake) / unit + 1) * unit;
	uint8_t bytes[PAGE];

	fake->read = address;
	if (fake->device && address / PAGE == fake->device / PAGE) {
		fake->broken = true;
		fake_gdb_say(fake, "E14");
		return;
	}
	if (tell_task(fake, address, size))
		return;
	if (address == 0xffffffff8100000f && size == 1) {
		fake_gdb_say(fake, "90");
		return;
	}
	if (size > PAGE || !is_page(fake, address) || !is_page(fake, address + size - 1)) {
		fake_gdb_say(fake, "E14");
		return;
	}
	for (uint64_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(address + i);
	put_left(fake, address, bytes, size);
	if (fake->link && address < top && address + size == top && size >= sizeof(fake->link))
		memcpy(bytes + size - sizeof(fake->link), &fake->link, sizeof(fake->link));
	tell_bytes(fake, bytes, size);
}

/* ---- physical memory ---- */

static uint64_t ram_of(const struct fake_gdb *fake)
{
	return fake->arm ? 0x40000000 : 0x100000;
}

static const uint64_t others[] = { FAKE_GDB_POINTER, FAKE_GDB_TASK, FAKE_GDB_ARM_TASK, 0xffffffff81000000,
	0xffff800008081000, 0x40000000 };

/* UINT64_MAX: nothing is mapped there. */
static uint64_t translate(struct fake_gdb *fake, uint64_t page)
{
	bool mapped = is_page(fake, page);
	unsigned i;

	if (fake->device && page == fake->device / PAGE * PAGE)
		return DEVICE;
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		mapped |= page == others[i] / PAGE * PAGE;
	if (!mapped)
		return UINT64_MAX;
	for (i = 0; i < fake->frame_count && fake->frames[i] != page; i++)
		;
	if (i == FAKE_GDB_FRAMES)
		abort();
	fake->frames[i] = page;
	fake->frame_count += i == fake->frame_count;
	return ram_of(fake) + (uint64_t)i * PAGE;
}

/* ---- aarch64's page tables, of 4 KiB, for addresses of 48 bits ---- */

/* Is anything mapped among the addresses that begin with these bits? `level`: 0 is the last one. */
static bool has_pages(struct fake_gdb *fake, uint64_t prefix, unsigned level)
{
	uint64_t stack = sp_of(fake) / PAGE * PAGE;
	uint64_t pages[] = { stack, stack + PAGE, FAKE_GDB_DATA / PAGE * PAGE, fake->link };
	bool has = false;

	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		has |= (pages[i] & UINT64_C(0xffffffffffff)) >> (12 + 9 * level) == prefix &&
			translate(fake, pages[i] / PAGE * PAGE) != UINT64_MAX;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		has |= (others[i] & UINT64_C(0xffffffffffff)) >> (12 + 9 * level) == prefix;
	return has;
}

static uint64_t table_of(struct fake_gdb *fake, uint64_t prefix, unsigned level)
{
	unsigned i = 0;

	if (level == 0 && fake->tables_on_device)
		return DEVICE;
	while (i < fake->table_count && (fake->tables[i].prefix != prefix || fake->tables[i].level != level))
		i++;
	if (i == FAKE_GDB_FRAMES)
		abort();
	fake->tables[i].prefix = prefix;
	fake->tables[i].level = level;
	fake->table_count += i == fake->table_count;
	return TABLES + (uint64_t)i * PAGE;
}

static void tell_entry(struct fake_gdb *fake, uint64_t address)
{
	uint64_t number = (address - TABLES) / PAGE, prefix = address % PAGE / 8, entry = 0;
	unsigned level = LEVELS - 1;

	if (address - TABLES < (uint64_t)fake->table_count * PAGE) {
		prefix |= fake->tables[number].prefix << 9;
		level = fake->tables[number].level;
	}
	if (has_pages(fake, prefix, level) && level)
		entry = table_of(fake, prefix, level - 1) | 3;
	else if (has_pages(fake, prefix, level))
		entry = translate(fake, prefix << 12 | UINT64_C(0xffff) << 48) | 3;
	tell_bytes(fake, &entry, sizeof(entry));
}

static void tell_memory(struct fake_gdb *fake, uint64_t address, uint64_t size)
{
	uint64_t frame = (address - ram_of(fake)) / PAGE;

	if (!fake->physical) {
		tell_virtual(fake, address, size);
	} else if (fake->arm && address >= ROOT && size == 8) {
		tell_entry(fake, address);
	} else if (address < ram_of(fake) || frame >= fake->frame_count) {
		fake->broken = true;
		fake_gdb_say(fake, "E14");
	} else {
		tell_virtual(fake, fake->frames[frame] + address % PAGE, size);
	}
}

static void print(struct fake_gdb *fake, const char *text)
{
	char body[512] = "O", *at = body + 1;

	for (; *text; text++)
		at += sprintf(at, "%02x", (unsigned char)*text);
	fake_gdb_say(fake, body);
}

/* A line may come in pieces. */
static void print_map(struct fake_gdb *fake)
{
	char line[128];

	print(fake, "FlatView #0\n AS \"I/O\", root: io\n  0000000000000000-ffffffffffffffff (prio 0, ram): trap\n");
	print(fake, "FlatView #1\n AS \"memory\", root: system\n");
	print(fake, "  0000000008000000-0000000008000fff (prio 0, i/o): gic_dist\n");
	print(fake, "  00000000fd000000-00000000fdffffff (prio 1, ram): vga.vram\n");
	snprintf(line, sizeof(line), "  %016" PRIx64 "-%016" PRIx64 " (prio 0, r", ram_of(fake),
		ram_of(fake) + FAKE_GDB_FRAMES * PAGE - 1);
	print(fake, line);
	print(fake, "am): the.ram\n");
	print(fake, "  0000000041000000-0000000041ffffff (prio 0, ram): the.ram @0000000001000000\n\n");
}

static void run_command(struct fake_gdb *fake, const char *digits)
{
	char line[128] = "", said[64];
	uint64_t page, physical;
	unsigned byte;

	for (size_t i = 0; i + 1 < sizeof(line) && sscanf(digits + 2 * i, "%2x", &byte) == 1; i++)
		line[i] = (char)byte;
	if (strcmp(line, "info mtree -f") == 0) {
		print_map(fake);
	} else if (strcmp(line, "cont") == 0 && fake->migrated) {
		print(fake, "Error: Migration is not finalized yet\r\n");
	} else if (strcmp(line, "cont") == 0) {
		fake->continues++, fake->running = true;
	} else if (sscanf(line, "gva2gpa %" SCNx64, &page) == 1) {
		physical = translate(fake, page);
		snprintf(said, sizeof(said), "gpa: %#" PRIx64 "\r\n", physical);
		print(fake, physical == UINT64_MAX ? "Unmapped\r\n" : said);
	} else if (strncmp(line, "cpu ", strlen("cpu ")) != 0) {
		print(fake, "unknown command\r\n");
	}
	fake_gdb_say(fake, "OK");
}

static void tell_file(struct fake_gdb *fake, const char *name)
{
	char whole[128], arm[4096] = "", body[PIECE + 2];
	const char *offset = strchr(name, ':'), *text = whole;
	size_t from = offset ? strtoul(offset + 1, NULL, 16) : 0;

	snprintf(whole, sizeof(whole),
		"<target><architecture>%s</architecture><xi:include href=\"core.xml\"/></target>",
		fake->architecture);
	for (unsigned i = 0, size = 0; i < (fake->arm ? ARM_NUMBERS : (unsigned)RISCV_NUMBERS); i++)
		size += (unsigned)snprintf(arm + size, sizeof(arm) - size, "<reg name=\"r%u\" bitsize=\"%u\"/>", i,
			fake->arm && i == ARM_STATE ? 32 : 64);
	if (strncmp(name, "core.xml:", strlen("core.xml:")) == 0)
		text = fake->arm ? strcat(arm, arm_core) : !fake->riscv ? core :
			fake->no_privilege ? arm : strcat(arm, riscv_core);
	from = from < strlen(text) ? from : strlen(text);
	snprintf(body, sizeof(body), "%c%.*s", strlen(text) - from > PIECE ? 'm' : 'l', PIECE, text + from);
	fake_gdb_say(fake, body);
}

static void tell_halted(struct fake_gdb *fake, unsigned cpu)
{
	char text[32];
	int size = snprintf(text, sizeof(text), "CPU#%u [%s]", cpu, fake->halted && cpu == 1 ? "halted " : "running");

	tell_bytes(fake, text, (size_t)size);
}

static void answer(struct fake_gdb *fake, const char *is)
{
	uint64_t address, size;
	unsigned number;

	if (strcmp(is, "?") == 0)
		fake_gdb_say(fake, "T05thread:p01.01;");
	else if (strcmp(is, "qC") == 0)
		fake_gdb_say(fake, "QCp01.01");
	else if (strcmp(is, "vCont?") == 0)
		fake_gdb_say(fake, "vCont;c;C;s;S");
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
	else if (fake->tells_halted && sscanf(is, "qThreadExtraInfo,p01.0%u", &number) == 1)
		tell_halted(fake, number - 1);
	else if (strcmp(is, "g") == 0)
		tell_registers(fake);
	else if (sscanf(is, "m%" SCNx64 ",%" SCNx64, &address, &size) == 2)
		tell_memory(fake, address, size);
	else if (fake->arm && sscanf(is, "p%x", &number) == 1)
		tell_bytes(fake, &(uint64_t) { arm_register_of(fake, number) }, sizeof(uint64_t));
	else if (fake->riscv && !fake->no_privilege && sscanf(is, "p%x", &number) == 1)
		tell_bytes(fake, &(uint64_t) { riscv_register_of(fake, number) }, sizeof(uint64_t));
	else if (strncmp(is, "qRcmd,", strlen("qRcmd,")) == 0 && !fake->secretive)
		run_command(fake, is + strlen("qRcmd,"));
	else if (sscanf(is, "Qqemu.PhyMemMode:%u", &number) == 1)
		fake->physical = number, fake_gdb_say(fake, "OK");
	else if (strcmp(is, "c") == 0)
		fake->continues++, fake->running = true, fake->broken |= fake->migrated;
	else
		fake_gdb_say(fake, "");
}

static void take(struct fake_gdb *fake, char c)
{
	bool dropped = fake->waits && c != '$';
	char *sum;

	fake->waits = fake->waits && c != '$' && c != '+';
	if (dropped)
		return;
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
	fake->packets++;
	answer(fake, fake->packet + 1);
}

void fake_gdb_step(struct fake_gdb *fake)
{
	char bytes[8192];
	ssize_t got = fake->fd < 0 ? -1 : recv(fake->fd, bytes, fake->bounded ? 1 : sizeof(bytes), MSG_DONTWAIT);

	fake->rounds += got > 0;
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
