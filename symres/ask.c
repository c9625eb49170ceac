// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Many look-ups at once. Questions are searched as they come and put in a
 * queue; the symbols and names that are not known yet are then read in the
 * order of the files, neighbours with one read. What was read is kept for the
 * questions that follow, in a table of a fixed size that grows only where that
 * pays.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

enum {
	QUESTIONS = 9 << 10,	/* at most so many before answers are taken */
	ANSWERS = QUESTIONS,	/* kept, unless growing pays */
	NAMES = 576 << 10,	/* bytes of names for as many */
	GROWTH = 8,		/* times as much, at most */
	WINDOW = 64 << 10,	/* bytes that are read at once */
	NEAR = 4 << 10,		/* what is closer is read with it */
	TAIL = 1 << 10,		/* room for the last name of a stretch */
	REPEAT_BITS = 17,
	REPEATS = 1 << REPEAT_BITS, /* addresses that are remembered as such */
};

/* In place of the number of an answer. */
#define BY_ITSELF UINT32_MAX	/* has to be looked up again, for its reason */
#define NOTHING (UINT32_MAX - 1)	/* no symbol there */

struct question {
	uint64_t addr;
	uint32_t place;
	uint32_t answer;
};

/* What is kept of a symbol. Its name is NULL until it is read, and stays so if
 * it cannot be. */
struct known {
	struct symres_answer is;
	uint32_t file, ref;
};

struct asked {
	struct question *q;
	uint32_t n, taken;
	struct question *repeat;	/* by a hash of place and address; only
					 * where questions are asked again */
	struct known *answer;
	uint32_t answers, room, read;
	uint32_t most;		/* answers in this round */
	uint32_t *slot;		/* hash table of answers, each number plus 1 */
	uint32_t slots;		/* a power of two, less one */
	char *names;
	uint32_t names_len, names_room;
	uint32_t mean;		/* length of a name, as far as seen */
	uint64_t questions, hits, repeats; /* since the table was empty */
	struct symres_answer single;	/* the last one that is not kept */
};

void asked_free(struct asked *a)
{
	if (!a)
		return;
	free(a->q);
	free(a->repeat);
	free(a->answer);
	free(a->slot);
	free(a->names);
	free(a);
}

static uint32_t slot_of(const struct asked *a, uint32_t file, uint32_t ref)
{
	uint64_t h = (file + 1ull) * 0x9e3779b97f4a7c15u + ref;

	return (uint32_t)(h * 0xd6e8feb86659fd93u >> 32) & a->slots;
}

static void put_in_table(struct asked *a, uint32_t number)
{
	uint32_t at = slot_of(a, a->answer[number].file, a->answer[number].ref);

	while (a->slot[at])
		at = (at + 1) & a->slots;
	a->slot[at] = number + 1;
}

static int resize(struct asked *a, uint32_t times, uint32_t names)
{
	uint32_t room = ANSWERS * times, slots = 16 << 10;
	struct known *answer = reallocarray(a->answer, room, sizeof(*answer));
	uint32_t *slot;
	char *text;

	if (!answer)
		return -ENOMEM;
	a->answer = answer;
	while (slots < room + room / 4)
		slots *= 2;
	slot = calloc(slots, sizeof(*slot));
	text = malloc(names);
	if (!slot || !text) {
		free(slot);
		free(text);
		return -ENOMEM;
	}
	if (a->names)
		memcpy(text, a->names, a->names_len);
	for (uint32_t i = 0; i < a->answers; i++)
		if (a->answer[i].is.name)
			a->answer[i].is.name = text +
				(a->answer[i].is.name - a->names);
	free(a->names);
	a->names = text;
	free(a->slot);
	a->slot = slot;
	a->slots = slots - 1;
	a->room = room;
	a->names_room = names;
	for (uint32_t i = 0; i < a->answers; i++)
		put_in_table(a, i);
	return 0;
}

static int asked_new(struct symres *s)
{
	struct asked *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	/* Names as they were written are longer. */
	a->mean = s->demangle ? 128 : 64;
	a->q = reallocarray(NULL, QUESTIONS, sizeof(*a->q));
	if (!a->q || resize(a, 1, NAMES * (s->demangle ? 3 : 1))) {
		asked_free(a);
		return -ENOMEM;
	}
	s->asked = a;
	return 0;
}

