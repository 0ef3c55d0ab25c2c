/* SPDX-License-Identifier: MIT */
/*
 * A named port of a virtio-serial controller (Virtual I/O Device 1.2, section 5.3) as the hook's
 * transport. Nothing waits: the handshake goes on with each connected(), so that port and host may
 * come and go at any time.
 *
 *	-device virtio-serial-pci -chardev socket,id=ktop,path=FILE,server=on,wait=off
 *	-device virtserialport,chardev=ktop,name=org.ktop.0
 *
 * QEMU holds back what a slow host has not read; for a virtconsole of that name it throws it away.
 * The controllers become the driver's own, with all their ports: a kernel with a driver of its own
 * gives that one's port to the hook instead. Ports with numbers above 63 are not found.
 */
#ifndef KTOP_VIRTIO_SERIAL_H
#define KTOP_VIRTIO_SERIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ktop_transport;
struct ktop_virtio;

enum { KTOP_VIRTIO_SERIAL_CONTROLLERS = 4 };	/* further ones are not looked at */

struct ktop_virtio_serial_config {
	const char *port;		/* its name: "org.ktop.0"; kept, not copied */
	void *memory;			/* aligned to 4096, and in one piece physically too */
	size_t size;			/* of the memory, bytes */

	/* The address by which devices know a place in that memory. */
	uint64_t (*physical)(const void *address);

	/*
	 * Makes device registers addressable, uncached, and returns where; NULL, it or what it
	 * returns: this kernel cannot, so that the legacy interface is tried, by I/O ports.
	 */
	void *(*map)(uint64_t physical, size_t size);

	/*
	 * PCI configuration is the driver's alone after boot as well. Then a controller that is
	 * plugged in later is found: until there is the port, each connected() looks at some PCI
	 * functions, and what has no address is driven by way of its configuration.
	 */
	bool hotplug;
};

/* Bytes of memory wanted. */
size_t ktop_virtio_serial_memory_size(void);

/*
 * thread, at boot, once, while nobody else uses PCI configuration. Takes all controllers on PCI;
 * the memory is theirs for ever. NULL: the memory is not as it should be, or there is none and none
 * is waited for.
 */
struct ktop_transport *ktop_virtio_serial_init(const struct ktop_virtio_serial_config *config);

/* The same over devices that the caller has found, of whatever bus; they stay the driver's. */
struct ktop_transport *ktop_virtio_serial_over(const struct ktop_virtio_serial_config *config,
	struct ktop_virtio *const *devices, uint32_t count);

#endif
