#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "command.h"
#include "config.h"
#include "config_file.h"
#include "epoch.h"
#include "service.h"
#include "session.h"
#include "util.h"

enum { STEP_MS = 50 };

struct ingest {
	struct session *session;
	struct service *service;	/* NULL: none */
	atomic_bool end;		/* the screen's thread sets it */
	bool start;			/* profiling is to be started, when it can be */
};

static bool can_start(const struct session *session)
{
	return session_link(session) == LINK_UP && session_epoch(session)->status_known;
}

static void *run_ingest(void *context)
{
	struct ingest *ingest = context;

	while (!atomic_load(&ingest->end)) {
		session_step(ingest->session, STEP_MS);
		if (ingest->service)
			service_step(ingest->service);
		if (ingest->start && can_start(ingest->session)) {
			session_run_profiler(ingest->session, true);
			ingest->start = false;
		}
	}
	return NULL;
}

int command_screen(struct session *session, const struct config *config, const char *socket,
	bool start)
{
	struct ingest ingest = { .session = session, .start = start };
	pthread_t thread;
	char *error = NULL;
	bool shown = false;

	/* Without the socket, others cannot work beside this one; the screen can. */
	ingest.service = service_new(session, socket, NULL);
	if (pthread_create(&thread, NULL, run_ingest, &ingest) == 0) {
		shown = app_run(session, config, &error);
		atomic_store(&ingest.end, true);
		pthread_join(thread, NULL);
	} else {
		util_fail(&error,
			"no thread for the guest's data: the system gives none; close others");
	}
	service_free(ingest.service);
	if (!session_close_recording(session, shown ? &error : NULL))
		shown = false;
	return shown ? COMMAND_DONE : command_fail(error);
}

static void remind(const struct session *session, const struct session_options *options)
{
	if (session_link(session) == LINK_UP && session_epoch(session)->status.running)
		command_tell(util_format("profiling is still on in the guest: it costs time there; "
			"`ktop ctl --%s %s stop` ends it", options->qmp ? "qmp" : "port",
			options->qmp ? options->qmp : options->port));
}

static int run(char *const *words, size_t count)
{
	struct session_options options = { 0 };
	const struct option_set sets[] = {
		{ .rows = command_attach, .into = &options },
		{ .rows = command_limits, .into = &options },
	};
	struct config config;
	struct session *session;
	char *error = NULL;
	size_t used;
	int status;

	if (!options_parse(words, count, sets, 2, &used, &error))
		return command_usage(&command_top, error);
	if (used < count)
		return command_usage(&command_top, util_format("%s: not understood", words[used]));
	if (!options.qmp && !options.port)
		return command_usage(&command_top, util_format("which VM? Give --qmp SOCKET"));
	if (!config_file_load(&config, &error) || !app_possible(&error))
		return command_fail(error);

	command_hold_signals();
	session = session_new(&options, &error);
	if (!session)
		return command_fail(error);
	status = command_screen(session, &config, options.qmp ? options.qmp : options.port, false);
	remind(session, &options);
	command_detach(session);
	return status;
}

const struct command command_top = {
	.name = "top",
	.words = "[options]",
	.help = "The live screen (also without the word top).",
	.options = { { "Which VM:", command_attach }, { "Limits:", command_limits } },
	.run = run,
};
