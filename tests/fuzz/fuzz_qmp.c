/* SPDX-License-Identifier: MIT */
/* What a QEMU says that is looked at, plugged into and sent keys. */
#include "agent/base/util.h"
#include "agent/vm/qmp/qmp_discover.h"
#include "agent/vm/qmp/qmp_plug.h"
#include "fuzzed_qmp.h"

enum { PLUG_MS = 20 };

static void take_out(struct qmp *qmp)
{
	struct qmp_plug plug;

	unplug_begin(&plug, qmp, util_now(), PLUG_MS);
	loop_talk(&plug.talk);
	plug_clear(&plug);
}

static void put_in(struct qmp *qmp)
{
	struct qmp_plug plug;

	plug_begin(&plug, qmp, true, util_now(), PLUG_MS);
	require(loop_talk(&plug.talk) == (plug.plugged.bus[0] && plug.fd >= 0 && !plug.talk.error));
	plug_clear(&plug);
}

static void ask(struct qmp *qmp)
{
	static const uint8_t codes[] = { 0x1d, 0x38, 0x1e };
	struct qmp_discovery discovery;

	discover_begin(&discovery, qmp, util_now(), QMP_WAIT_MS);
	loop_talk(&discovery.talk);
	discover_clear(&discovery);
	put_in(qmp);
	take_out(qmp);
	qmp_send_keys(qmp, codes, sizeof(codes));
	while (qmp_step(qmp, util_now()))
		;
	require(qmp_state(qmp) == VM_GONE);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	talk_to_qmp(bytes, size, ask);
	return 0;
}
