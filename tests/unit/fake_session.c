#include <stdio.h>

#include "fake_session.h"

void session_wish(struct session *session, const struct session_wish *wish)
{
	session->wish = *wish;
	session->wishes++;
}

struct picture *session_picture(struct session *session)
{
	struct picture *picture = session->next;

	session->next = NULL;
	return picture;
}

void session_run_profiler(struct session *session, bool on)
{
	session->runs++;
	session->ran_on = on;
}

void session_snapshot(struct session *session, const char *path, struct folded_options options)
{
	session->marked = options.kernel_mark;
	snprintf(session->path, sizeof session->path, "%s", path);
	session->snapshots++;
}

bool session_message(struct session *session, struct session_message *message)
{
	*message = session->message;
	session->message.text[0] = '\0';
	return message->text[0] != '\0';
}