static void forget_answers(struct asked *a)
{
	memset(a->slot, 0, (a->slots + 1ull) * sizeof(*a->slot));
	if (a->repeat)
		memset(a->repeat, 0, REPEATS * sizeof(*a->repeat));
	a->answers = 0;
	a->read = 0;
	a->names_len = 0;
	a->questions = 0;
	a->hits = 0;
	a->repeats = 0;
}

/* So many new answers are sure to have room. */
static uint32_t room_left(const struct asked *a)
{
	uint32_t names = (a->names_room - a->names_len) / a->mean;
	uint32_t answers = a->room - a->answers;

	return names < answers ? names : answers;
}

/* Grows where most questions were about what was known. */
static void make_room(struct symres *s, struct asked *a)
{
	uint32_t times = a->room / ANSWERS;

	bool pays = a->hits + a->repeats > a->questions / 2 && !s->max_bytes;

	if (pays && !a->repeat)
		a->repeat = calloc(REPEATS, sizeof(*a->repeat));
	if (room_left(a) >= QUESTIONS / 4 || !a->answers)
		return;
	if (!pays || times == GROWTH || resize(a, 2 * times, 2 * a->names_room))
		forget_answers(a);
}

static int round_begin(struct symres *s)
{
	struct asked *a = s->asked;

	if (!a && asked_new(s))
		return -ENOMEM;
	a = s->asked;
	if (a->taken < a->n)
		return a->taken ? -EBUSY : 0;
	a->questions += a->n;
	a->n = 0;
	a->taken = 0;
	s->round++;
	make_room(s, a);
	a->most = a->answers + room_left(a);
	return 0;
}

/* The answer of a symbol, perhaps a new one that has yet to be read. */
static uint32_t number_of(struct asked *a, const struct file *f, uint32_t ref)
{
	uint32_t at = slot_of(a, f->number, ref), number;
	struct known *known;

	while (a->slot[at]) {
		number = a->slot[at] - 1;
		known = &a->answer[number];
		if (known->ref == ref && known->file == f->number) {
			a->hits++;
			return number;
		}
		at = (at + 1) & a->slots;
	}
	if (a->answers == a->room)
		return BY_ITSELF;
	number = a->answers++;
	a->slot[at] = number + 1;
	known = &a->answer[number];
	known->file = f->number;
	known->ref = ref;
	known->is = (struct symres_answer) { 0 };
	return number;
}

static uint32_t find_answer(struct symres *s, struct file *f, uint64_t addr)
{
	uint32_t ref;

	if (!f || (f->round != s->round && !file_is_ready(f, s)) ||
	    (addr - f->seg_start >= f->seg_size && !file_loads(f, addr)))
		return BY_ITSELF;
	ref = index_find(&f->index, addr);
	return ref == INDEX_NONE ? NOTHING : number_of(s->asked, f, ref);
}

/* Where a question that was put before is remembered. */
static struct question *repeat_of(const struct asked *a, uint32_t place,
				  uint64_t addr)
{
	uint64_t h = (addr + ((uint64_t)place << 48)) * 0x9e3779b97f4a7c15u;

	return &a->repeat[h >> (64 - REPEAT_BITS)];
}

/* One that was not put before, or the first of a round. */
static __attribute__((noinline)) int
ask_anew(struct symres *s, struct symres_place *pl, uint64_t vaddr)
{
	struct question q = { .addr = vaddr, .place = pl->number };
	struct asked *a = s->asked;
	int ret;

	if (!a || a->taken) {
		ret = round_begin(s);
		if (ret)
			return ret;
		a = s->asked;
	}
	if (a->n == QUESTIONS)
		return -EBUSY;
	q.answer = find_answer(s, pl->file, vaddr);
	if (a->repeat && q.answer != BY_ITSELF)
		*repeat_of(a, q.place, vaddr) = q;
	a->q[a->n++] = q;
	return a->n < QUESTIONS && a->answers < a->most;
}

