/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* ktop.ko: the hook in a Linux kernel. From loading to unloading, it serves the port. */
#include <linux/buildid.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/i8042.h>
#include <linux/kthread.h>
#include <linux/log2.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/panic_notifier.h>
#include <linux/printk.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sched/prio.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/utsname.h>
#include <linux/vmalloc.h>

#include "counters.h"
#include "ktop.h"
#include "orc.h"
#include "port.h"
#include "port_file.h"
#include "private.h"
#include "symbols.h"
#include "tasks.h"
#include "text.h"
#include "timer.h"
#include "trace.h"
#include "tracepoints.h"
#include "wire.h"
#include "write_sample.h"

enum {
	RATE_MAX = 20000,		/* as in ktop.h */
	RING_MIN = 4,			/* KiB */
	RING_MAX = 1 << 20,		/* KiB */
	ROWS_MAX = 1 << 20,		/* as in ktop.h */
	MARK_MAX = 63,			/* bytes of a mark's text, as in ktop.h */
	FROM_MOUSE = 0x20,		/* bit of the status of the i8042: the byte came from the second port */
};

static unsigned int rate = 997;
module_param(rate, uint, 0444);
MODULE_PARM_DESC(rate, "samples per second on each CPU, 1 to 20000 (default 997)");

static unsigned int ring = 256;
module_param(ring, uint, 0444);
MODULE_PARM_DESC(ring, "KiB of buffer for each CPU and class, a power of two from 4 on (default 256)");

static unsigned int stack = 4096;
module_param(stack, uint, 0444);
MODULE_PARM_DESC(stack, "bytes of a program's stack in each sample, up to 8192; 0: frame pointers are followed in the "
	"guest (default 4096)");

static unsigned int processes = 1024, threads = 4096, objects = 512;
module_param(processes, uint, 0444);
MODULE_PARM_DESC(processes, "processes whose names are kept, a power of two (default 1024)");
module_param(threads, uint, 0444);
MODULE_PARM_DESC(threads, "threads whose names are kept, a power of two (default 4096)");
module_param(objects, uint, 0444);
MODULE_PARM_DESC(objects, "programs and libraries that are kept, a power of two (default 512)");

static char *port = "org.ktop.0";
module_param(port, charp, 0444);
MODULE_PARM_DESC(port, "name of the virtio-serial port (default org.ktop.0)");

static char *sampler = "timer";
module_param(sampler, charp, 0444);
MODULE_PARM_DESC(sampler, "timer; nmi: by the cycles that the CPU's PMU counts, where there is one; none: trace events "
	"alone (default timer)");

static bool plain_keys;
module_param(plain_keys, bool, 0444);
MODULE_PARM_DESC(plain_keys, "A and B alone start and stop, instead of with Ctrl and Alt");

static bool start;
module_param(start, bool, 0444);
MODULE_PARM_DESC(start, "sample from the beginning, without waiting for ktop");

static char *trace;
module_param(trace, charp, 0444);
MODULE_PARM_DESC(trace, "trace events that are on from the beginning, with start=1: words as of ktop ctl events, "
	"in double quotes, such as \"+sched +syscall\"");

static struct ktop *ktop;
static void *memory;
static struct port_file *port_file;
static struct task_struct *drainer;
static struct ktop *key_listener;	/* NULL: the filter of keys is not in place */

/* Irq off, with the controller's lock held. True: Linux drops the byte. */
static bool filter_keys(unsigned char byte, unsigned char status, struct serio *serio)
{
	return ktop_serio(key_listener, status & FROM_MOUSE ? 1 : 0, byte);
}

/* Gives PS/2 bytes to the hook before Linux' drivers get them. If another module does so, the log says it. */
static void keystrokes_start(struct ktop *ktop)
{
	key_listener = ktop;
	if (i8042_install_filter(filter_keys) == 0) {
		ktop_keys_heard(ktop);
		return;
	}
	key_listener = NULL;
	pr_warn("ktop: the key does nothing: another module filters the keyboard; "
		"use ktop's control commands\n");
}

