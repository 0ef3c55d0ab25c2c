/* SPDX-License-Identifier: MIT */
/*
 * A named port of a virtio-serial controller (Virtual I/O Device 1.2, section 5.3) as the hook's transport. Nothing
 * waits: each connected() takes the handshake further, so that port and host may come and go at any time.
 *
 *	-device virtio-serial-pci -chardev socket,id=ktop,path=FILE,server=on,wait=off
 *	-device virtserialport,chardev=ktop,name=org.ktop.0
 *
 * QEMU keeps what a slow host has not read. (For a virtconsole of that name it would throw it away.) The driver takes
 * all controllers, with all their ports; a kernel that has its own driver gives the hook a port of that driver
 * instead. Ports with numbers above 63 are not found.
 */
#ifndef KTOP_VIRTIO_SERIAL_H
#define KTOP_VIRTIO_SERIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ktop_transport;
struct ktop_virtio;

enum { KTOP_VIRTIO_SERIAL_CONTROLLERS = 4 };	/* at most; others are ignored */

struct ktop_virtio_serial_config {
	const char *port;		/* the port's name, "org.ktop.0"; the text is not copied */
	void *memory;			/* aligned to 4096, and physically in one piece */
	size_t size;			/* of the memory, bytes */

	/* Returns the address by which devices reach a place in that memory. */
	uint64_t (*physical)(const void *address);

	/*
	 * Makes device registers addressable, uncached, and returns where. If it is NULL or returns NULL, this kernel
	 * cannot: the legacy interface is tried, by I/O ports.
	 */
	void *(*map)(uint64_t physical, size_t size);

	/*
	 * True: nobody else uses PCI configuration after boot, either. A controller that is plugged in later is then
	 * found: until the port is there, each connected() looks at a few PCI functions. A controller without
	 * addresses is driven through its configuration space.
	 */
	bool hotplug;
};

/* Bytes of memory that the driver needs. */
size_t ktop_virtio_serial_memory_size(void);

/*
 * thread, at boot, once, while nobody else uses PCI configuration. Takes all controllers on PCI; the memory stays the
 * driver's for ever. NULL: the memory is too small or not aligned, or there is no controller and `hotplug` is false.
 */
struct ktop_transport *ktop_virtio_serial_init(const struct ktop_virtio_serial_config *config);

/* The same with devices that the caller has found, on any bus. They stay the driver's for ever. */
struct ktop_transport *ktop_virtio_serial_over(const struct ktop_virtio_serial_config *config,
	struct ktop_virtio *const *devices, uint32_t count);

#endif
