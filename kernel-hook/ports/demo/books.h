/* SPDX-License-Identifier: MIT */
/*
 * ktop's books as this kernel sees them, told by another way than ktop's own. With books=on the
 * console shows once a second, of all that was counted since the boot:
 *
 *   books: cpu=N samples=TAKEN/LOST trace=TAKEN/LOST
 *   ...
 *   books: end
 */
#ifndef BOOKS_H
#define BOOKS_H

/* thread, when threads can run */
void books_start(void);

#endif
