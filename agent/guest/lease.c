/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "lease.h"

void lease_profiler_set(struct lease *lease, bool on)
{
	lease->kept = on && lease->profiler;
}

void lease_forget(struct lease *lease)
{
	lease_profiler_set(lease, true);
	lease->rate.changed = lease->sampler.changed = false;
}

bool lease_return_profiler(struct lease *lease)
{
	bool last = --lease->profiler == 0, kept = lease->kept;

	if (last)
		lease->kept = false;
	return last && !kept;
}

static bool begins(const char *text, const char *word)
{
	return strncmp(text, word, strlen(word)) == 0;
}

/* The hook's answer names the state that it is in now: "started", "rate 4000". */
void lease_line_obeyed(struct lease *lease, const char *answer)
{
	bool on = strcmp(answer, "started") == 0;

	if (on || strcmp(answer, "stopped") == 0)
		lease_profiler_set(lease, on);
	else if (begins(answer, "rate "))
		lease->rate.changed = false;
	else if (begins(answer, "sampler ") || begins(answer, "mode "))	/* mode: an older hook */
		lease->sampler.changed = false;
}

bool lease_take(struct lease_setting *setting, uint32_t wanted, uint32_t now)
{
	if (setting->holders && setting->wanted != wanted)
		return false;
	if (!setting->changed)
		setting->before = now;
	setting->changed = setting->changed || wanted != now;
	setting->wanted = wanted;
	setting->holders++;
	return true;
}

bool lease_return(struct lease_setting *setting)
{
	setting->holders--;
	return setting->holders == 0 && setting->changed;
}

void lease_settled(struct lease_setting *setting)
{
	if (setting->holders == 0)
		setting->changed = false;
}
