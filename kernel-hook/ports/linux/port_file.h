/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The hook's transport in Linux: the virtio console port of the given name, which Linux' own driver offers as a file.
 * That file reads and writes only user memory, so the drainer's thread has an address space with a buffer in it.
 * The drainer alone calls the transport.
 */
#ifndef KTOP_LINUX_PORT_FILE_H
#define KTOP_LINUX_PORT_FILE_H

struct ktop_transport;
struct port_file;

enum { PORT_FILE_NAME_MAX = 60 };	/* bytes of a port's name */

/* Any thread. ERR_PTR: there is no memory, or this kernel lacks what it needs. `name` stays the caller's. */
struct port_file *port_file_new(const char *name);
struct ktop_transport *port_file_transport(struct port_file *port);

/*
 * In the drainer's thread, when it begins and when it ends: this thread owns the address space. Attach returns 0, or a
 * negative errno.
 */
int port_file_attach(struct port_file *port);
void port_file_detach(struct port_file *port);

/* Any thread, when the drainer's thread has ended. */
void port_file_free(struct port_file *port);

#endif
