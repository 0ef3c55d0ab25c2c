/* SPDX-License-Identifier: MIT */
/*
 * What QEMU's interface for plugins has that we use, declared anew, as include/qemu/qemu-plugin.h of QEMU 7.2 and
 * 10.0 has it: no package brings that header. The symbols are in the program that loads us.
 */
#ifndef PLUGIN_QEMU_PLUGIN_H
#define PLUGIN_QEMU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;

struct qemu_plugin_info {		/* qemu_info_t */
	const char *target_name;
	struct {
		int min, cur;		/* versions of the interface that this QEMU takes */
	} version;
	bool system_emulation;
	struct {
		int smp_vcpus, max_vcpus;
	} system;
};

struct qemu_plugin_tb;
struct qemu_plugin_insn;

typedef void qemu_plugin_simple_cb(qemu_plugin_id_t id);
typedef void qemu_plugin_vcpu_cb(qemu_plugin_id_t id, unsigned vcpu);
typedef void qemu_plugin_tb_cb(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void qemu_plugin_data_cb(qemu_plugin_id_t id, void *data);

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_cb *cb);
void qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_cb *cb);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_tb_cb *cb);
void qemu_plugin_register_vcpu_idle_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_cb *cb);
void qemu_plugin_register_vcpu_resume_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_cb *cb);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_data_cb *cb, void *data);

enum { QEMU_PLUGIN_READS_REGISTERS = 1 };	/* QEMU_PLUGIN_CB_R_REGS, which 7.2 does not heed */
typedef void qemu_plugin_udata_cb(unsigned vcpu, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_plugin_udata_cb *cb, int registers,
	void *data);

/* Takes all of these back, once no CPU runs in one, and calls `cb` then. */
void qemu_plugin_reset(qemu_plugin_id_t id, qemu_plugin_simple_cb *cb);

uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);

/* What QEMU calls and reads. */
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_plugin_info *info, int count,
	char **words);
extern QEMU_PLUGIN_EXPORT int qemu_plugin_version;

#endif
