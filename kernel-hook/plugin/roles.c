/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "../ktop.h"
#include "../trace.h"
#include "../wire.h"
#include "machine/debugger.h"
#include "moment.h"
#include "roles.h"

#define EVENT(name) KTOP_UNTRACED(name)

/* ---- calls: x86-64's struct pt_regs, include/uapi/asm/ptrace.h ---- */

struct call_registers {
	uint64_t r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi, number, pc, cs;
};

enum { RT_SIGRETURN = 15, PROGRAM_32 = 0x23 };	/* of a program of 32 bits, whose calls have other numbers: its CS */

/* The first argument is their address. */
static void enter_call(struct ktop *ktop, const struct moment *moment, const struct role_place *place)
{
	uint32_t thread = moment_thread(moment, debugger_sp(moment->cpu));
	struct call_registers is;

	(void)place;
	if (moment_read_stack(moment, moment_argument(moment, 0), &is, sizeof(is)))
		ktop_trace_syscall_enter(ktop, thread, (uint32_t)is.number, is.rdi, is.rsi, is.rdx, is.r10, is.r8,
			is.r9);
}

/* The number is -1 where the registers of what a signal had interrupted are back. */
static void leave_call(struct ktop *ktop, const struct moment *moment, const struct role_place *place)
{
	uint32_t thread = moment_thread(moment, debugger_sp(moment->cpu)), number;
	struct call_registers is;

	(void)place;
	if (!moment_read_stack(moment, moment_argument(moment, 0), &is, sizeof(is)) || is.cs == PROGRAM_32)
		return;
	number = is.number == UINT64_MAX ? RT_SIGRETURN : (uint32_t)is.number;
	ktop_trace_syscall_exit(ktop, thread, number, is.rax);
}

/* ---- threads ---- */

/* Bits of a thread's state, include/linux/sched.h. */
enum { UNINTERRUPTIBLE = 2, DEAD = 0x80, WAKING = 0x200, NO_LOAD = 0x400 };

/* The scheduler has taken what does not go on from its queue. It may have been woken since. */
static uint8_t leaves_of(const struct moment_task *task)
{
	if (task->queued || task->state & WAKING)
		return KTOP_LEAVES_READY;
	if (task->state & DEAD)
		return KTOP_LEAVES_DEAD;
	return task->state & UNINTERRUPTIBLE && !(task->state & NO_LOAD) ? KTOP_LEAVES_BLOCKED : KTOP_LEAVES_ASLEEP;
}

/* The records of the one that leaves, and of the one that comes. */
static void enter_switch(struct ktop *ktop, const struct moment *moment, const struct role_place *place)
{
	struct moment_task from, to;

	(void)place;
	if (!moment_task(moment, moment_argument(moment, 0), &from) ||
			!moment_task(moment, moment_argument(moment, 1), &to))
		return;
	moment->kept->stack = 0;		/* the next one may have the stack of one that has ended */
	if (leaves_of(&from) == KTOP_LEAVES_DEAD)
		moment_thread_ends(moment, from.thread);
	ktop_trace_sched_switch(ktop, from.thread, to.thread, leaves_of(&from));
}

/* The record of a thread, and the states out of which it is to be woken: in any other one, nothing happens. */
static void enter_wake(struct ktop *ktop, const struct moment *moment, const struct role_place *place)
{
	struct moment_task task;

	(void)place;
	if (moment_task(moment, moment_argument(moment, 0), &task) &&
			task.state & (uint32_t)moment_argument(moment, 1))
		ktop_trace_sched_wake(ktop, task.thread, moment_worker(moment));
}

static void enter_first_wake(struct ktop *ktop, const struct moment *moment, const struct role_place *place)
{
	struct moment_task task;

	(void)place;
	if (moment_task(moment, moment_argument(moment, 0), &task))
		ktop_trace_sched_wake(ktop, task.thread, moment_worker(moment));
}

/* ---- interrupts, softirqs, faults ---- */

/* What is not in the list any more has ended as well, or its end is told without it: the host says so of it. */
static void begin(const struct moment *moment, const struct role_place *place, uint32_t number)
{
	struct moment_kept *kept = moment->kept;

	if (kept->depth < MOMENT_OPEN)
		kept->open[kept->depth++] = (struct moment_open) { .role = place->role, .number = number };
}

