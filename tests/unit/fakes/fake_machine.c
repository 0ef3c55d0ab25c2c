/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/vm/qmp/qmp.h"
#include "agent/vm/qmp/qmp_plug.h"
#include "fake_machine.h"

#define DONE "\"return\": {}"
#define NOTHING "\"return\": []"

const struct machine machine_pc = {
	.type = "pc-i440fx-7.2-machine",
	.board = MACHINE_HAS("i440fx", "i440FX-pcihost"), .devices = "", .controller = NULL,
	.hotplug = true,
};

const struct machine machine_with_controller = {
	.type = "pc-q35-7.2-machine",
	.board = MACHINE_HAS("q35", "q35-pcihost"),
	.devices = MACHINE_HAS("device[0]", "virtio-serial-pci-non-transitional"),
	.controller = MACHINE_HAS("virtio-serial-bus.0", "virtio-serial-bus"),
};

const struct machine machine_q35 = {
	.type = "pc-q35-7.2-machine", .board = MACHINE_HAS("q35", "q35-pcihost"), .devices = "",
};

const struct machine machine_microvm = {
	.type = "microvm-machine", .board = MACHINE_HAS("fw_cfg", "fw_cfg_mem"), .devices = "",
};

static const char *array(struct machine *machine, const char *rows)
{
	free(machine->text);
	machine->text = util_format("\"return\": [%s]", rows);
	return machine->text;
}

static bool asks(const char *line, const char *part)
{
	return strstr(line, part);
}

static const char *list(struct machine *machine, const char *line)
{
	const char *root = machine->hotplug ? MACHINE_HAS("pci.0", "PCI") : MACHINE_HAS("pcie.0", "PCIE");

	if (asks(line, "\"path\":\"/machine\""))
		return array(machine, machine->board);
	if (asks(line, "\"path\":\"/machine/i440fx\"") || asks(line, "\"path\":\"/machine/q35\""))
		return array(machine, root);
	if (asks(line, "\"path\":\"/machine/peripheral-anon\""))
		return array(machine, machine->devices);
	if (asks(line, "/device[0]/virtio-backend\"") && machine->controller)
		return array(machine, machine->controller);
	if (!asks(line, "\"path\":\"/machine/peripheral\""))
		return NOTHING;
	if (machine->goes && --machine->goes == 0)
		machine->plugged = false;
	return machine->port && machine->plugged ? "\"return\": ["
		MACHINE_HAS(QMP_PLUG_PORT, "virtserialport") "," MACHINE_HAS(QMP_PLUG_CONTROLLER, "x") "]" :
		machine->port ? "\"return\": [" MACHINE_HAS(QMP_PLUG_PORT, "virtserialport") "]" :
		machine->plugged ? "\"return\": [" MACHINE_HAS(QMP_PLUG_CONTROLLER, "x") "]" : NOTHING;
}

static const char *add_device(struct machine *machine, const char *line)
{
	bool own = asks(line, "\"bus\":\"" QMP_PLUG_CONTROLLER ".0\"");

	if (asks(line, "\"virtio-serial-pci\"")) {
		if (!machine->hotplug || machine->plugged)
			return "\"error\": {\"desc\": \"Bus 'pcie.0' does not support hotplugging\"}";
		machine->plugged = true;
		machine->small = asks(line, "\"max_ports\":2");
		return DONE;
	}
	if (machine->port || !machine->chardev || (own ? !machine->plugged :
			!machine->controller || machine->full))
		return "\"error\": {\"desc\": \"Maximum port limit reached\"}";
	machine->port = true;
	return DONE;
}

static const char *delete_device(struct machine *machine, const char *line)
{
	bool *there = asks(line, "\"" QMP_PLUG_PORT "\"") ? &machine->port : &machine->plugged;

	machine->requests += there == &machine->plugged;
	if (!*there)
		return MACHINE_REFUSES;
	if (there == &machine->port || !machine->keeps)
		*there = false;
	return DONE;
}

static const char *change_chardev(struct machine *machine, const char *line)
{
	bool adds = asks(line, "chardev-add");

	if (adds == machine->chardev || (adds && !machine->passed) ||
			(!adds && (machine->port || (machine->busy && machine->busy--))))
		return MACHINE_REFUSES;
	machine->chardev = machine->held = adds;
	machine->passed = false;
	return DONE;
}

const char *machine_answer(void *context, const char *line)
{
	struct machine *machine = context;
	bool changes = asks(line, "getfd") || asks(line, "chardev-add") || asks(line, "device_add");

	if (changes && ++machine->changes == machine->odd)
		return machine->oddity;
	if (asks(line, "qom-list"))
		return list(machine, line);
	if (asks(line, "query-status"))
		return machine->paused ? "\"return\": {\"status\": \"inmigrate\"}" :
			"\"return\": {\"status\": \"running\"}";
	if (asks(line, "query-chardev"))
		return !machine->chardev ? NOTHING : machine->held ?
			"\"return\": [{\"label\": \"ktop-plugged\", \"filename\": \"unix:\"}]" :
			"\"return\": [{\"label\": \"ktop-plugged\", \"filename\": \"disconnected:fd:x\"}]";
	if (asks(line, "qom-get") && asks(line, "\"type\"")) {
		free(machine->text);
		machine->text = util_format("\"return\": \"%s\"", machine->type);
		return machine->text;
	}
	if (asks(line, "qom-get") && asks(line, QMP_PLUG_PORT))
		return asks(line, "\"name\"") ? "\"return\": \"org.ktop.0\"" :
			"\"return\": \"" QMP_PLUG_PORT "\"";
	if (asks(line, "device_add"))
		return add_device(machine, line);
	if (asks(line, "device_del"))
		return delete_device(machine, line);
	if (asks(line, "getfd") || asks(line, "closefd")) {
		machine->passed = asks(line, "getfd");
		return DONE;
	}
	if (asks(line, "chardev-"))
		return change_chardev(machine, line);
	return asks(line, "qmp_capabilities") ? DONE : MACHINE_REFUSES;
}
