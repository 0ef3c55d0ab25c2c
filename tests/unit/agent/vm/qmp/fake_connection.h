/* SPDX-License-Identifier: MIT */
/* A QMP connection to a fake QEMU. */
#ifndef FAKE_CONNECTION_H
#define FAKE_CONNECTION_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/fakes/fake_qmp.h"
#include "tests/unit/fakes/qmp_loop.h"

enum { PATIENCE_MS = 60000, SHORT_MS = 50 };

#define QOM_GET(path, property) "\"path\":\"" path "\",\"property\":\"" property "\""

static const struct fake_answer machine[] = {
	{ "qmp_capabilities", "\"return\": {}" },
	{ "query-status", "\"return\": {\"status\": \"running\", \"running\": true}" },
	{ "query-cpus-fast",
		"\"return\": [{\"cpu-index\": 0}, {\"cpu-index\": 1}, {\"cpu-index\": 2}]" },
	{ "query-name", "\"return\": {\"name\": \"toy\\u001b[2J\"}" },
	{ "query-version", "\"return\": {\"qemu\": {\"micro\": 22, \"minor\": 2, \"major\": 7}}" },
	{ "query-kvm", "\"return\": {\"enabled\": true, \"present\": true}" },
	{ QOM_GET("/machine", "kernel"), "\"return\": \"images/kernel.elf\"" },
	{ QOM_GET("/", "ktop-plugin"), "\"return\": \"run/plugin.sock\"" },
	{ QOM_GET("/machine/peripheral-anon/device[1]", "name"), "\"return\": \"com.other\"" },
	{ QOM_GET("/machine/peripheral-anon/device[2]", "name"), "\"return\": \"org.ktop.0\"" },
	{ QOM_GET("/machine/peripheral-anon/device[2]", "chardev"), "\"return\": \"kc\"" },
	{ "\"path\":\"/machine/peripheral\"",
		"\"return\": [{\"name\": \"type\", \"type\": \"string\"}]" },
	{ "\"path\":\"/machine/peripheral-anon\"",
		"\"return\": ["
		"{\"name\": \"device[0]\", \"type\": \"child<virtio-serial-pci>\"},"
		"{\"name\": \"device[1]\", \"type\": \"child<virtserialport>\"},"
		"{\"name\": \"device[2]\", \"type\": \"child<virtserialport>\"}]" },
	{ "\"path\":\"/machine/unattached\"",
		"\"return\": ["
		"{\"name\": \"device[9]\", \"type\": \"child<i8042>\"}]" },
	{ "query-chardev",
		"\"return\": ["
		"{\"label\": \"kcx\", \"filename\": \"unix:wrong,server=on\"},"
		"{\"label\": \"kc\", \"filename\": \"disconnected:unix:dir,server/k.sock,server=on\", "
		"\"frontend-open\": true}]" },
	{ NULL, NULL },
};

static inline struct qmp *connect_fake(struct fake_qmp *fake)
{
	char *error = NULL;
	struct qmp *qmp = loop_open(qmp_from_fd(fake_qmp_fd(fake), "fake", PATIENCE_MS), &error);

	if (!qmp)
		fail_msg("%s", error);
	return qmp;
}

#endif
