/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/base/budget.h"
#include "agent/base/change.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "agent/formats/picture/bins.h"
#include "agent/formats/picture/cells.h"
#include "agent/formats/picture/html.h"
#include "agent/formats/picture/picture.h"
#include "agent/formats/picture/svg.h"
#include "agent/formats/writing/json_text.h"
#include "agent/formats/writing/name_text.h"
#include "agent/import/set_import.h"
#include "agent/query/question/filter.h"
#include "agent/query/question/grouping.h"
#include "agent/report/report.h"
#include "agent/samples/kept_paths.h"
#include "agent/samples/sample_collect.h"
#include "agent/samples/sample_set.h"
#include "agent/session/session.h"
#include "agent/source/replay.h"
#include "agent/wire/recording.h"
#include "diff_request.h"
#include "set_diff.h"

enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_SVG, FORMAT_HTML, FORMATS };
enum { SHARE_SELF, SHARE_TOTAL };
enum { PER_TIME, PER_SAMPLES };
enum { TOP = 30 };
static const char *const endings[FORMATS] = { ".txt", ".json", ".svg", ".html" };
#define TOP_UNSET UINT32_MAX
#define OPTION(word, takes, what, member, text, ...) \
	{ .name = word, .value = takes, .help = text, .kind = what, \
		.offset = offsetof(struct diff_request, member), __VA_ARGS__ }

/* "2%" or "2". */
static bool read_points(const char *text, double *points)
{
	char *end;

	*points = strtod(text, &end);
	if (end == text || *text < '0' || *text > '9')
		return false;
	end += *end == '%';
	return !*end && *points <= 100;
}

static bool check_points(const char *text, char **error)
{
	double points;

	return read_points(text, &points) || util_fail(error, "it is no share; give such as 2%%");
}

static bool check_filter(const char *text, char **error)
{
	struct filter filter;

	return filter_parse(text, &filter, error);
}

static struct filter filter_of(const struct diff_request *request)
{
	struct filter filter = { 0 };

	if (request->filter)
		filter_parse(request->filter, &filter, NULL);
	return filter;
}

const struct option_row diff_request_options[] = {
	OPTION("filter", "WORDS", OPTION_TEXT, filter, "of recordings: only what these words let pass, as typed on the "
		"screen: " FILTER_WORDS, .check = check_filter, .once = option_words_once),
	OPTION("by", GROUP_CHOICES, OPTION_CHOICE, by, "what a row of the table is (function)"),
	OPTION("share", "self|total", OPTION_CHOICE, share, "of what ran itself, or with all that it called (self)"),
	OPTION("per", "time|samples", OPTION_CHOICE, per,
		"what shares are of: the time that samples stand for, or their number (time)"),
	OPTION("inline", NULL, OPTION_FLAG, inlined,
		"inlined functions are rows and frames; else they count for the one that they are in"),
	OPTION("fail-above", "N", OPTION_TEXT, fail_above,
		"exit status 3 if the share of a row grew by more, such as 2%", .check = check_points),
	OPTION("top", "N", OPTION_NUMBER, top, "rows at most, 0 for all (text: 30; JSON: all)"),
	OPTION("format", "text|json|svg|html", OPTION_CHOICE, format,
		"how it is written (by the ending of FILE; text)"),
	OPTION("flame", NULL, OPTION_FLAG, flame, "pictures: flames, from the foot up, in place of icicles"),
	OPTION("output", "FILE", OPTION_FILE, file, "the file to write: .txt, .json, .svg, .html (standard output)",
		.letter = 'o'),
	OPTION("memory", "MIB", OPTION_NUMBER, memory, "memory that ktop itself may use, 64 or more (512)",
		.least = BUDGET_LEAST_MIB, .most = BUDGET_MOST_MIB),
	{ 0 },
};

const struct diff_request diff_request_default = { .format = -1, .top = TOP_UNSET };

/* -1: the ending of the file's name tells none. */
static int format_of(const struct diff_request *request)
{
	const char *ending = request->file ? strrchr(request->file, '.') : endings[FORMAT_TEXT];
	int format = ending ? FORMATS - 1 : -1;

	if (request->format >= 0)
		return request->format;
	while (format >= 0 && strcmp(ending, endings[format]) != 0)
		format--;
	return format;
}