int symres_ask(struct symres *s, struct symres_place *pl, uint64_t vaddr)
{
	struct asked *a = s->asked;
	const struct question *before;

	/* Few instructions, and no call: this is what most questions come to.
	 * No place has the number 0 of one that was never put. */
	if (!a || a->taken || a->n == QUESTIONS || !a->repeat)
		return ask_anew(s, pl, vaddr);
	before = repeat_of(a, pl->number, vaddr);
	if (before->addr != vaddr || before->place != pl->number ||
	    pl->file->round != s->round)
		return ask_anew(s, pl, vaddr);
	a->repeats++;
	a->q[a->n++] = *before;
	return a->n < QUESTIONS;
}

static void keep(struct symres *s, struct known *to, const char *name,
		 size_t len)
{
	struct asked *a = s->asked;
	char *at = a->names + a->names_len;

	if (!len || len >= a->names_room - a->names_len)
		return;
	memcpy(at, name, len);
	at[len] = 0;
	to->is.name = at;
	a->names_len += (uint32_t)len + 1;
}

static void describe(struct symres_answer *to, const struct symres_sym *sym)
{
	to->addr = sym->addr;
	to->sym_size = sym->sym_size;
	to->source = sym->source;
	to->kind = sym->kind;
	to->flags = sym->flags;
}

/* Stubs, and names that a stretch did not hold. */
static void read_one(struct symres *s, struct file *f, struct known *to)
{
	struct symres_sym sym = { .size = sizeof(sym), .flags = f->flags };

	if (file_symbol(f, to->ref, &s->name, &sym))
		return;
	describe(&to->is, &sym);
	keep(s, to, sym.name, strlen(sym.name));
}

static void keep_read(struct symres *s, struct file *f, struct symtab *t,
		      struct known *to, const char *name, size_t len)
{
	const char *at = t->str.keep_version || len < 2 ? NULL :
			 memchr(name + 1, '@', len - 1);

	if (at)
		len = (size_t)(at - name);
	if (!f->demangle || *name != '_') {
		keep(s, to, name, len);
		return;
	}
	if (text_reserve(&s->name, len + 1))
		return;
	memcpy(s->name.s, name, len);
	s->name.s[len] = 0;
	if (!text_demangle(&s->name))
		keep(s, to, s->name.s, strlen(s->name.s));
}

/* Names of one table, in their order; the key of each is where it is. */
static void read_names(struct symres *s, struct file *f, struct symtab *t,
		       const struct pair *v, size_t n, struct stretch *st)
{
	for (size_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && v[j].key - v[j - 1].key <= NEAR &&
		     v[j].key - v[i].key < st->room - TAIL; j++)
			;
		st->len = 0;
		for (size_t k = i; k < j; k++) {
			struct known *to = &s->asked->answer[v[k].at];
			size_t len;
			const char *name;

			name = strings_stretch(&t->str, st, v[k].key,
					       v[j - 1].key + TAIL, &len);
			if (name)
				keep_read(s, f, t, to, name, len);
			else
				read_one(s, f, to);
		}
	}
}

/*
 * Symbols of one table, in their order; leaves where the names are as keys, and
 * out what cannot be read. Returns how many are left.
 */
static size_t read_symbols(struct symres *s, struct file *f, struct symtab *t,
			   struct pair *v, size_t n, struct stretch *st)
{
	uint32_t most = WINDOW / sizeof(GElf_Sym), near = NEAR / sizeof(GElf_Sym);
	GElf_Sym *syms = (GElf_Sym *)st->buf;
	size_t out = 0;

	for (size_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && v[j].key - v[j - 1].key <= near &&
		     v[j].key - v[i].key < most; j++)
			;
		if (symtab_read(t, v[i].key - t->first,
				v[j - 1].key - v[i].key + 1, syms))
			continue;
		for (size_t k = i, first = v[i].key; k < j; k++) {
			const GElf_Sym *sym = &syms[v[k].key - first];
			struct symres_sym is = { .flags = f->flags };

			symbol_describe(t, &f->elf, sym, &is);
			describe(&s->asked->answer[v[k].at].is, &is);
			v[out++] = (struct pair) { sym->st_name, v[k].at };
		}
	}
	return out;
}

/* The new answers of one file; the key of each is its symbol's number. */
static void read_file(struct symres *s, struct file *f, struct pair *v,
		      struct pair *spare, size_t n, struct stretch *st)
{
	struct pair *sorted = pair_sort(v, spare, n);
	struct pair *other = sorted == v ? spare : v;

