#include <poll.h>

#include "app.h"
#include "canvas.h"
#include "config.h"
#include "input.h"
#include "screen.h"
#include "session.h"
#include "term.h"
#include "util.h"

static const uint64_t frame_ns = 100000000u;	/* ten frames a second at most */
enum { TICK_MS = 250 };				/* for what ends by itself: messages */

struct app {
	struct session *session;
	struct screen *screen;
	struct canvas *canvas;
	uint64_t drawn;			/* when the last frame was shown */
	bool changed;			/* there is something to draw */
	bool answering;			/* to a key: at once */
	bool done;
};

bool app_possible(char **error)
{
	return term_possible(error);
}

static int wait_ms(const struct app *app)
{
	uint64_t next = app->drawn + frame_ns, now = util_now();

	if (!app->changed)
		return TICK_MS;
	return next > now ? (int)((next - now) / 1000000 + 1) : 0;
}

static void await(const struct app *app)
{
	struct pollfd fds[TERM_FDS + 1];
	int count = term_fds(fds);

	fds[count++] = (struct pollfd) { .fd = session_picture_fd(app->session), .events = POLLIN };
	poll(fds, (nfds_t)count, wait_ms(app));
}

static void resize(struct app *app)
{
	canvas_free(app->canvas);
	app->canvas = term_canvas();
	term_redraw();
}

static void take_input(struct app *app, const struct input *input)
{
	if (input->kind == INPUT_RESIZE)
		resize(app);
	switch (screen_input(app->screen, input, util_now())) {
	case SCREEN_QUIT:
		app->done = true;
		break;
	case SCREEN_REDRAW:
		resize(app);
		break;
	case SCREEN_SUSPEND:
		term_suspend();
		resize(app);
		break;
	case SCREEN_NOTHING:
		break;
	}
	app->answering = true;
}

static void draw(struct app *app)
{
	screen_draw(app->screen, app->canvas);
	term_show(app->canvas);
	app->drawn = util_now();
	app->changed = false;
	app->answering = false;
}

static void step(struct app *app)
{
	struct input input;

	await(app);
	while (!app->done && term_read(&input))
		take_input(app, &input);
	if (screen_step(app->screen, util_now()))
		app->changed = true;
	if (app->answering || (app->changed && util_now() - app->drawn >= frame_ns))
		draw(app);
}

bool app_run(struct session *session, const struct config *config, char **error)
{
	struct app app = { .session = session };

	if (!term_open(&config->theme, error))
		return false;
	app.screen = screen_new(session, config);
	app.canvas = term_canvas();
	draw(&app);
	while (!app.done)
		step(&app);
	term_close();
	canvas_free(app.canvas);
	screen_free(app.screen);
	return true;
}
