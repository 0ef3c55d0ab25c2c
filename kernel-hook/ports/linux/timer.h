/*
 * The sampling timer: one pinned hrtimer for each CPU that is on, asked for through
 * ktop_port_timer(). Its interrupt is the one caller of ktop_tick() on its CPU.
 */
#ifndef KTOP_LINUX_TIMER_H
#define KTOP_LINUX_TIMER_H

struct ktop;

/* Thread. From now on CPUs tick, also those that come later; 0, or a negative errno. */
int timer_start(struct ktop *ktop);

/* Thread. When it returns no CPU is in ktop_tick(), nor will one be. */
void timer_stop(void);

/* What the timer of this CPU interrupted; NULL outside of ktop_tick(). Irq off. */
struct pt_regs *timer_regs(void);

#endif
