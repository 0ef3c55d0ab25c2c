/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The way to the host: the virtio console port of the given name, which the kernel's own driver
 * serves as a file. That file reads and writes user memory only, so the drainer's thread has an
 * address space of its own, with a buffer in it. Calls are the drainer's, in one thread.
 */
#ifndef KTOP_LINUX_PORT_FILE_H
#define KTOP_LINUX_PORT_FILE_H

struct ktop_transport;
struct port_file;

enum { PORT_FILE_NAME_MAX = 60 };

/* Thread, any. ERR_PTR: no memory, or not with this kernel. `name` stays the caller's. */
struct port_file *port_file_new(const char *name);
struct ktop_transport *port_file_transport(struct port_file *port);

/*
 * In the drainer's thread, at its begin and end: it owns the address space. The first: 0, or a
 * negative errno.
 */
int port_file_attach(struct port_file *port);
void port_file_detach(struct port_file *port);

/* When the thread is gone. */
void port_file_free(struct port_file *port);

#endif
