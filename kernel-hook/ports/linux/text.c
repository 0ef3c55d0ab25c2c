#include "private.h"
#include "text.h"

static u64 begin, end;			/* fixed after text_init(); 0: not known */

void text_init(void)
{
	begin = private_address("__entry_text_start");
	end = private_address("__entry_text_end");
}

bool text_is_entry(u64 pc)
{
	return pc - begin < end - begin;
}