static bool is_picture(const struct diff_request *request)
{
	return format_of(request) == FORMAT_SVG || format_of(request) == FORMAT_HTML;
}

/* An option of rows that was given; NULL: none was. */
static const char *option_of_rows(const struct diff_request *request)
{
	return request->by != GROUP_FUNCTION ? "--by" : request->share != SHARE_SELF ? "--share" :
		request->top != TOP_UNSET ? "--top" : NULL;
}

static bool names_rows(const struct diff_request *request)
{
	const struct filter filter = filter_of(request);

	return !filter_lacks(&filter, FILTER_FUNCTION);
}

bool diff_request_check(const struct diff_request *request, char **error)
{
	const char *option = option_of_rows(request);

	if (format_of(request) < 0)
		return util_fail(error, "%s: its ending names no format; give --format, or one of .txt, .json, .svg, "
			".html", request->file);
	if (is_picture(request) && option)
		return util_fail(error, "%s: without effect: a picture has stacks, and no rows; leave it out", option);
	if (is_picture(request) && names_rows(request))
		return util_fail(error, "--filter: without effect: a NAME alone chooses rows, and a picture has none; "
			"give under:NAME");
	if (!is_picture(request) && request->flame)
		return util_fail(error, "--flame: without effect: it is for pictures; leave it out");
	return true;
}

/* False with `error` set: no memory to draw it. */
static bool put(const struct diff_request *request, const struct set_diff *diff, const struct diff_side *sides,
	const struct kept_paths *kept, FILE *to, char **error)
{
	int format = format_of(request);

	if (is_picture(request))
		return diff_picture(diff, sides, (struct diff_look) {
			.html = format == FORMAT_HTML, .flame = request->flame, .kept = kept,
		}, to, error);
	if (format == FORMAT_JSON)
		diff_json(diff, sides, request->top == TOP_UNSET ? 0 : request->top, to);
	else
		diff_text(diff, sides, request->top == TOP_UNSET ? TOP : request->top, to);
	return true;
}

static bool write_out(const struct diff_request *request, const struct set_diff *diff, const struct diff_side *sides,
	const struct kept_paths *kept, char **error)
{
	struct util_file *file = request->file ? util_file_open(request->file, error) : NULL;

	if (request->file && !file)
		return false;
	if (!put(request, diff, sides, kept, file ? util_file_stream(file) : stdout, error)) {
		util_file_discard(file);
		return false;
	}
	return !file || util_file_commit(file, error);
}

/* False with `error` set: the share of a row has grown by more than it may. */
static bool hold_limit(const struct diff_request *request, const struct set_diff *diff, char **error)
{
	const struct diff_row *row;
	double points;
	char *name;

	if (!request->fail_above || !read_points(request->fail_above, &points))
		return true;
	row = set_diff_grown(diff, points);
	if (!row)
		return true;
	name = util_printable(row->name, strlen(row->name));
	if (row->named.share < row->change.share)
		util_fail(error, "of what has names, the share of %s has grown by %.2f points: --fail-above %s allows "
			"less; see the table", name, 100 * row->named.share, request->fail_above);
	else
		util_fail(error, "the share of %s has grown by %.2f points: --fail-above %s allows less; see the table",
			name, 100 * row->change.share, request->fail_above);
	free(name);
	return false;
}

/* False with `error` set: a side does not know what is asked for. */
static bool check_sides(const struct diff_request *request, const struct diff_side *sides, char **error)
{
	if (request->names && !sides[0].recorded && !sides[1].recorded)
		return util_fail(error, "no names: neither side is a recording; leave out --kernel and the like");
	for (int i = 0; i < DIFF_SIDES; i++) {
		if (!set_diff_knows(sides[i].set, (enum group_by)request->by))
			return util_fail(error, "--by %s: without effect: %s does not tell it; choose other rows, or "
				"name a recording", group_words[request->by], sides[i].name);
		if (request->per == PER_SAMPLES && !sides[i].set->samples)
			return util_fail(error, "--per samples: without effect: %s does not tell their number; "
				"leave it out", sides[i].name);
	}
	return true;
}

