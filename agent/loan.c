#include "loan.h"

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