static void keystrokes_stop(void)
{
	if (key_listener)
		i8042_remove_filter(filter_keys);
	key_listener = NULL;
}

/* ---- marks ---- */

/* Any user may write a text there, which marks that moment. A line's end is no part of it. */
static ssize_t mark(struct file *file, const char __user *bytes, size_t size, loff_t *at)
{
	static DEFINE_SPINLOCK(serial);		/* held for some microseconds */
	size_t used = min_t(size_t, size, MARK_MAX);
	char text[MARK_MAX + 1];
	bool marked;

	if (copy_from_user(text, bytes, used))
		return -EFAULT;
	if (!ktop_tracing(ktop, KTOP_EVENT_mark))
		return size;
	while (used && text[used - 1] == '\n')
		used--;
	text[used] = 0;
	spin_lock(&serial);
	tasks_traced(current);
	marked = ktop_mark(ktop, current->pid, text);
	spin_unlock(&serial);
	return marked ? size : -ENOSPC;
}

static const struct file_operations mark_file = { .owner = THIS_MODULE, .write = mark, .llseek = noop_llseek };
static struct miscdevice mark_device = {
	.minor = MISC_DYNAMIC_MINOR, .name = "ktop-mark", .fops = &mark_file, .mode = 0222,
};
static bool marks;			/* the device is there */

static void marks_start(void)
{
	int error = misc_register(&mark_device);

	marks = error == 0;
	if (error)
		pr_warn("ktop: programs cannot mark moments: no /dev/ktop-mark: %d\n", error);
}

static void marks_stop(void)
{
	if (marks)
		misc_deregister(&mark_device);
}

/* ---- the drainer ---- */

/*
 * The drainer's loop. A new task wakes it before the next drain is due, since a short program would be gone before its
 * name is read. The name is sent with the next drain.
 */
static void serve(void)
{
	bool more = false;

	while (!kthread_should_stop()) {
		s64 early = more ? 0 : ktop_drain_by(ktop) - ktop_port_clock();

		tasks_tell(ktop);
		if (early > (s64)TICK_NSEC) {
			tasks_wait(nsecs_to_jiffies(early));
			continue;
		}
		symbols_tell(ktop);
		more = ktop_drain(ktop);
		tracepoints_follow(ktop);
		cond_resched();
		if (!more)
			tasks_wait(1);		/* others run, too, however often a drain is due */
	}
}

static int drain(void *unused)
{
	int error = port_file_attach(port_file);

	set_user_nice(current, MIN_NICE);	/* a live view needs its samples soon */
	if (!error) {
		serve();
		port_file_detach(port_file);
		return 0;
	}
	pr_err("ktop: nothing is sent: no memory for the port: %d\n", error);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ);
	return 0;
}

static bool is_rows(unsigned int rows)
{
	return is_power_of_2(rows) && rows <= ROWS_MAX;
}

/* The hook takes 0 for the default. As a parameter of the module 0 is a mistake, so it is refused. */
static int check_parameters(void)
{
	if (rate < 1 || rate > RATE_MAX)
		pr_err("ktop: rate=%u: it is 1 to %u; see modinfo ktop\n", rate, RATE_MAX);
	else if (ring < RING_MIN || ring > RING_MAX || !is_power_of_2(ring))
		pr_err("ktop: ring=%u: it is a power of two, %u to %u; see modinfo ktop\n", ring,
			RING_MIN, RING_MAX);
	else if (stack > KTOP_PROGRAM_STACK_MAX)
		pr_err("ktop: stack=%u: it is at most %u; see modinfo ktop\n", stack, KTOP_PROGRAM_STACK_MAX);
	else if (!is_rows(processes) || !is_rows(threads) || !is_rows(objects))
		pr_err("ktop: processes=%u threads=%u objects=%u: each is a power of two, up to %u; see "
			"modinfo ktop\n", processes, threads, objects, ROWS_MAX);
	else if (!*port || strlen(port) > PORT_FILE_NAME_MAX)
		pr_err("ktop: port=%s: it has 1 to %u characters; see modinfo ktop\n", port,
			PORT_FILE_NAME_MAX);
	else if (strcmp(sampler, "timer") != 0 && strcmp(sampler, "nmi") != 0 && strcmp(sampler, "none") != 0)
		pr_err("ktop: sampler=%s: it is timer, nmi or none; see modinfo ktop\n", sampler);
	else
		return 0;
	return -EINVAL;
}