static enum diff_outcome compare(const struct diff_request *request, const struct diff_side *sides,
	const struct kept_paths *kept, struct budget *budget, char **error)
{
	const struct filter filter = filter_of(request);
	const struct diff_question question = {
		.filter = &filter,
		.by = (enum group_by)request->by, .total = request->share == SHARE_TOTAL,
		.inlined = request->inlined, .samples = request->per == PER_SAMPLES,
	};
	enum diff_outcome outcome = DIFF_FAILED;
	struct set_diff diff;

	if (!check_sides(request, sides, error))
		return DIFF_FAILED;
	if (!set_diff_make(&diff, sides[0].set, sides[1].set, question, budget))
		util_fail(error, "no diff: there is no memory for its rows; give more by --memory");
	else if (write_out(request, &diff, sides, kept, error))
		outcome = hold_limit(request, &diff, error) ? DIFF_DONE : DIFF_GROWN;
	set_diff_clear(&diff);
	return outcome;
}

/* What is asked for, and where it comes from. */
struct asked {
	const struct diff_request *request;
	const char *words[DIFF_SIDES];
	struct diff_side_options options;
	struct budget *budget;
};

static bool read_side(const struct asked *asked, int i, struct diff_side *sides, char **error)
{
	return diff_side_read(&sides[i], asked->words[i], &asked->options, asked->budget, error);
}

static bool is_merged(const struct diff_side *side)
{
	return side->set->facts.merged;
}

/* Can all frames of both sides be drawn? */
static bool fits(const struct diff_side *sides, const struct budget *budget)
{
	return !is_merged(&sides[0]) && !is_merged(&sides[1]) &&
		sample_collect_drawn(sides[0].set) + sample_collect_drawn(sides[1].set) <= budget_left(budget);
}

/* Reads what each side has merged by itself again, now with the paths that both keep. */
static bool read_again(struct asked *asked, struct diff_side *sides, char **error)
{
	const bool merged[DIFF_SIDES] = { is_merged(&sides[0]), is_merged(&sides[1]) };

	for (int i = 0; i < DIFF_SIDES; i++)
		if (merged[i])
			diff_side_clear(&sides[i]);
	for (int i = 0; i < DIFF_SIDES; i++)
		if (merged[i] && !read_side(asked, i, sides, error))
			return false;
	return true;
}

/*
 * Chooses the heaviest frames of each side: on both sides they stand alone, and all others are merged. NULL with
 * `error` set.
 */
static struct kept_paths *merge(struct asked *asked, struct diff_side *sides, char **error)
{
	struct kept_paths *kept = kept_paths_new(asked->options.lines, asked->budget);

	asked->options.kept = kept;
	if (asked->request->fail_above && (is_merged(&sides[0]) || is_merged(&sides[1])))
		util_fail(error, "--fail-above: not decided: there is no memory for all frames; give more by --memory, "
			"or choose shorter ranges");
	else if (!kept_paths_choose(kept, sides[0].set, SAMPLE_COLLECT_ALONE) ||
			!kept_paths_choose(kept, sides[1].set, SAMPLE_COLLECT_ALONE))
		util_fail(error, "no diff: there is no memory for its frames; give more by --memory");
	else if (read_again(asked, sides, error))
		return kept;
	kept_paths_free(kept);
	return NULL;
}

enum diff_outcome diff_request_do(const struct diff_request *request, const char *before, const char *after,
	char **error)
{
	struct asked asked = {
		.request = request, .words = { before, after },
		.options = {
			.filter = request->filter, .names = request->names,
			.lines = request->inlined || request->by == GROUP_LINE || request->by == GROUP_FILE,
			.nobody = !grouping_is_by_who((enum group_by)request->by),
			.most = is_picture(request) ? SAMPLE_COLLECT_ALONE : 0,
		},
		.budget = budget_new(request->memory ? request->memory : BUDGET_MIB),
	};
	struct diff_side sides[DIFF_SIDES] = { 0 };
	enum diff_outcome outcome = DIFF_FAILED;
	struct kept_paths *kept = NULL;

	if (read_side(&asked, 0, sides, error) && read_side(&asked, 1, sides, error)) {
		bool whole = !is_picture(request) || fits(sides, asked.budget);

		if (!whole)
			kept = merge(&asked, sides, error);
		if (whole || kept)
			outcome = compare(request, sides, kept, asked.budget, error);
	}
	kept_paths_free(kept);
	diff_side_clear(&sides[0]);
	diff_side_clear(&sides[1]);
	budget_release(asked.budget);
	return outcome;
}

