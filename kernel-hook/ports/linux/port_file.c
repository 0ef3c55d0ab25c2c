/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/poll.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "port_file.h"
#include "private.h"
#include "transport.h"
#include "wire.h"

#define PORTS_FOLDER "/sys/class/virtio-ports"

enum {
	PORTS = 64,			/* the most that are looked at */
	NAME_ROOM = 16,			/* bytes of a name such as "vport0p1" */
	SEARCH_JIFFIES = HZ / 2,	/* between two searches for the port */
};

struct port_file {
	struct ktop_transport transport;
	const char *name;
	struct mm_struct *(*alloc_mm)(void);
	void (*pick_layout)(struct mm_struct *mm, struct rlimit *stack);
	struct mm_struct *mm;		/* exists between attach and detach, as `user` does */
	char __user *user;		/* KTOP_PACKET_MAX bytes in mm */
	void *buffer;			/* KTOP_PACKET_MAX bytes of the kernel's memory */
	struct file *file;		/* NULL: not open */
	unsigned long search_at;	/* jiffies: when to search next */
	u32 pending, sent;		/* bytes of `user` to be written; of them, written so far */
	u32 connections;		/* of hosts, so far */
	bool connected;
};

static struct port_file *port_of(struct ktop_transport *self)
{
	return container_of(self, struct port_file, transport);
}

static void close_port(struct port_file *port)
{
	if (port->file)
		filp_close(port->file, NULL);
	port->file = NULL;
	port->connected = false;
	port->pending = 0;
}

/* ---- looking for the port ---- */

/* The names in the folder of ports, at most PORTS of them. */
struct names {
	struct dir_context context;
	unsigned int count;
	char all[PORTS][NAME_ROOM];
};

static bool take_name(struct dir_context *context, const char *name, int size, loff_t at, u64 inode,
	unsigned int type)
{
	struct names *names = container_of(context, struct names, context);

	if (name[0] != '.' && size < NAME_ROOM && names->count < PORTS) {
		memcpy(names->all[names->count], name, size);
		names->all[names->count++][size] = '\0';
	}
	return names->count < PORTS;
}

static void list_ports(struct names *names)
{
	struct file *folder = filp_open(PORTS_FOLDER, O_RDONLY | O_DIRECTORY, 0);

	names->context.actor = take_name;
	if (IS_ERR(folder))
		return;
	iterate_dir(folder, &names->context);
	filp_close(folder, NULL);
}

/* Has this device our port's name? */
static bool is_ours(const struct port_file *port, const char *device)
{
	char text[PORT_FILE_NAME_MAX + 4];	/* room for the end of the line; a longer name differs */
	struct file *file;
	loff_t at = 0;
	ssize_t size;

	snprintf(text, sizeof(text), PORTS_FOLDER "/%s/name", device);
	file = filp_open(text, O_RDONLY, 0);
	if (IS_ERR(file))
		return false;
	size = kernel_read(file, text, sizeof(text) - 1, &at);
	filp_close(file, NULL);
	if (size <= 0)
		return false;
	text[size] = '\0';
	return sysfs_streq(text, port->name);
}

static struct file *open_ours(const struct port_file *port, const struct names *names)
{
	char path[sizeof("/dev/") + NAME_ROOM];

	for (unsigned int i = 0; i < names->count; i++) {
		if (!is_ours(port, names->all[i]))
			continue;
		snprintf(path, sizeof(path), "/dev/%s", names->all[i]);
		return filp_open(path, O_RDWR | O_NONBLOCK, 0);
	}
	return ERR_PTR(-ENOENT);
}

/* Searches for the port and opens it, at most once in SEARCH_JIFFIES. */
static void find_port(struct port_file *port)
{
	struct names *names;
	struct file *file;

	if (time_before(jiffies, port->search_at))
		return;
	port->search_at = jiffies + SEARCH_JIFFIES;
	names = kzalloc(sizeof(*names), GFP_KERNEL);
	if (!names)
		return;
	list_ports(names);
	file = open_ours(port, names);
	kfree(names);
	if (IS_ERR(file))
		return;
	if (file->f_op->read && file->f_op->write && file->f_op->poll)
		port->file = file;
	else
		filp_close(file, NULL);
}

/* ---- the transport ---- */

