/* Built with tail calls as jumps, as no other file is: the caller of oracle_tail() is oracle_jump()'s. */
#include <stdint.h>

#include "oracle.h"

void oracle_jump(uint64_t loops)
{
	oracle_tail(loops);
}
