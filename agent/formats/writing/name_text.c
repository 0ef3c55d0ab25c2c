/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/samples/sample_set.h"
#include "name_text.h"

size_t name_text_next(const char **text, const char *special, char piece[NAME_PIECE])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char byte = (unsigned char)**text;
	uint32_t point;
	size_t size = util_utf8(*text, strnlen(*text, NAME_PIECE), &point);

	if (!byte)
		return 0;
	if (size && util_is_printable(point) && byte != '\\' && !strchr(special, byte)) {
		memcpy(piece, *text, size);
		*text += size;
		return size;
	}
	piece[0] = '\\';
	piece[1] = 'x';
	piece[2] = digits[byte >> 4];
	piece[3] = digits[byte & 15];
	++*text;
	return 4;
}

void name_text_put(FILE *to, const char *text, const char *special)
{
	char piece[NAME_PIECE];

	for (size_t size; (size = name_text_next(&text, special, piece));)
		fwrite(piece, 1, size, to);
}

/* The value of the lower-case digit; 16: it is none. */
static unsigned digit(char text)
{
	return text >= '0' && text <= '9' ? (unsigned)(text - '0') : text >= 'a' && text <= 'f' ?
		(unsigned)(text - 'a') + 10 : 16;
}

/* Is this what name_text_put writes of the name? */
static bool is_text_of(const char *text, size_t size, const char *name)
{
	char piece[NAME_PIECE];

	for (size_t length; (length = name_text_next(&name, "", piece)); text += length, size -= length)
		if (length > size || memcmp(text, piece, length) != 0)
			return false;
	return !size;
}

void name_text_back(const char *text, size_t size, char *name)
{
	char *end = name;

	for (size_t i = 0; i < size; i++) {
		bool coded = size - i >= 4 && text[i] == '\\' && text[i + 1] == 'x' && digit(text[i + 2]) < 16 &&
			digit(text[i + 3]) < 16;

		*end++ = coded ? (char)(digit(text[i + 2]) << 4 | digit(text[i + 3])) : text[i];
		i += coded ? 3 : 0;
	}
	*end = 0;
	if (end == name + size || is_text_of(text, size, name))
		return;
	memcpy(name, text, size);
	name[size] = 0;
}

/* ---- frame list ---- */

void frame_list_read(struct frame_list *list, const struct sample_set *set, uint32_t stack)
{
	while ((list->count = sample_set_frames(set, stack, list->frames, list->room)) == list->room) {
		list->room = 2 * list->room + 64;
		list->frames = util_grow(list->frames, list->room, sizeof(*list->frames));
	}
}

void frame_list_clear(struct frame_list *list)
{
	free(list->frames);
	*list = (struct frame_list) { 0 };
}

/* ---- cpu list ---- */

uint32_t cpu_list_index(const struct cpu_list *list, uint32_t cpu)
{
	uint32_t low = 0, high = list->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (list->cpus[middle] < cpu)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void cpu_list_init(struct cpu_list *list, const struct sample_set *set)
{
	*list = (struct cpu_list) { 0 };
	for (uint32_t i = 0; i < set->sum_count; i++) {
		uint32_t cpu = set->sums[i].who.cpu, at = cpu_list_index(list, cpu);

		if (at < list->count && list->cpus[at] == cpu)
			continue;
		list->cpus = util_grow(list->cpus, list->count + 1, sizeof(*list->cpus));
		memmove(&list->cpus[at + 1], &list->cpus[at], (list->count++ - at) * sizeof(*list->cpus));
		list->cpus[at] = cpu;
	}
}

void cpu_list_clear(struct cpu_list *list)
{
	free(list->cpus);
	*list = (struct cpu_list) { 0 };
}

/* ---- thread names ---- */

void thread_names_init(struct thread_names *names, const struct sample_set *set)
{
	bool good = true;

	names->set = set;
	hash_init(&names->by_number, set->budget);
	for (uint32_t i = 0; i < set->thread_count && good; i++)
		if (set->threads[i].id != SET_NONE)
			good = hash_add(&names->by_number, hash_pair(&names->by_number, set->threads[i].id, 0), i);
}

void thread_names_clear(struct thread_names *names)
{
	hash_clear(&names->by_number);
}

uint32_t thread_names_find(const struct thread_names *names, uint64_t number)
{
	uint64_t hash = hash_pair(&names->by_number, number, 0);
	uint32_t at = 0, position;

	while ((position = hash_next(&names->by_number, hash, &at)) != HASH_NONE)
		if (names->set->threads[position].id == number && *names->set->threads[position].name)
			return position;
	return SET_NONE;
}

const char *thread_names_get(const struct thread_names *names, uint64_t number, char text[THREAD_NAME])
{
	uint32_t thread = thread_names_find(names, number);

	if (thread != SET_NONE)
		return names->set->threads[thread].name;
	util_print(text, THREAD_NAME, "thread %" PRIu64, number);
	return text;
}