/* Writes what is pending, as far as the port takes it. A port that was unplugged is closed. */
static void push(struct port_file *port)
{
	while (port->file && port->sent < port->pending) {
		loff_t at = 0;
		ssize_t put = port->file->f_op->write(port->file, port->user + port->sent,
			port->pending - port->sent, &at);

		if (put == -ENODEV)
			close_port(port);
		if (put <= 0)
			return;
		port->sent += put;
	}
	port->pending = 0;
}

/*
 * A port without a host polls as hung up. So does a port that was unplugged, but a read from it returns -ENODEV. Bytes
 * that are read here were sent by an earlier host, and are dropped.
 */
static bool has_host(struct port_file *port)
{
	loff_t at = 0;

	if (!(vfs_poll(port->file, NULL) & (EPOLLHUP | EPOLLERR)))
		return true;
	if (port->file->f_op->read(port->file, port->user, KTOP_PACKET_MAX, &at) == -ENODEV)
		close_port(port);
	return false;
}

static bool connected(struct ktop_transport *self, uint32_t *connections)
{
	struct port_file *port = port_of(self);
	bool was = port->connected;

	if (!port->file)
		find_port(port);
	port->connected = port->file && has_host(port);
	if (port->connected && !was)
		port->connections++;
	if (!port->connected)
		port->pending = port->sent = 0;
	*connections = port->connections;
	return port->connected;
}

static void *buffer(struct ktop_transport *self)
{
	struct port_file *port = port_of(self);

	push(port);
	return port->pending ? NULL : port->buffer;
}

static void send(struct ktop_transport *self, uint32_t size)
{
	struct port_file *port = port_of(self);

	port->sent = 0;
	port->pending = copy_to_user(port->user, port->buffer, size) ? 0 : size;
	push(port);
}

static uint32_t receive(struct ktop_transport *self, void *to, uint32_t size)
{
	struct port_file *port = port_of(self);
	loff_t at = 0;
	ssize_t got;

	if (!port->file || port->pending)
		return 0;
	got = port->file->f_op->read(port->file, port->user, min_t(u32, size, KTOP_PACKET_MAX), &at);
	if (got == -ENODEV)
		close_port(port);
	if (got <= 0 || copy_from_user(to, port->user, got))
		return 0;
	return got;
}

struct ktop_transport *port_file_transport(struct port_file *port)
{
	return &port->transport;
}

struct port_file *port_file_new(const char *name)
{
	struct port_file *port = kzalloc(sizeof(*port), GFP_KERNEL);

	if (!port)
		return ERR_PTR(-ENOMEM);
	port->transport = (struct ktop_transport) {
		.connected = connected, .buffer = buffer, .send = send, .receive = receive,
	};
	port->name = name;
	port->search_at = jiffies;
	port->buffer = kmalloc(KTOP_PACKET_MAX, GFP_KERNEL);
	port->alloc_mm = (void *)private_address("mm_alloc");
	port->pick_layout = (void *)private_address("arch_pick_mmap_layout");
	if (port->buffer && port->alloc_mm && port->pick_layout)
		return port;
	pr_err("ktop: no buffer for the port: memory is full, or this kernel has no mm_alloc() or "
		"arch_pick_mmap_layout()\n");
	port_file_free(port);
	return ERR_PTR(-ENOMEM);
}

/* An empty address space, as a program has before it is loaded. The calling thread owns it. NULL: no memory. */
static struct mm_struct *new_mm(const struct port_file *port)
{
	struct rlimit stack = { .rlim_cur = 8 << 20, .rlim_max = RLIM_INFINITY };
	struct mm_struct *mm = port->alloc_mm();

	if (mm) {
		port->pick_layout(mm, &stack);
		mm->task_size = TASK_SIZE_MAX;
	}
	return mm;
}

static void drop_mm(struct port_file *port)
{
	kthread_unuse_mm(port->mm);
	mmput(port->mm);
}

/* Linux charges mapped memory to the owner of the address space, which must therefore live as long as the mapping. */
int port_file_attach(struct port_file *port)
{
	unsigned long at;

	port->mm = new_mm(port);
	if (!port->mm)
		return -ENOMEM;
	kthread_use_mm(port->mm);
	at = vm_mmap(NULL, 0, KTOP_PACKET_MAX, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, 0);
	if (!IS_ERR_VALUE(at)) {
		port->user = (char __user *)at;
		return 0;
	}
	drop_mm(port);
	return (int)at;
}

void port_file_detach(struct port_file *port)
{
	close_port(port);
	drop_mm(port);
}

void port_file_free(struct port_file *port)
{
	kfree(port->buffer);
	kfree(port);
}
