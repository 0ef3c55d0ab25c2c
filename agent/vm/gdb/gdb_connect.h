/* SPDX-License-Identifier: MIT */
#ifndef GDB_CONNECT_H
#define GDB_CONNECT_H

/*
 * Connects to unix:PATH or tcp:HOST:PORT; HOST is taken for this one. -1: nobody listens there. The descriptor does
 * not block.
 */
int gdb_connect(const char *stub);

#endif
