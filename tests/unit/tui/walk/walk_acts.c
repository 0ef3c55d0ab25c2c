/* SPDX-License-Identifier: MIT */
/* The steps of a walk: what the user does, what guests do, and what the tabs take. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "agent/guest/epoch.h"
#include "tui/screen/tabs.h"
#include "tui/terminal/canvas.h"
#include "tui/views/table/column.h"
#include "walk.h"
#include "walk_fleet.h"

/* ---- what the tabs take ---- */

void walk_step(struct walk *walk)
{
	struct model *model = walk_model(walk);
	struct session *own = walk_is_all(walk) ? NULL : &walk_guest(walk)->session;
	const struct function_table *functions;
	const struct vitals *vitals;
	struct session_message messages[WALK_MACHINES];
	uint64_t rows_boot = walk_is_tree(model->view) ? 0 : model_rows_boot(model);

	for (size_t i = 0; i < walk->machines; i++) {
		struct session *session = &walk->guests[i].session;

		guest_told(&walk->guests[i]);
		messages[i] = session->message;
		session->took_vitals = NULL;
		session->took_functions = NULL;
	}
	tabs_step(walk->tabs, walk->now);
	vitals = own ? own->took_vitals : walk_fleet_vitals();
	functions = own ? own->took_functions : walk_fleet_functions();
	if (functions && (walk_is_tree(model->view) || (own ? own->took_by : walk_fleet_by()) != model->table.by))
		functions = NULL;		/* it was for another view, and is freed */
	if (own && functions && rows_boot && own->took_boot != rows_boot && !own->took_begun)
		functions = NULL;		/* a boot without samples leaves the rows of the boot before */
	if (vitals || functions) {
		model_took(model, vitals, functions);
		cursor_update(model);
	}
	for (size_t i = 0; i < walk->machines; i++)
		if (messages[i].text[0])
			model_told(walk, &walk->guests[i], &messages[i]);
}

/* True: answers wait that were not taken yet. */
static bool guest_has_more(const struct walk_guest *guest)
{
	return guest->session.next && guest->session.next->vitals;
}

void walk_show(struct walk *walk)
{
	size_t one = random_below(&walk->random, 3 * WALK_MACHINES);	/* beyond the last: all machines */

	for (size_t i = 0; i < walk->machines; i++)
		if (!guest_has_more(&walk->guests[i]) && (i == one || one >= walk->machines))
			guest_give(walk, &walk->guests[i]);
	walk_step(walk);
}

/* ---- guests, links, VMs ---- */

static void say(struct walk *walk, struct session *session, bool failed)
{
	if (walk->gathered > 4)
		return;				/* or All's status line would not fit */
	strcpy(session->message.text, failed ? "profiling not turned on: no; try again" : "it was done");
	session->message.failed = failed;
	session->message.profiler = failed || random_below(&walk->random, 2);
	walk_step(walk);
}

static void news(struct walk *walk)
{
	struct random *random = &walk->random;
	struct walk_guest *guest = &walk->guests[random_below(random, walk->machines)];

	switch (random_below(random, 40)) {
	case 0:
		guest->link = (enum link_state)random_below(random, LINK_LOST + 1);
		break;
	case 1: case 2: case 3:
		guest->link = LINK_UP;
		break;
	case 4:
		guest->vm = (enum vm_state)random_below(random, VM_GONE + 1);
		break;
	case 5: case 6: case 7:
		guest->vm = VM_RUNNING;
		break;
	case 8:
		guest->kept = (enum kept_wish)random_below(random, KEPT_OFF + 1);
		break;
	case 9: case 10:
		guest->kept = KEPT_NONE;
		break;
	case 11: case 12:
		if (guest->epoch->known)
			guest_status(guest, random_below(random, 2));
		break;
	case 13:
		if (random_below(random, 10) == 0)
			guest_boot(walk, guest);
		break;
	case 14: case 15: case 16:
		guest_give(walk, guest);		/* another page may be shown by the time they are taken */
		break;
	case 17: case 18:
		say(walk, &guest->session, random_below(random, 2));
		break;
	default:
		guest_goes_on(walk, guest);
	}
}

/* ---- the user ---- */

static void resize(struct walk *walk)
{
	static const struct { int rows, columns; } sizes[] = {
		{ WALK_TALL, WALK_WIDE }, { WALK_TALL, WALK_WIDE }, { WALK_TALL, WALK_WIDE },
		{ 24, 80 }, { 10, 40 }, { 5, 20 }, { 2, 10 }, { 16, 90 },
	};
	size_t i = random_below(&walk->random, sizeof(sizes) / sizeof(*sizes));

	canvas_free(walk->canvas);
	walk->canvas = canvas_new(sizes[i].rows, sizes[i].columns, random_below(&walk->random, 4) != 0);
}

void walk_do_something(struct walk *walk)
{
	struct random *random = &walk->random;

	switch (random_below(random, 24)) {
	case 0:
		walk_draw(walk);			/* a user clicks on what is drawn */
		if (random_below(&walk->random, 4))
			walk_click(walk);
		else
			walk_drag_heat(walk);
		break;
	case 1:
		walk_scroll(walk, random_below(random, 2));
		break;
	case 2:
		walk_draw(walk);
		if (random_below(random, 8) == 0)
			resize(walk);
		else
			walk_drag(walk);
		break;
	case 3:
		walk_paste(walk, 'a' + (uint32_t)random_below(random, 26));
		break;
	case 4: case 5: case 6: case 7: case 8:
		news(walk);
		break;
	case 9: case 10: case 11: case 12:
		walk_show(walk);
		break;
	default:
		walk_press(walk);
	}
}