/* False: nothing of this role has begun here. What has begun later has ended with it. */
static bool end(const struct moment *moment, const struct role *role, uint32_t *number)
{
	struct moment_kept *kept = moment->kept;
	uint32_t depth = kept->depth;

	while (depth && kept->open[depth - 1].role != role)
		depth--;
	if (!depth)
		return false;
	kept->depth = depth - 1;
	*number = kept->open[depth - 1].number;
	return true;
}

/* The first argument is the address of the interrupt's descriptor; its number is `value` bytes behind that. */
static void enter_irq(struct ktop *ktop, const struct moment *moment, const struct role_place *place)
{
	uint32_t number;

	if (!moment_read(moment, moment_argument(moment, 0) + place->value, &number, sizeof(number)))
		return;
	begin(moment, place, number);
	ktop_trace_irq_enter(ktop, number);
}

/* `value` is its number. */
static void enter_vector(struct ktop *ktop, const struct moment *moment, const struct role_place *place)
{
	begin(moment, place, (uint32_t)place->value);
	ktop_trace_irq_enter(ktop, (uint32_t)place->value);
}

static void leave_irq(struct ktop *ktop, const struct moment *moment, const struct role_place *place)
{
	uint32_t number;

	if (end(moment, place->role, &number))
		ktop_trace_irq_exit(ktop, number);
}

/* A function that also does what follows the interrupt, and may leave the CPU: it has its end elsewhere. */
static void end_short_vector(struct ktop *ktop, const struct moment *moment, const struct role_place *place)
{
	const struct moment_kept *kept = moment->kept;
	uint32_t number;

	(void)place;
	if (kept->depth && kept->open[kept->depth - 1].role == role_named("short_vector") &&
			end(moment, role_named("short_vector"), &number))
		ktop_trace_irq_exit(ktop, number);
}

/* They come one by one, and may end by a jump to another function: each ends where the next one begins, or all end. */
static void end_softirq(struct ktop *ktop, const struct moment *moment, const struct role_place *place)
{
	uint32_t number;

	(void)place;
	if (end(moment, role_named("softirq"), &number))
		ktop_trace_softirq_exit(ktop, number);
}

static void enter_softirq(struct ktop *ktop, const struct moment *moment, const struct role_place *place)
{
	end_softirq(ktop, moment, place);
	begin(moment, place, (uint32_t)place->value);
	ktop_trace_softirq_enter(ktop, (uint32_t)place->value);
}

static void enter_nothing(struct ktop *ktop, const struct moment *moment, const struct role_place *place)
{
	(void)ktop, (void)moment, (void)place;
}

enum { FAULT_WRITE = 1, FAULT_TRIED = 0x20 };	/* include/linux/mm_types.h: enum fault_flag */

/* Arguments: an area of memory; the address; flags; the registers of the code that did it, or NULL. */
static void enter_fault(struct ktop *ktop, const struct moment *moment, const struct role_place *place)
{
	uint64_t flags = moment_argument(moment, 2), registers = moment_argument(moment, 3);
	struct call_registers is;

	(void)place;
	if (registers && !(flags & FAULT_TRIED) && moment_read(moment, registers, &is, sizeof(is)))
		ktop_trace_fault(ktop, moment_worker(moment), moment_argument(moment, 1), is.pc,
			flags & FAULT_WRITE ? 1 : 0);
}

static const struct role roles[] = {
	{ "call", EVENT(syscall_enter), 0, enter_call, NULL },
	{ "call_end", EVENT(syscall_exit), 0, leave_call, NULL },
	{ "switch", EVENT(sched_switch), EVENT(syscall_enter) | EVENT(syscall_exit), enter_switch, NULL },
	{ "wake", EVENT(sched_wake), 0, enter_wake, NULL },
	{ "first_wake", EVENT(sched_wake), 0, enter_first_wake, NULL },
	{ "irq", EVENT(irq_enter) | EVENT(irq_exit), 0, enter_irq, leave_irq },
	{ "vector", EVENT(irq_enter) | EVENT(irq_exit), 0, enter_vector, leave_irq },
	{ "short_vector", EVENT(irq_enter) | EVENT(irq_exit), 0, enter_vector, NULL },
	{ "short_vector_end", EVENT(irq_enter) | EVENT(irq_exit), 0, end_short_vector, NULL },
	{ "softirq", EVENT(softirq_enter) | EVENT(softirq_exit), 0, enter_softirq, NULL },
	{ "softirqs", EVENT(softirq_enter) | EVENT(softirq_exit), 0, enter_nothing, end_softirq },
	{ "fault", EVENT(fault), 0, enter_fault, NULL },
};

