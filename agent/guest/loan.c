/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "loan.h"

void loan_profiler_set(struct loan *loan, bool on)
{
	loan->kept = on && loan->profiler;
}

void loan_forget(struct loan *loan)
{
	loan_profiler_set(loan, true);
	loan->rate.changed = loan->sampler.changed = false;
}

bool loan_return_profiler(struct loan *loan)
{
	bool last = --loan->profiler == 0, kept = loan->kept;

	if (last)
		loan->kept = false;
	return last && !kept;
}

static bool begins(const char *text, const char *word)
{
	return strncmp(text, word, strlen(word)) == 0;
}

/* The hook's answer names the state that it is in now: "started", "rate 4000". */
void loan_line_obeyed(struct loan *loan, const char *answer)
{
	bool on = strcmp(answer, "started") == 0;

	if (on || strcmp(answer, "stopped") == 0)
		loan_profiler_set(loan, on);
	else if (begins(answer, "rate "))
		loan->rate.changed = false;
	else if (begins(answer, "sampler ") || begins(answer, "mode "))	/* mode: an older hook */
		loan->sampler.changed = false;
}

bool loan_take(struct loan_setting *setting, uint32_t wanted, uint32_t now)
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

bool loan_return(struct loan_setting *setting)
{
	setting->holders--;
	return setting->holders == 0 && setting->changed;
}

void loan_settled(struct loan_setting *setting)
{
	if (setting->holders == 0)
		setting->changed = false;
}
