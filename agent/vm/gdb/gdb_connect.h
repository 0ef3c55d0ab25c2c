/* SPDX-License-Identifier: MIT */
#ifndef GDB_CONNECT_H
#define GDB_CONNECT_H

/*
 * Connects to unix:PATH, or to tcp:HOST:PORT on this host, whatever HOST says. Returns a descriptor that does not
 * block. -1: nobody listens there.
 */
int gdb_connect(const char *stub);

#endif