	for (size_t i = 0, j; i < n; i = j) {
		struct symtab *t = file_table(f, sorted[i].key);
		uint64_t end = t ? t->first + (uint64_t)t->count : 0;
		struct pair *names;
		size_t left;

		for (j = i + 1; j < n && sorted[j].key < end; j++)
			;
		if (sorted[i].key >= end) {
			read_one(s, f, &s->asked->answer[sorted[i].at]);
			continue;
		}
		left = read_symbols(s, f, t, sorted + i, j - i, st);
		names = pair_sort(sorted + i, other + i, left);
		read_names(s, f, t, names, left, st);
	}
}

/* Reads what was asked for and is not known. */
static __attribute__((noinline)) void read_answers(struct symres *s, struct asked *a)
{
	struct stretch st = { .room = WINDOW };
	size_t n = a->answers - a->read;
	struct pair *v, *spare, *sorted;

	range_list_free(&s->spare);
	if (!n)
		return;
	v = reallocarray(NULL, n, 2 * sizeof(*v));
	st.buf = malloc(st.room);
	/* Without memory each is answered by itself. */
	if (!v || !st.buf)
		goto out;
	spare = v + n;
	for (size_t i = 0; i < n; i++)
		v[i] = (struct pair) {
			a->answer[a->read + i].file, a->read + (uint32_t)i,
		};
	sorted = pair_sort(v, spare, n);
	spare = sorted == v ? spare : v;
	for (size_t i = 0, j; i < n; i = j) {
		struct file *f = s->file[sorted[i].key];

		for (j = i; j < n && sorted[j].key == f->number; j++)
			;
		for (size_t k = i; k < j; k++)
			sorted[k].key = a->answer[sorted[k].at].ref;
		/* One whose index had to go is looked up again. */
		if (f->indexed)
			read_file(s, f, sorted + i, spare + i, j - i, &st);
	}
	a->mean = a->names_len / a->answers + 8;
out:
	free(v);
	free(st.buf);
	a->read = a->answers;
}

/* One that has to be looked up again, for its name or for its reason. */
static __attribute__((noinline)) const struct symres_answer *
answer_single(struct symres *s, const struct question *q)
{
	struct symres_answer *to = &s->asked->single;
	struct symres_sym sym = { .size = sizeof(sym) };
	int ret = place_name(s, s->place[q->place - 1], q->addr, false, &sym);

	*to = (struct symres_answer) {
		.name = ret > 0 ? sym.name : NULL,
		.miss = ret < 0 ? SYMRES_MISS_NO_FILE : sym.miss,
		.err = ret < 0 ? -ret : sym.err,
	};
	describe(to, &sym);
	return to;
}

static __attribute__((noinline)) const struct symres_answer *
answer_nothing(struct symres *s, const struct question *q)
{
	struct symres_answer *to = &s->asked->single;

	*to = (struct symres_answer) {
		.miss = SYMRES_MISS_NO_SYMBOL,
		.flags = s->place[q->place - 1]->file->flags,
	};
	return to;
}

static const struct symres_answer *
answer_first(struct symres *s, uint64_t *vaddr);

const struct symres_answer *symres_answer(struct symres *s, uint64_t *vaddr)
{
	const struct symres_answer *is;
	const struct question *q;
	struct asked *a = s->asked;

	if (!a || a->taken == a->n)
		return NULL;
	if (a->read < a->answers)
		return answer_first(s, vaddr);
	q = &a->q[a->taken++];
	*vaddr = q->addr;
	if (q->answer == NOTHING)
		return answer_nothing(s, q);
	is = &a->answer[q->answer].is;
	if (q->answer == BY_ITSELF || !is->name)
		return answer_single(s, q);
	/* An index that lies costs its answer only. */
	if (q->addr - is->addr < is->sym_size ||
	    (!is->sym_size && q->addr >= is->addr))
		return is;
	return answer_nothing(s, q);
}

/* Nothing is read before the first answer is taken, and then everything. */
static const struct symres_answer *
answer_first(struct symres *s, uint64_t *vaddr)
{
	read_answers(s, s->asked);
	return symres_answer(s, vaddr);
}
