/* SPDX-License-Identifier: MIT */
/*
 * `silent FOLDER`: a file system (FUSE) in that folder, with one file, `program`, of 8 KiB. Its second half is code
 * that loops for ever. Its first half, the head, is never given out by this server. Runs the code and serves the file
 * until it is ended. Prints which part was asked for: "code", "head".
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096, FILE_NODE = 2 };

static void answer(int port, unsigned long long unique, int error, const void *body, size_t size)
{
	struct fuse_out_header head = {
		.len = (unsigned)(sizeof(head) + size), .error = -error, .unique = unique,
	};
	struct iovec parts[] = { { &head, sizeof(head) }, { (void *)body, size } };

	if (writev(port, parts, 2) < 0)
		perror("silent: an answer was refused");
}

static struct fuse_attr attributes(unsigned long long node)
{
	return (struct fuse_attr) {
		.ino = node, .nlink = 1, .size = node == FILE_NODE ? 2 * PAGE : 0,
		.mode = node == FILE_NODE ? S_IFREG | 0755 : S_IFDIR | 0755,
	};
}

static void on_read(int port, unsigned long long unique, const struct fuse_read_in *want)
{
	static unsigned char code[PAGE];

	puts(want->offset < PAGE ? "head" : "code");
	if (want->offset < PAGE)
		return;
	for (int i = 0; i < PAGE; i += 2)
		memcpy(code + i, "\xeb\xfe", 2);	/* jmp to itself */
	answer(port, unique, 0, code, want->size < PAGE ? want->size : PAGE);
}

static void serve(int port, const struct fuse_in_header *head)
{
	struct fuse_init_out begin = { .major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = PAGE };
	struct fuse_entry_out entry = { .nodeid = FILE_NODE, .attr = attributes(FILE_NODE), .attr_valid = 60,
		.entry_valid = 60 };
	struct fuse_attr_out attr = { .attr = attributes(head->nodeid), .attr_valid = 60 };
	struct fuse_open_out open = { .fh = 1 };

	switch (head->opcode) {
	case FUSE_INIT:
		answer(port, head->unique, 0, &begin, sizeof(begin));
		break;
	case FUSE_LOOKUP:
		answer(port, head->unique, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		answer(port, head->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		answer(port, head->unique, 0, &open, sizeof(open));
		break;
	case FUSE_READ:
		on_read(port, head->unique, (const struct fuse_read_in *)(head + 1));
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		answer(port, head->unique, ENOSYS, NULL, 0);
	}
}

/* Running the program reads only the page with the code. */
static int run(const char *folder)
{
	char path[4096];
	void *code;
	int file;

	snprintf(path, sizeof(path), "%s/program", folder);
	file = open(path, O_RDONLY);
	code = file < 0 ? MAP_FAILED : mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, PAGE);
	if (code == MAP_FAILED || madvise(code, PAGE, MADV_RANDOM) != 0) {
		perror("silent: the program cannot be run");
		return 1;
	}
	__asm__ volatile("jmp *%0" :: "r"(code));
	return 1;
}

int main(int count, char **words)
{
	static _Alignas(8) char request[1 << 20];
	int port = open("/dev/fuse", O_RDWR);
	char how[100];

	setlinebuf(stdout);
	snprintf(how, sizeof(how), "fd=%d,rootmode=40000,user_id=0,group_id=0", port);
	if (count != 2 || port < 0 || mount("silent", words[1], "fuse", MS_NODEV, how) != 0) {
		perror("silent: no file system");
		return 1;
	}
	if (fork() == 0) {
		close(port);
		return run(words[1]);
	}
	while (read(port, request, sizeof(request)) > 0)
		serve(port, (const struct fuse_in_header *)request);
	return 0;
}