const struct role *role_named(const char *name)
{
	for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++)
		if (strcmp(roles[i].name, name) == 0)
			return &roles[i];
	return NULL;
}

/* ---- what their numbers are called ---- */

/* What has no number of Linux's, but a vector: no number is both (ports/linux/tracepoints.c). */
#define LINUX_VECTORS (1u << 31)

/* arch/x86/entry/syscalls/syscall_64.tbl: a number that Linux has given never changes. */
static const char *const calls[] = {
	"read", "write", "open", "close", "stat", "fstat", "lstat", "poll", "lseek", "mmap", "mprotect", "munmap",
	"brk", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "ioctl", "pread64", "pwrite64", "readv", "writev",
	"access", "pipe", "select", "sched_yield", "mremap", "msync", "mincore", "madvise", "shmget", "shmat",
	"shmctl", "dup", "dup2", "pause", "nanosleep", "getitimer", "alarm", "setitimer", "getpid", "sendfile",
	"socket", "connect", "accept", "sendto", "recvfrom", "sendmsg", "recvmsg", "shutdown", "bind", "listen",
	"getsockname", "getpeername", "socketpair", "setsockopt", "getsockopt", "clone", "fork", "vfork", "execve",
	"exit", "wait4", "kill", "uname", "semget", "semop", "semctl", "shmdt", "msgget", "msgsnd", "msgrcv",
	"msgctl", "fcntl", "flock", "fsync", "fdatasync", "truncate", "ftruncate", "getdents", "getcwd", "chdir",
	"fchdir", "rename", "mkdir", "rmdir", "creat", "link", "unlink", "symlink", "readlink", "chmod", "fchmod",
	"chown", "fchown", "lchown", "umask", "gettimeofday", "getrlimit", "getrusage", "sysinfo", "times", "ptrace",
	"getuid", "syslog", "getgid", "setuid", "setgid", "geteuid", "getegid", "setpgid", "getppid", "getpgrp",
	"setsid", "setreuid", "setregid", "getgroups", "setgroups", "setresuid", "getresuid", "setresgid",
	"getresgid", "getpgid", "setfsuid", "setfsgid", "getsid", "capget", "capset", "rt_sigpending",
	"rt_sigtimedwait", "rt_sigqueueinfo", "rt_sigsuspend", "sigaltstack", "utime", "mknod", "uselib",
	"personality", "ustat", "statfs", "fstatfs", "sysfs", "getpriority", "setpriority", "sched_setparam",
	"sched_getparam", "sched_setscheduler", "sched_getscheduler", "sched_get_priority_max",
	"sched_get_priority_min", "sched_rr_get_interval", "mlock", "munlock", "mlockall", "munlockall", "vhangup",
	"modify_ldt", "pivot_root", "_sysctl", "prctl", "arch_prctl", "adjtimex", "setrlimit", "chroot", "sync",
	"acct", "settimeofday", "mount", "umount2", "swapon", "swapoff", "reboot", "sethostname", "setdomainname",
	"iopl", "ioperm", "create_module", "init_module", "delete_module", "get_kernel_syms", "query_module",
	"quotactl", "nfsservctl", "getpmsg", "putpmsg", "afs_syscall", "tuxcall", "security", "gettid", "readahead",
	"setxattr", "lsetxattr", "fsetxattr", "getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr",
	"flistxattr", "removexattr", "lremovexattr", "fremovexattr", "tkill", "time", "futex", "sched_setaffinity",
	"sched_getaffinity", "set_thread_area", "io_setup", "io_destroy", "io_getevents", "io_submit", "io_cancel",
	"get_thread_area", "lookup_dcookie", "epoll_create", "epoll_ctl_old", "epoll_wait_old", "remap_file_pages",
	"getdents64", "set_tid_address", "restart_syscall", "semtimedop", "fadvise64", "timer_create",
	"timer_settime", "timer_gettime", "timer_getoverrun", "timer_delete", "clock_settime", "clock_gettime",
	"clock_getres", "clock_nanosleep", "exit_group", "epoll_wait", "epoll_ctl", "tgkill", "utimes", "vserver",
	"mbind", "set_mempolicy", "get_mempolicy", "mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive",
	"mq_notify", "mq_getsetattr", "kexec_load", "waitid", "add_key", "request_key", "keyctl", "ioprio_set",
	"ioprio_get", "inotify_init", "inotify_add_watch", "inotify_rm_watch", "migrate_pages", "openat", "mkdirat",
	"mknodat", "fchownat", "futimesat", "newfstatat", "unlinkat", "renameat", "linkat", "symlinkat",
	"readlinkat", "fchmodat", "faccessat", "pselect6", "ppoll", "unshare", "set_robust_list", "get_robust_list",
	"splice", "tee", "sync_file_range", "vmsplice", "move_pages", "utimensat", "epoll_pwait", "signalfd",
	"timerfd_create", "eventfd", "fallocate", "timerfd_settime", "timerfd_gettime", "accept4", "signalfd4",
	"eventfd2", "epoll_create1", "dup3", "pipe2", "inotify_init1", "preadv", "pwritev", "rt_tgsigqueueinfo",
	"perf_event_open", "recvmmsg", "fanotify_init", "fanotify_mark", "prlimit64", "name_to_handle_at",
	"open_by_handle_at", "clock_adjtime", "syncfs", "sendmmsg", "setns", "getcpu", "process_vm_readv",
	"process_vm_writev", "kcmp", "finit_module", "sched_setattr", "sched_getattr", "renameat2", "seccomp",
	"getrandom", "memfd_create", "kexec_file_load", "bpf", "execveat", "userfaultfd", "membarrier", "mlock2",
	"copy_file_range", "preadv2", "pwritev2", "pkey_mprotect", "pkey_alloc", "pkey_free", "statx",
	"io_pgetevents", "rseq", [424] = "pidfd_send_signal", "io_uring_setup", "io_uring_enter",
	"io_uring_register", "open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "pidfd_open",
	"clone3", "close_range", "openat2", "pidfd_getfd", "faccessat2", "process_madvise", "epoll_pwait2",
	"mount_setattr", "quotactl_fd", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self",
	"memfd_secret", "process_mrelease", "futex_waitv", "set_mempolicy_home_node", "cachestat", "fchmodat2",
	"map_shadow_stack", "futex_wake", "futex_wait", "futex_requeue", "statmount", "listmount",
	"lsm_get_self_attr", "lsm_set_self_attr", "lsm_list_modules", "mseal", "setxattrat", "getxattrat",
	"listxattrat", "removexattrat", "open_tree_attr",
};

