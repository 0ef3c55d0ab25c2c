#include <stdlib.h>
#include <string.h>

#include "link.h"
#include "peer.h"
#include "source.h"
#include "util.h"

enum {
	GREETING_MS = 3000,
	DISCOVER_MS = 10000,
	GREETING_AGAIN_MS = 100,	/* while the guest's bytes must not wait */
	DISCOVER_AGAIN_MS = 3000,
	NS_PER_MS = 1000000,
};

#define PORT_OPTIONS "-device virtio-serial-pci " \
	"-chardev socket,id=ktop,path=ktop.sock,server=on,wait=off " \
	"-device virtserialport,chardev=ktop,name=org.ktop.0"

struct link {
	char *qmp_path, *port_path;	/* as the user gave them; NULL: not given */
	struct qmp *qmp;
	struct qmp_facts facts;		/* of the last VM that told */
	struct source *source;
	bool was_connected;		/* the port, at some time */
	bool heard;			/* bytes came since it was connected */
	uint64_t retry_at;
};

static bool connect_qmp(struct link *link, int greeting_ms, int discover_ms, char **error)
{
	struct qmp_facts facts;
	struct qmp *qmp = qmp_connect(link->qmp_path, greeting_ms, error);

	if (!qmp)
		return false;
	if (!qmp_discover(qmp, discover_ms, &facts, error)) {
		qmp_free(qmp);
		return false;
	}
	qmp_facts_clear(&link->facts);
	link->facts = facts;
	link->qmp = qmp;
	return true;
}

/* Before our own first connection: has the port a client? */
static bool refuse_taken(const struct link *link, const char *path, char **error)
{
	char *client = link->was_connected ? NULL : peer_client(path, -1);
	bool taken = client || (!link->was_connected && !link->port_path && link->facts.port_taken);

	if (taken)
		util_fail(error,
			"port %s: taken by %s: QEMU serves one client at a time; end that one, "
			"or name the VM by --qmp when it is a ktop",
			path, client ? client : "another program");
	free(client);
	return taken;
}

static bool connect_port(struct link *link, char **error)
{
	const char *path = link->port_path ? link->port_path : link->facts.port;

	if (!path && link->facts.port_present)
		return util_fail(error,
			"port org.ktop.0: its chardev is not a listening unix socket; "
			"give QEMU -chardev socket,id=...,path=...,server=on,wait=off");
	if (!path)
		return util_fail(error,
			"port org.ktop.0: %s has none; start QEMU with " PORT_OPTIONS,
			link->facts.name ? link->facts.name : "this VM");
	if (refuse_taken(link, path, error))
		return false;
	link->source = source_connect(path, error);
	link->heard = false;
	link->was_connected |= link->source != NULL;
	return link->source;
}

struct link *link_new(const char *qmp, const char *port, char **error)
{
	struct link *link = util_alloc(sizeof(*link));

	link->qmp_path = qmp ? util_copy(qmp, strlen(qmp)) : NULL;
	link->port_path = port ? util_copy(port, strlen(port)) : NULL;
	if ((!qmp || connect_qmp(link, GREETING_MS, DISCOVER_MS, error)) &&
			connect_port(link, error))
		return link;
	link_free(link);
	return NULL;
}

void link_free(struct link *link)
{
	if (!link)
		return;
	qmp_free(link->qmp);
	source_free(link->source);
	qmp_facts_clear(&link->facts);
	free(link->qmp_path);
	free(link->port_path);
	free(link);
}

bool link_step(struct link *link, uint64_t now)
{
	if (link->qmp && !qmp_step(link->qmp)) {
		qmp_free(link->qmp);
		link->qmp = NULL;
	}
	if ((link->source && (link->qmp || !link->qmp_path)) || now < link->retry_at)
		return false;
	if (link->qmp_path && !link->qmp)
		connect_qmp(link, GREETING_AGAIN_MS, DISCOVER_AGAIN_MS, NULL);
	link->retry_at = util_now() + (uint64_t)LINK_RETRY_MS * NS_PER_MS;
	if (link->source || (link->qmp_path && !link->qmp))
		return false;
	return connect_port(link, NULL);
}

struct qmp *link_qmp(const struct link *link)
{
	return link->qmp;
}

struct source *link_source(const struct link *link)
{
	return link->source;
}

const struct qmp_facts *link_facts(const struct link *link)
{
	return &link->facts;
}

enum vm_state link_vm(const struct link *link)
{
	if (link->qmp)
		return qmp_state(link->qmp);
	return link->qmp_path ? VM_GONE : VM_UNKNOWN;
}

enum link_state link_port_state(const struct link *link)
{
	if (link->source)
		return link->heard ? LINK_NO_HELLO : LINK_NOT_OPENED;
	if (link->qmp && !link->facts.port_present && !link->port_path)
		return LINK_NO_PORT;
	return link->was_connected ? LINK_LOST : LINK_CONNECTING;
}

const char *link_trouble(enum link_state state)
{
	static const char *const texts[] = {
		[LINK_NO_PORT] = "the VM has no port org.ktop.0",
		[LINK_CONNECTING] = "its port is not connected; does another program hold the socket?",
		[LINK_NOT_OPENED] = "it has not opened the port; is the hook in its kernel, and does "
			"that reach ktop_init?",
		[LINK_NO_HELLO] = "it sends, but not who it is; does its hook drain its rings "
			"(ktop_drain)?",
		[LINK_UP] = "it was reset, and has not come up again; is it still booting?",
		[LINK_LOST] = "its port was closed; is QEMU still there?",
	};

	return texts[state];
}

void link_heard(struct link *link)
{
	link->heard = true;
}

void link_lost_port(struct link *link)
{
	source_free(link->source);
	link->source = NULL;
}
