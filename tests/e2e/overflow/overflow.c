/* SPDX-License-Identifier: MIT */
/*
 * For tests/e2e/linux_nmi, which has no PMU: each NMI from outside becomes an overflow of ktop.ko's counter on
 * that CPU. A thread on CPU 0 works, half of its time with interrupts off. Each stack that ktop.ko walks by itself is
 * also walked by the kernel's unwinder, for comparison.
 */
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/mm_types.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <asm/msr.h>
#include <asm/nmi.h>
#include <asm/tsc.h>
#include <asm/unwind.h>

static bool clock;
module_param(clock, bool, 0444);
MODULE_PARM_DESC(clock, "the counter is perf's cpu-clock, which overflows by itself; else it never does");

/* How many NMIs there were; how many of them in user mode, in the kernel's entry code, in ktop.ko. */
static unsigned int nmis, in_user, in_entry, in_ktop;
module_param(nmis, uint, 0444);
module_param(in_user, uint, 0444);
module_param(in_entry, uint, 0444);
module_param(in_ktop, uint, 0444);

/* How many stacks ktop.ko walked by itself; on how many of them the kernel's unwinder disagrees. */
static unsigned int walked, unlike;
module_param(walked, uint, 0444);
module_param(unlike, uint, 0444);

/* True: the drainer's address space is its own. The kernel charges to the owner what is mapped there. */
static bool owned;
module_param(owned, bool, 0444);

static unsigned long (*lookup)(const char *name);
static struct module *(*module_at)(unsigned long address);
static void (*overflow)(struct perf_event *event, struct perf_sample_data *data,
	struct pt_regs *regs);
static u32 (*orc_walk)(const struct pt_regs *interrupted, u8 *frames);
static struct perf_event_attr *counted, before;
static struct perf_event event;		/* that overflows */
static struct module *ktop;		/* stays as long as this */
static struct task_struct **drainer;	/* its */
static unsigned long entry_begin, entry_end;
static struct task_struct *worker;

/* They differ, so that the compiler does not merge them into one. */
static unsigned int masked_rounds, open_rounds;

static noinline void overflow_masked(u64 end)
{
	while (rdtsc() < end)
		WRITE_ONCE(masked_rounds, masked_rounds + 1);
}

static noinline void overflow_open(u64 end)
{
	while (rdtsc() < end)
		WRITE_ONCE(open_rounds, open_rounds + 1);
}

static int overflow_work(void *unused)
{
	while (!kthread_should_stop()) {
		local_irq_disable();
		overflow_masked(rdtsc() + 3 * tsc_khz);
		local_irq_enable();
		overflow_open(rdtsc() + 3 * tsc_khz);
		schedule_timeout_interruptible(1);
	}
	return 0;
}

/* The kernel's own walk must give the same return addresses, and behind the last one the program's registers. */
static bool alike(struct pt_regs *regs, const u8 *frames, u32 count)
{
	struct unwind_state state;

	unwind_start(&state, current, regs, NULL);
	for (u32 at = 1; !unwind_done(&state); at++) {
		struct pt_regs *entry = unwind_get_entry_regs(&state, NULL);
		unsigned long pc = unwind_get_return_address(&state);

		if (entry || unwind_error(&state))
			return entry && user_mode(entry) && !unwind_error(&state) && at == count;
		if (at == count || memcmp(frames + 8 * at, &pc, sizeof(pc)) != 0)
			return false;
		unwind_next_frame(&state);
	}
	return false;
}

static void compare(struct pt_regs *regs)
{
	static u8 frames[8 * 64];	/* NMIs come to one CPU */
	u32 count = orc_walk(regs, frames);

	if (!count)
		return;
	walked++;
	if (alike(regs, frames, count))
		return;
	unlike++;
	pr_err("overflow: at %pS, %u frames: the kernel's unwinder says otherwise\n", (void *)regs->ip, count);
}

static bool in_entry_code(const struct pt_regs *regs)
{
	return entry_begin <= regs->ip && regs->ip < entry_end;
}

static void count(struct pt_regs *regs)
{
	const struct module *module = user_mode(regs) ? NULL : module_at(regs->ip);

	nmis++;
	in_user += user_mode(regs);
	in_entry += in_entry_code(regs);
	in_ktop += module && strcmp(module->name, "ktop") == 0;
}

static int take_nmi(unsigned int type, struct pt_regs *regs)
{
	count(regs);
	if (!user_mode(regs) && !in_entry_code(regs))
		compare(regs);
	if (!clock)
		overflow(&event, NULL, regs);
	return NMI_HANDLED;
}

static int find(void)
{
	struct kprobe probe = { .symbol_name = "kallsyms_lookup_name" };
	int error = register_kprobe(&probe);

	if (error)
		return error;
	lookup = (void *)probe.addr;
	unregister_kprobe(&probe);
	overflow = (void *)lookup("ktop:counter_overflow");
	counted = (void *)lookup("ktop:counted");
	orc_walk = (void *)lookup("ktop:orc_walk");
	module_at = (void *)lookup("__module_address");
	entry_begin = lookup("__entry_text_start");
	entry_end = lookup("__entry_text_end");
	drainer = (void *)lookup("ktop:drainer");
	return overflow && counted && orc_walk && module_at && entry_begin && drainer ? 0 : -ENOENT;
}

/* The counters to come. */
static void change_event(void)
{
	before = *counted;
	counted->type = PERF_TYPE_SOFTWARE;
	counted->config = clock ? PERF_COUNT_SW_CPU_CLOCK : PERF_COUNT_SW_DUMMY;
}

static int __init begin(void)
{
	int error = find();

	if (error)
		return error;
	preempt_disable();
	ktop = module_at((unsigned long)overflow);
	error = ktop && try_module_get(ktop) ? 0 : -ENOENT;
	preempt_enable();
	if (error)
		return error;
	worker = kthread_create(overflow_work, NULL, "overflow");
	if (IS_ERR(worker) || register_nmi_handler(NMI_LOCAL, take_nmi, 0, "overflow")) {
		module_put(ktop);
		return -ENOMEM;
	}
	owned = (*drainer)->mm && (*drainer)->mm->owner == *drainer;
	change_event();
	kthread_bind(worker, 0);
	wake_up_process(worker);
	return 0;
}

static void __exit end(void)
{
	unregister_nmi_handler(NMI_LOCAL, "overflow");
	kthread_stop(worker);
	*counted = before;
	module_put(ktop);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("a test of ktop.ko");