char *diff_request_remark(const struct diff_request *request)
{
	static const char *const names[FORMATS] = { "text", "json", "svg", "html" };
	int format = format_of(request);

	return request->file && request->format < 0 ?
		util_file_ends_twice(request->file, endings[format], names[format]) : NULL;
}

/* ---- as JSON ---- */

/* Times and losses are of recordings. */
static void put_side(FILE *to, const char *member, const struct diff_side *side, const struct portion *unnamed,
	double callers)
{
	const struct sample_set *set = side->set;
	const struct set_facts *facts = &set->facts;

	fprintf(to, "\"%s\":{\"source\":", member);
	json_text_put(to, side->name);
	fprintf(to, ",\"samples\":%" PRIu64 ",\"weight\":%" PRIu64, set->samples, set->weight);
	if (facts->to)
		fprintf(to, ",\"from\":%.9f,\"to\":%.9f,\"lost\":%" PRIu64,
			diff_seconds(set_facts_shown(facts, facts->from)),
			diff_seconds(set_facts_shown(facts, facts->to)), facts->lost);
	if (side->note) {
		fputs(",\"note\":", to);
		json_text_put(to, side->note);
	}
	if (unnamed->weight || callers > 0) {
		fprintf(to, ",\"incomplete\":{\"share\":%.9f", change_share(unnamed->weight, unnamed->whole));
		if (callers > 0)
			fprintf(to, ",\"callers\":%.9f", callers);
		fputs(",\"reason\":", to);
		json_text_put(to, side->unnamed);
		putc('}', to);
	}
	fputs("},\n", to);
}

static void put_portion(FILE *to, const char *member, const struct portion *portion)
{
	fprintf(to, ",\"%s\":{\"samples\":%" PRIu64 ",\"weight\":%" PRIu64 ",\"share\":%.9f}", member, portion->samples,
		portion->weight, change_share(portion->weight, portion->whole));
}

static void put_row(FILE *to, const struct diff_row *row)
{
	fputs("{\"name\":", to);
	json_text_put(to, row->name);
	put_portion(to, "before", &row->before);
	put_portion(to, "after", &row->after);
	fprintf(to, ",\"change\":%.9f,\"chance\":%s,\"new\":%s,\"gone\":%s}", row->change.share,
		row->change.chance ? "true" : "false", row->change.appeared ? "true" : "false",
		row->change.gone ? "true" : "false");
}

void diff_json(const struct set_diff *diff, const struct diff_side sides[DIFF_SIDES], uint32_t top, FILE *to)
{
	uint32_t shown = top && top < diff->count ? top : diff->count;

	fputs("{\n", to);
	put_side(to, "before", &sides[0], &diff->unnamed_before, set_diff_callers(&diff->callers_before));
	put_side(to, "after", &sides[1], &diff->unnamed_after, set_diff_callers(&diff->callers_after));
	fprintf(to, "\"by\":\"%s\",\n\"per\":\"%s\",\n\"share\":\"%s\",\n", group_words[diff->question.by],
		diff->question.samples ? "samples" : "time", diff->question.total ? "total" : "self");
	fprintf(to, "\"rows\":%" PRIu32 ",\n\"%s\":[", diff->count,
		diff->question.by == GROUP_FUNCTION ? "functions" : "groups");
	for (uint32_t i = 0; i < shown; i++) {
		fputs(i ? ",\n" : "\n", to);
		put_row(to, &diff->rows[i]);
	}
	fputs("\n]}\n", to);
}

/* ---- as text ---- */