static u64 physical(const void *page)
{
	return (u64)vmalloc_to_pfn(page) << PAGE_SHIFT;
}

/* The rings show what came before the panic. Any context. */
static int panicked(struct notifier_block *block, unsigned long event, void *text)
{
	ktop_died(ktop, text);
	return NOTIFY_DONE;
}

static struct notifier_block panic_block = { .notifier_call = panicked, .priority = INT_MAX };

/* NULL: no memory. */
static struct ktop *make_hook(void)
{
	struct ktop_settings settings = {
		.rate = rate, .ring_size = ring * 1024, .plain_keys = plain_keys, .start = start,
		.nmi = strcmp(sampler, "nmi") == 0, .no_sampler = strcmp(sampler, "none") == 0,
		.processes = processes, .threads = threads, .objects = objects, .trace = trace,
	};
	struct ktop_facts facts = {
		.kernel = "Linux", .version = init_utsname()->release, .arch = init_utsname()->machine,
		.cpus = nr_cpu_ids, .clock_hz = NSEC_PER_SEC,
		.epoch_ns = ktime_get_real_ns() - ktime_get_mono_fast_ns(),
		.anchor = "_text", .anchor_address = private_address("_text"),
		.build_id = (void *)private_address("vmlinux_build_id"),
		.build_id_size = BUILD_ID_SIZE_MAX,
		.symbols = symbols_after, .numbers = tracepoints_number, .counters = counters_run,
		.untraced = tracepoints_start(), .physical = physical,
	};
	size_t size = ktop_memory_size(nr_cpu_ids, &settings);

	get_random_bytes(facts.boot_id, sizeof(facts.boot_id));
	memory = size ? __vmalloc(size, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN) : NULL;
	return memory ? ktop_init(&facts, &settings, port_file_transport(port_file), memory, size) :
		NULL;
}

static int __init begin(void)
{
	int error = check_parameters();

	if (!error)
		error = private_init();
	if (error)
		return error;
	text_init();
	orc_init();
	port_file = port_file_new(port);
	if (IS_ERR(port_file))
		return PTR_ERR(port_file);
	error = tasks_start();
	if (error)
		goto no_tasks;
	error = symbols_start();
	if (error)
		goto no_symbols;
	error = counters_start();
	if (error)
		goto no_counters;
	write_sample_init(min(stack, ring * 1024 / 4));	/* so that no sample takes over half a ring */
	ktop = make_hook();
	error = -ENOMEM;
	if (!ktop) {
		pr_err("ktop: no memory for rings of %u KiB: %u CPUs have some each; give a smaller "
			"ring=, or smaller tables; or trace= names an event that is not known\n", ring, nr_cpu_ids);
		goto no_hook;
	}
	error = timer_start(ktop);
	if (error)
		goto no_timer;
	drainer = kthread_run(drain, NULL, "ktop");
	error = PTR_ERR_OR_ZERO(drainer);
	if (error)
		goto no_drainer;
	atomic_notifier_chain_register(&panic_notifier_list, &panic_block);
	keystrokes_start(ktop);
	marks_start();
	return 0;

no_drainer:
	timer_stop();
no_timer:
no_hook:
	counters_stop();
	vfree(memory);
no_counters:
	symbols_stop();
no_symbols:
	tasks_stop();
no_tasks:
	port_file_free(port_file);
	return error;
}

static void __exit end(void)
{
	marks_stop();
	keystrokes_stop();
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_block);
	timer_stop();
	kthread_stop(drainer);
	tracepoints_stop(ktop);
	counters_stop();
	symbols_stop();
	vfree(memory);
	tasks_stop();
	port_file_free(port_file);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("ktop: samples this kernel for the live screen on QEMU's host");
