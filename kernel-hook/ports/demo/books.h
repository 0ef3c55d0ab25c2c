/* SPDX-License-Identifier: MIT */
/*
 * The hook's counts, shown in another way than through ktop's port. With books=on, the console shows once a second what
 * was counted since boot:
 *
 *   books: cpu=N samples=TAKEN/LOST trace=TAKEN/LOST
 *   ...
 *   books: end
 */
#ifndef BOOKS_H
#define BOOKS_H

/* thread, when threads can run. Starts the thread that prints. */
void books_start(void);

#endif