static void text_put_side(FILE *to, const char *letter, const struct diff_side *side, const struct portion *unnamed,
	double callers)
{
	const struct sample_set *set = side->set;
	const struct set_facts *facts = &set->facts;

	fputs(letter, to);
	name_text_put(to, side->name, "");
	fprintf(to, ": %" PRIu64 " sample%s", set->samples, util_plural(set->samples));
	if (facts->to)
		fprintf(to, " from %.2f to %.2f s, lost %" PRIu64, diff_seconds(set_facts_shown(facts, facts->from)),
			diff_seconds(set_facts_shown(facts, facts->to)), facts->lost);
	if (side->note) {
		fputs("; ", to);
		name_text_put(to, side->note, "");
	}
	if (unnamed->weight)
		fprintf(to, "; incomplete: %.2f%% of it has no name: %s",
			100 * change_share(unnamed->weight, unnamed->whole), side->unnamed);
	if (callers > 0)
		fprintf(to, "; incomplete: %.2f%% of it has a caller without a name: %s", 100 * callers, side->unnamed);
	putc('\n', to);
}

static void text_put_row(FILE *to, const struct diff_row *row)
{
	char text[CHANGE_TEXT];

	fprintf(to, "%*s %7.2f %7.2f  ", CHANGE_WIDTH, change_text(row->change, CHANGE_WIDTH, text),
		100 * change_share(row->before.weight, row->before.whole),
		100 * change_share(row->after.weight, row->after.whole));
	name_text_put(to, row->name, "");
	putc('\n', to);
}

void diff_text(const struct set_diff *diff, const struct diff_side sides[DIFF_SIDES], uint32_t top, FILE *to)
{
	static const char *const rows[GROUPS] = {
		"functions", "lines", "files", "objects", "processes", "threads", "comms", "CPUs", "modes",
	};
	uint32_t shown = top && top < diff->count ? top : diff->count;

	text_put_side(to, "A (before): ", &sides[0], &diff->unnamed_before, set_diff_callers(&diff->callers_before));
	text_put_side(to, "B (after):  ", &sides[1], &diff->unnamed_after, set_diff_callers(&diff->callers_after));
	fprintf(to, "Shares of %s %s%s, in percent; + means more in B, ~ may be chance.\n\n", rows[diff->question.by],
		diff->question.total ? "with all that they call" : "themselves",
		diff->question.samples ? ", of samples" : "");
	fprintf(to, "%*s %7s %7s  %s\n", CHANGE_WIDTH, "CHANGE", "A", "B", group_heads[diff->question.by].name);
	for (uint32_t i = 0; i < shown; i++)
		text_put_row(to, &diff->rows[i]);
	if (shown < diff->count)
		fprintf(to, "... and %" PRIu32 " more; --top 0 shows all\n", diff->count - shown);
}

/* ---- as a picture ---- */

/* A function has another place in each build. Here it is known by its name, and told as B has it, if it is in B. */
struct drawing {
	const struct set_diff *diff;
	const struct kept_paths *kept;	/* NULL: all */
	uint32_t merged;		/* stacks that stood alone in their set */
	struct cells *cells;
	struct hash names;		/* those in `functions` */
	const struct set_function **functions;
	uint32_t count;
};

/* NULL: no memory. */
static const struct set_function *known_as(struct drawing *drawing, const struct set_function *function)
{
	uint64_t hash = hash_text(&drawing->names, function->name);
	uint32_t at = 0, position;

	while ((position = hash_next(&drawing->names, hash, &at)) != HASH_NONE)
		if (strcmp(drawing->functions[position]->name, function->name) == 0)
			return drawing->functions[position];
	if (!hash_add(&drawing->names, hash, drawing->count))
		return NULL;
	return drawing->functions[drawing->count++] = function;
}

/* Where a stack is in the picture. */
struct place {
	uint32_t cell;			/* SET_NONE: no memory */
	uint32_t path;			/* among the kept ones; SET_NONE: it is merged */
};

/* One function deeper. What is below a merged one is in the same cell. */
static void go_down(struct drawing *drawing, const struct set_function *function, struct place *place)
{
	if (place->path == SET_NONE || place->cell == SET_NONE)
		return;
	if (drawing->kept)
		place->path = kept_paths_find(drawing->kept, place->path, function->name);
	function = known_as(drawing, place->path == SET_NONE ? &kept_paths_merged : function);
	place->cell = function ? cells_child(drawing->cells, place->cell, function) : SET_NONE;
}