/* include/linux/interrupt.h; vectors of x86, by arch/x86/include/asm/irq_vectors.h. */
static const struct { uint32_t event, number; const char *name; } others[] = {
	{ KTOP_EVENT_softirq_enter, 0, "HI" }, { KTOP_EVENT_softirq_enter, 1, "TIMER" },
	{ KTOP_EVENT_softirq_enter, 2, "NET_TX" }, { KTOP_EVENT_softirq_enter, 3, "NET_RX" },
	{ KTOP_EVENT_softirq_enter, 4, "BLOCK" }, { KTOP_EVENT_softirq_enter, 5, "IRQ_POLL" },
	{ KTOP_EVENT_softirq_enter, 6, "TASKLET" }, { KTOP_EVENT_softirq_enter, 7, "SCHED" },
	{ KTOP_EVENT_softirq_enter, 8, "HRTIMER" }, { KTOP_EVENT_softirq_enter, 9, "RCU" },
	{ KTOP_EVENT_irq_enter, LINUX_VECTORS + 0xec, "local timer" },
	{ KTOP_EVENT_irq_enter, LINUX_VECTORS + 0xfd, "reschedule" },
	{ KTOP_EVENT_irq_enter, LINUX_VECTORS + 0xfc, "call function" },
	{ KTOP_EVENT_irq_enter, LINUX_VECTORS + 0xfb, "call function single" },
};

bool role_number_at(uint32_t index, struct ktop_number *number)
{
	enum { CALLS = sizeof(calls) / sizeof(*calls), OTHERS = sizeof(others) / sizeof(*others) };

	if (index >= CALLS + OTHERS)
		return false;
	if (index < CALLS)
		*number = (struct ktop_number) {
			.event = KTOP_EVENT_syscall_enter, .number = index, .name = calls[index],
		};
	else
		*number = (struct ktop_number) {
			.event = others[index - CALLS].event, .number = others[index - CALLS].number,
			.name = others[index - CALLS].name,
		};
	return true;
}
