/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "agent/export/export_folded.h"
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
	if (picture)
		session->running = picture->kept ? picture->kept == KEPT_ON : picture->running;
	return picture;
}

int session_picture_fd(const struct session *session)
{
	(void)session;
	return -1;
}

void session_run_profiler(struct session *session, bool on)
{
	session->runs++;
	session->ran_on = on;
}

void session_play(struct session *session, struct play play)
{
	session->plays++;
	session->played = play;
}

void session_snapshot(struct session *session, const char *path,
	const struct export_choice *choice)
{
	struct folded_options options;

	memcpy(&options, choice->options, sizeof options);
	session->marked = options.kernel_mark;
	memcpy(session->root, options.root, sizeof session->root);
	snprintf(session->path, sizeof session->path, "%s", path);
	session->snapped = session->wish;
	session->snapshots++;
}

bool session_message(struct session *session, struct session_message *message)
{
	*message = session->message;
	session->message.text[0] = '\0';
	return message->text[0] != '\0';
}

static struct picture *picture(void *self)
{
	return session_picture(self);
}

static bool message(void *self, struct session_message *message)
{
	return session_message(self, message);
}

static void wish(void *self, const struct session_wish *wish)
{
	session_wish(self, wish);
}

static bool running(void *self)
{
	return ((const struct session *)self)->running;
}

static void play(void *self, const struct play *wanted)
{
	session_play(self, *wanted);
}

static void run_profiler(void *self, bool on)
{
	session_run_profiler(self, on);
}

static void snapshot(void *self, const char *kernel)
{
	char name[SNAPSHOT_NAME];

	session_snapshot(self, snapshot_name(kernel, time(NULL), ".folded", name),
		&(struct export_choice) { .format = &export_folded, .options = { true } });
}

struct feed fake_feed(struct session *session)
{
	return (struct feed) {
		.self = session, .picture = picture, .message = message, .wish = wish,
		.running = running, .run_profiler = run_profiler, .play = play,
		.snapshot = snapshot,
	};
}
