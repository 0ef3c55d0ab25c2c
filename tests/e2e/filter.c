/* SPDX-License-Identifier: MIT */
/* Sends itself messages through a filter that Linux translates while it runs: a BPF program, called `multiplies`. */
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TURNS = 1000 };

static int load(void)
{
	static const char licence[] = "MIT";
	static struct bpf_insn code[TURNS + 2];
	union bpf_attr program = {
		.prog_type = BPF_PROG_TYPE_SOCKET_FILTER, .insns = (uintptr_t)code, .insn_cnt = TURNS + 2,
		.license = (uintptr_t)licence, .prog_name = "multiplies",
	};

	code[0] = (struct bpf_insn) { .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 1 };
	for (int i = 1; i <= TURNS; i++)
		code[i] = (struct bpf_insn) { .code = BPF_ALU64 | BPF_MUL | BPF_K, .imm = 3 };
	code[TURNS + 1] = (struct bpf_insn) { .code = BPF_JMP | BPF_EXIT };
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &program, sizeof(program));
}

int main(void)
{
	int filter = load(), pair[2];
	char byte = 0;

	if (filter < 0 || socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0 ||
			setsockopt(pair[0], SOL_SOCKET, SO_ATTACH_BPF, &filter, sizeof(filter)) != 0) {
		perror("filter");
		return 1;
	}
	while (send(pair[1], &byte, 1, 0) == 1 && recv(pair[0], &byte, 1, 0) == 1)
		;
	return 1;
}