static struct place place_of(struct drawing *drawing, const struct sample_set *set, const struct set_location *location,
	struct place place)
{
	uint32_t last = drawing->diff->question.inlined ? 0 : location->count - 1;

	for (uint32_t i = location->count; i-- > last;)
		go_down(drawing, &set->functions[set->lines[location->first + i].function], &place);
	return place;
}

/* A set that was merged has told of its own frames how many there are. */
static uint32_t count_merged(const struct sample_set *set, uint32_t stack, struct place place)
{
	return place.path == SET_NONE && !kept_paths_is_merged(set, stack);
}

/* A stack's caller comes before it. */
static bool map_stacks(struct drawing *drawing, const struct sample_set *set, struct place *places)
{
	for (uint32_t i = 0; i < set->stack_count; i++) {
		const struct set_stack *stack = &set->stacks[i];
		const struct place root = { .cell = CELLS_ROOT, .path = KEPT_ROOT };

		places[i] = place_of(drawing, set, &set->locations[stack->location],
			stack->parent == SET_NONE ? root : places[stack->parent]);
		if (places[i].cell == SET_NONE)
			return false;
		drawing->merged += count_merged(set, i, places[i]);
	}
	return true;
}

static struct cell_amount amount_of(const struct drawing *drawing, const struct sample_set *set,
	const struct set_sum *sum)
{
	const struct diff_question *question = &drawing->diff->question;
	uint64_t weight = set_diff_whole(question, sum->samples, sum->weight);

	if (set == drawing->diff->before)
		return (struct cell_amount) { .before = weight, .samples_before = sum->samples };
	return (struct cell_amount) {
		.weight = weight, .samples = sum->samples, .ns = question->samples ? 0 : sum->ns,
	};
}

static bool add_set(struct drawing *drawing, const struct sample_set *set)
{
	struct place *places = calloc((size_t)set->stack_count + 1, sizeof(*places));
	bool good = places && map_stacks(drawing, set, places);

	for (uint32_t i = 0; good && i < set->sum_count; i++) {
		const struct set_sum *sum = &set->sums[i];
		struct cell_amount amount = amount_of(drawing, set, sum);

		good = cells_add(drawing->cells, places[sum->stack].cell, sum->who.mode, &amount) != SET_NONE;
	}
	free(places);
	return good;
}

static bool make(struct drawing *drawing)
{
	const struct set_diff *diff = drawing->diff;
	size_t count = (size_t)diff->before->function_count + diff->after->function_count + 1;

	drawing->cells = cells_new(diff->after->budget);
	drawing->functions = calloc(count, sizeof(*drawing->functions));
	return drawing->cells && drawing->functions && add_set(drawing, diff->after) &&
		add_set(drawing, diff->before) && cells_settle(drawing->cells);
}

static bool draw(const struct drawing *drawing, const struct diff_side sides[DIFF_SIDES], struct diff_look look,
	FILE *to)
{
	const struct sample_set *before = drawing->diff->before;
	char *what = util_format("%s: %" PRIu64 " sample%s", sides[0].name, before->samples,
		util_plural(before->samples));
	const struct set_facts *facts = &drawing->diff->after->facts;
	struct picture picture = {
		.cells = drawing->cells, .title = sides[1].name, .before = what,
		.facts = facts->to ? facts : NULL,	/* most files tell neither a range nor what was lost */
		.merged = drawing->merged + before->facts.merged + facts->merged,
		.colours = COLOURS_CHANGE, .flame = look.flame,
	};
	struct bins bins = { 0 };
	bool good = look.html ? html_write(&picture, &bins, to) : svg_write(&picture, to);

	free(what);
	return good;
}

bool diff_picture(const struct set_diff *diff, const struct diff_side sides[DIFF_SIDES], struct diff_look look,
	FILE *to, char **error)
{
	struct drawing drawing = { .diff = diff, .kept = look.kept };
	bool good;

	hash_init(&drawing.names, diff->budget);
	good = make(&drawing) && draw(&drawing, sides, look, to);
	hash_clear(&drawing.names);
	cells_free(drawing.cells);
	free(drawing.functions);
	return good || util_fail(error, "not drawn: no memory is left; choose shorter ranges, or end other programs");
}

