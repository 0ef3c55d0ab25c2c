/* SPDX-License-Identifier: MIT */
/* Is the file of a program that the guest runs known on the host? */
#ifndef FILE_STATE_H
#define FILE_STATE_H

enum file_state {
	FILE_SETTLED,			/* it is there, or a copy was given; or nobody asks for it any more */
	FILE_SOUGHT,			/* it is being looked for */
	FILE_MISSING,
};

#endif