/* ---- diff side ---- */

enum { STEP_MS = 10 };

/* What was asked for, taken apart. */
struct diff_side_asked {
	char *path;			/* in fresh memory, as are the times behind it */
	bool range;
	const char *from, *to;		/* NULL: as far as there is */
	const struct diff_side_options *options;
};

static struct diff_side_asked take_apart(const char *words, const struct diff_side_options *options)
{
	struct diff_side_asked asked = { .options = options };

	asked.path = report_range_of(words, &asked.range, &asked.from, &asked.to);
	return asked;
}

/* The report is over. False with `error` set: there are no samples. */
static bool take_samples(struct diff_side *side, const struct report *report, const struct diff_side_options *options,
	char **error)
{
	const struct sample_collect how = { .most = options->most, .kept = options->kept, .nobody = options->nobody };
	char *why = NULL;

	if (report->state == REPORT_FAILED)
		return util_fail(error, "%s: %s", side->name, report->error);
	if (report->note[0])
		side->note = util_copy(report->note, strlen(report->note));
	side->unnamed = report_unnamed(report);
	side->set = report_samples(report, &how, &why);
	if (!side->set)
		util_fail(error, "%s: %s", side->name, why);
	free(why);
	return side->set;
}

static bool read_recording(struct diff_side *side, const struct diff_side_asked *asked, struct budget *budget,
	char **error)
{
	const struct replay_options replay = { .at_once = true,
		.kernel_given = asked->options->names && asked->options->names->kernel };
	struct session_options options = { .budget = NULL };
	struct recording *recording = recording_new(asked->path, error);
	struct report_request request = report_default;
	struct session *session;
	struct report *report;
	bool good;

	if (asked->options->names)
		options = *asked->options->names;
	options.budget = budget;
	session = recording ? session_new(replay_new(recording, &replay), &options, error) : NULL;
	if (!session)
		return false;
	request.from = asked->from;
	request.to = asked->to;
	request.filter = asked->options->filter;
	request.lines = asked->options->lines;
	side->recorded = true;
	report = report_new(session, &request);
	while (report_step(report) < REPORT_DONE)
		session_step(session, STEP_MS);
	good = take_samples(side, report, asked->options, error);
	report_free(report);
	session_free(session);
	return good;
}

/* A file of stacks has neither times nor CPUs. */
static bool read_file(struct diff_side *side, const struct diff_side_asked *asked, struct budget *budget, char **error)
{
	if (asked->range)
		return util_fail(error, "%s: not read: a file of stacks has no times; leave out the range, or name a "
			"recording", side->name);
	if (asked->options->filter)
		return util_fail(error, "--filter: without effect: %s is a file of stacks; leave it out", side->name);
	side->unnamed = util_format("the file does not tell it");
	side->set = set_import_file(asked->path, budget, error);
	return side->set;
}

static bool check_times(const struct diff_side *side, const struct diff_side_asked *asked, char **error)
{
	char *why = NULL;

	if ((!asked->from || report_check_time(asked->from, &why)) &&
			(!asked->to || report_check_time(asked->to, &why)))
		return true;
	util_fail(error, "%s: not read: %s", side->name, why);
	free(why);
	return false;
}

static bool read_asked(struct diff_side *side, const struct diff_side_asked *asked, struct budget *budget, char **error)
{
	struct stat about;

	if (stat(asked->path, &about) != 0)
		return util_fail(error, "%s: not read: %s; name a recording, or a file of stacks", asked->path,
			strerror(errno));
	if (!check_times(side, asked, error))
		return false;
	return S_ISDIR(about.st_mode) ? read_recording(side, asked, budget, error) :
		read_file(side, asked, budget, error);
}

bool diff_side_read(struct diff_side *side, const char *words, const struct diff_side_options *options,
	struct budget *budget, char **error)
{
	struct diff_side_asked asked = take_apart(words, options);
	bool good;

	*side = (struct diff_side) { .name = words };
	good = read_asked(side, &asked, budget, error);
	free(asked.path);
	return good;
}

void diff_side_clear(struct diff_side *side)
{
	sample_set_free(side->set);
	free(side->note);
	free(side->unnamed);
	*side = (struct diff_side) { 0 };
}
