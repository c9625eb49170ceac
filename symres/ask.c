// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Many look-ups at once. Questions are put in a queue. When the first answer is
 * taken all of them are searched, and the symbols and names that are not known
 * yet are read in the order of the files, neighbours with one read. What was
 * read is kept for the questions that follow, in a table of a fixed size that
 * grows only where that pays.
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
	WIDER = 4,		/* times as many answers, at once */
	WINDOW = 64 << 10,	/* bytes that are read at once */
	NEAR = 4 << 10,		/* what is closer is read with it */
	TAIL = 1 << 10,		/* room for the last name of a stretch */
	LONG_NAME = 1 << 10,
	REPEAT_BITS = 16,
	REPEATS = 1 << REPEAT_BITS, /* pairs of addresses that are remembered */
	AHEAD = 8,		/* what is needed so many places ahead is fetched */
	BUNDLE = 32,		/* names that are demangled together */
	LONG_TEXT = 4 << 10,	/* room for what is longer is not kept */
};

/* Answers that are none; they have no name. */
enum {
	BY_ITSELF,		/* has to be looked up again, for its reason */
	NOTHING,		/* no symbol there */
	UNMAPPED,		/* nothing there at all */
	FIRST,			/* number of the first real one */
};

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

/* Questions that were put before; the second one is the next to go. */
struct repeats {
	struct question first, second;
};

/* Names as they are stored, and as they are shown once the task has ended. The
 * room for them serves the next ones. */
struct bundle {
	struct task task;
	struct text name[BUNDLE];
	struct known *to[BUNDLE];
	unsigned int n;
	bool sent;		/* to the worker */
};

struct asked {
	struct question *q;	/* and AHEAD more, with a valid answer each */
	uint32_t room_q;
	struct question *put;	/* behind the last one of them */
	struct question *end;	/* no more can be put here */
	struct question *taken;	/* behind the last one that was answered */
	struct question *found;	/* and that was searched and read */
	struct repeats *repeat;	/* by a hash of place and address; only where
				 * questions are asked again */
	void *repeat_mem;
	struct known *answer;
	uint32_t answers, room, read;
	uint32_t most;		/* answers before some are taken */
	uint32_t *slot;		/* hash table of answers, each number plus 1 */
	uint32_t slots;		/* a power of two, less one */
	char *names;
	uint32_t names_len, names_room;
	uint32_t mean;		/* length of a name, as far as seen */
	uint64_t indexed;	/* round in which all its indexes were made */
	uint64_t questions, hits; /* since the table was empty */
	struct symres_answer single;	/* the last one that is not kept */
	struct bundle bundle[2]; /* one is filled while the other is demangled */
	unsigned int filled;
};

void asked_free(struct asked *a)
{
	if (!a)
		return;
	free(a->q);
	free(a->repeat_mem);
	free(a->answer);
	free(a->slot);
	free(a->names);
	for (int i = 0; i < 2; i++)
		for (unsigned int k = 0; k < BUNDLE; k++)
			free(a->bundle[i].name[k].s);
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
	const uintptr_t old = (uintptr_t)a->names;
	uint32_t *slot;
	char *text;

	if (!answer)
		return -ENOMEM;
	a->answer = answer;
	while (slots < room + room / 4)
		slots *= 2;
	slot = calloc(slots, sizeof(*slot));
	text = slot ? realloc(a->names, names) : NULL;
	if (!text) {
		free(slot);
		return -ENOMEM;
	}
	a->names = text;
	for (uint32_t i = FIRST; i < a->answers; i++)
		if (a->answer[i].is.name)
			a->answer[i].is.name = text +
				((uintptr_t)a->answer[i].is.name - old);
	free(a->slot);
	a->slot = slot;
	a->slots = slots - 1;
	a->room = room;
	a->names_room = names;
	for (uint32_t i = FIRST; i < a->answers; i++)
		put_in_table(a, i);
	return 0;
}

static int queue_resize(struct asked *a, uint32_t room)
{
	struct question *q = calloc(room + AHEAD, sizeof(*q));

	if (!q)
		return -ENOMEM;
	free(a->q);
	a->q = q;
	a->room_q = room;
	return 0;
}

/* It takes no room before the first question. */
struct asked *asked_new(void)
{
	return calloc(1, sizeof(struct asked));
}

static int asked_fill(struct asked *a, bool demangle)
{
	/* Until some were seen. */
	a->mean = LONG_NAME;
	/* Names as they were written are longer. */
	if (!a->names && resize(a, 1, NAMES * (demangle ? 3 : 1)))
		return -ENOMEM;
	memset(a->answer, 0, FIRST * sizeof(*a->answer));
	a->answers = FIRST;
	a->read = FIRST;
	return queue_resize(a, QUESTIONS);
}

static void forget_answers(struct asked *a)
{
	memset(a->slot, 0, (a->slots + 1ull) * sizeof(*a->slot));
	if (a->repeat)
		memset(a->repeat, 0, REPEATS * sizeof(*a->repeat));
	a->answers = FIRST;
	a->read = FIRST;
	a->names_len = 0;
	a->questions = 0;
	a->hits = 0;
}

/* So many new answers are sure to have room. */
static uint32_t room_left(const struct asked *a)
{
	uint32_t names = (a->names_room - a->names_len) / a->mean;
	uint32_t answers = a->room - a->answers;

	return names < answers ? names : answers;
}

/* Zeros that were not written yet, each pair in one cache line. */
static void remember_repeats(struct asked *a)
{
	size_t size = sizeof(*a->repeat);

	a->repeat_mem = calloc(REPEATS + 1, size);
	if (a->repeat_mem)
		a->repeat = (struct repeats *)(((uintptr_t)a->repeat_mem +
						size - 1) / size * size);
}

/* Grows where most questions were about what was known. */
static void make_room(struct symres *s, struct asked *a)
{
	uint32_t times = a->room / ANSWERS;

	bool pays = a->hits > a->questions / 2 && !s->max_bytes;

	if (pays && !a->repeat)
		remember_repeats(a);
	if (room_left(a) < QUESTIONS / 4 && a->answers > FIRST &&
	    (!pays || times == GROWTH ||
	     resize(a, 2 * times, 2 * a->names_room)))
		forget_answers(a);
	a->most = a->answers + room_left(a);
}

/*
 * Whoever makes indexes has had more memory than this takes, and has the most to
 * read: names that are asked for together are read together.
 */
static void widen(struct asked *a)
{
	uint64_t questions = a->questions, hits = a->hits;

	/* Not what they say about what is asked again. */
	forget_answers(a);
	a->questions = questions;
	a->hits = hits;
	if (a->room == ANSWERS && resize(a, WIDER, a->names_room * WIDER))
		return;
	queue_resize(a, QUESTIONS * GROWTH);
}

/* The first question of a round, or one too many. */
static __attribute__((noinline)) int
ask_first(struct symres *s, struct symres_place *pl, uint64_t vaddr)
{
	struct asked *a = s->asked;

	if (!a->q && asked_fill(a, s->demangle))
		return -ENOMEM;
	if (a->taken < a->put)
		return -EBUSY;
	/* The more are asked at once, the more neighbours are among them. */
	if (a->repeat && a->room_q < QUESTIONS * GROWTH)
		queue_resize(a, QUESTIONS * GROWTH);
	else if (s->made_index && a->room_q == QUESTIONS && !s->max_bytes)
		widen(a);
	a->put = a->q;
	a->taken = a->q;
	a->found = a->q;
	a->end = a->q + a->room_q;
	s->round++;
	return symres_ask(s, pl, vaddr);
}

int symres_ask(struct symres *s, struct symres_place *pl, uint64_t vaddr)
{
	struct asked *a = s->asked;
	struct question *q = a->put;

	/* Few instructions, and no call but this one. */
	if (q >= a->end)
		return ask_first(s, pl, vaddr);
	q->addr = vaddr;
	q->place = pl->number;
	a->put = ++q;
	return q < a->end;
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

/*
 * Makes the indexes that the queue will need, but for those that wait for mini
 * debug info: the worker decompresses it meanwhile.
 */
static void index_all(struct symres *s, struct asked *a)
{
	int ret = 0;

	a->indexed = s->round;
	for (struct question *q = a->found; q < a->put && ret != -ENOMEM; q++) {
		struct file *f = s->place[q->place - 1]->file;

		if (f && !f->indexed && !f->miss && !f->unpacking)
			ret = file_index(f, s, false);
	}
}

/* The first time in a round. */
static __attribute__((noinline)) bool make_ready(struct symres *s,
						 struct file *f)
{
	struct asked *a = s->asked;

	/* With a budget one could go before it is used; without a cache there
	 * is nowhere to decompress to. */
	if (s->use_thread && s->cache_dir && !s->max_bytes &&
	    a->indexed != s->round && !f->indexed && !f->miss &&
	    file_take_kept(f, s) == 1)
		index_all(s, a);
	return file_is_ready(f, s);
}

static bool is_ready(struct symres *s, struct file *f)
{
	return f->round == s->round || make_ready(s, f);
}

static uint32_t find_answer(struct symres *s, struct file *f, uint64_t addr)
{
	uint32_t ref;

	if (!f || !is_ready(s, f))
		return BY_ITSELF;
	if (addr - f->seg_start >= f->seg_size && !file_loads(f, addr))
		return UNMAPPED;
	ref = index_find(&f->index, addr);
	return ref == INDEX_NONE ? NOTHING : number_of(s->asked, f, ref);
}

/* Where a question is remembered. */
static struct repeats *repeats_of(const struct asked *a,
				  const struct question *q)
{
	uint64_t h = (q->addr + q->place) * 0x9e3779b97f4a7c15u;

	return &a->repeat[h >> (64 - REPEAT_BITS)];
}

/* One that was not put before, or whose file has changed. */
static __attribute__((noinline)) void
find_anew(struct symres *s, struct question *q)
{
	struct repeats *r;

	q->answer = find_answer(s, s->place[q->place - 1]->file, q->addr);
	if (!s->asked->repeat || q->answer == BY_ITSELF)
		return;
	r = repeats_of(s->asked, q);
	r->second = r->first;
	r->first = *q;
}

static bool is_same(const struct question *a, const struct question *b)
{
	return a->addr == b->addr && a->place == b->place;
}

/*
 * Passes by those that were put before and whose files have not changed. No
 * place has the number 0 of one that was never put.
 */
static struct question *find_repeats(struct symres *s, struct question *q,
				     const struct question *end)
{
	const struct asked *a = s->asked;
	struct symres_place **place = s->place - 1;

	for (; q < end; q++) {
		struct repeats *r = repeats_of(a, q);

		__builtin_prefetch(repeats_of(a, q + AHEAD));
		if (!is_same(&r->first, q)) {
			struct question before = r->second;

			if (!is_same(&before, q))
				break;
			r->second = r->first;
			r->first = before;
		}
		if (!is_ready(s, place[q->place]->file))
			break;
		q->answer = r->first.answer;
	}
	return q;
}

/* Searches until there is no more room for what has to be read. */
static void find_answers(struct symres *s, struct asked *a)
{
	struct question *q = a->found;
	size_t anew = 0, misses = 0, all;

	make_room(s, a);
	do {
		if (a->repeat)
			q = find_repeats(s, q, a->put);
		if (q == a->put)
			break;
		find_anew(s, q);
		misses += q->answer == NOTHING || q->answer == UNMAPPED;
		anew++;
		q++;
	} while (a->answers < a->most);
	all = (size_t)(q - a->found);
	/* Misses that are new say nothing about what is asked again. */
	a->questions += all - misses;
	a->hits += all - anew;
	a->found = q;
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
	to->is.name_len = (uint32_t)len;
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
	struct symres_sym sym = { .size = sizeof(sym), .flags = file_flags(f) };

	if (file_symbol(f, to->ref, &s->name, &sym))
		return;
	describe(&to->is, &sym);
	keep(s, to, sym.name, strlen(sym.name));
}

static void demangle_bundle(struct task *t)
{
	struct bundle *b = (struct bundle *)t;

	/* Those for which there is no memory are left to be looked up again. */
	for (unsigned int i = 0; i < b->n; i++)
		if (text_demangle(&b->name[i]))
			b->to[i] = NULL;
}

/* Keeps the names of a bundle, once they are demangled. */
static void take_bundle(struct symres *s, struct bundle *b)
{
	if (!b->sent)
		demangle_bundle(&b->task);
	else if (!worker_wait(&s->worker, &b->task))
		b->n = 0;
	b->sent = false;
	for (unsigned int i = 0; i < b->n; i++) {
		struct text *name = &b->name[i];

		if (b->to[i])
			keep(s, b->to[i], name->s, strlen(name->s));
		if (name->room > LONG_TEXT) {
			free(name->s);
			*name = (struct text) { 0 };
		}
	}
	b->n = 0;
}

/* One that is full goes to the worker, unless that has something to do. */
static void send_bundle(struct symres *s, struct asked *a)
{
	struct bundle *b = &a->bundle[a->filled];

	b->task.run = demangle_bundle;
	b->sent = s->use_thread && worker_is_idle(&s->worker) &&
		  !worker_add(&s->worker, &b->task);
	if (b->sent)
		a->filled = !a->filled;
	take_bundle(s, &a->bundle[a->filled]);
}

/* What is left of both, the one at the worker last. */
static void end_bundles(struct symres *s, struct asked *a)
{
	take_bundle(s, &a->bundle[a->filled]);
	take_bundle(s, &a->bundle[!a->filled]);
}

/* A name that has to be demangled; out of the way of those that have not. */
static __attribute__((noinline)) void
bundle_up(struct symres *s, struct known *to, const char *name, size_t len)
{
	struct asked *a = s->asked;
	struct bundle *b = &a->bundle[a->filled];
	struct text *text = &b->name[b->n];

	if (text_reserve(text, len + 1))
		return;
	memcpy(text->s, name, len);
	text->s[len] = 0;
	b->to[b->n++] = to;
	if (b->n == BUNDLE)
		send_bundle(s, a);
}

static void keep_read(struct symres *s, struct file *f, struct symtab *t,
		      struct known *to, const char *name, size_t len)
{
	const char *at = t->str.keep_version || len < 2 ? NULL :
			 memchr(name + 1, '@', len - 1);

	if (at)
		len = (size_t)(at - name);
	if (!f->demangle || *name != '_')
		keep(s, to, name, len);
	else
		bundle_up(s, to, name, len);
}

/* Names of one table, in their order; the key of each is where it is. */
static void read_names(struct symres *s, struct file *f, struct symtab *t,
		       const struct pair *v, size_t n, struct stretch *st)
{
	bool there = strings_there(&t->str);

	for (size_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && v[j].key - v[j - 1].key <= NEAR &&
		     v[j].key - v[i].key < st->room - TAIL; j++)
			;
		st->len = 0;
		for (size_t k = i; k < j; k++) {
			struct known *to = &s->asked->answer[v[k].at];
			size_t len;
			const char *name;

			if (there && k + AHEAD < n)
				strings_prefetch(&t->str, v[k + AHEAD].key);
			name = there ?
			       strings_in_place(&t->str, v[k].key, &len) :
			       strings_stretch(&t->str, st, v[k].key,
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
	uint32_t most = WINDOW / sizeof(GElf_Sym);
	bool there = input_view(t->in, t->off, 1);
	/* What is in memory needs no neighbour to be read with it. */
	uint32_t near = there ? 0 : NEAR / sizeof(GElf_Sym);
	GElf_Sym *syms = (GElf_Sym *)st->buf;
	size_t out = 0;

	for (size_t i = 0, j; i < n; i = j) {
		if (there && i + AHEAD < n)
			symtab_prefetch(t, v[i + AHEAD].key - t->first);
		for (j = i + 1; j < n && v[j].key - v[j - 1].key <= near &&
		     v[j].key - v[i].key < most; j++)
			;
		if (symtab_read(t, v[i].key - t->first,
				v[j - 1].key - v[i].key + 1, syms))
			continue;
		for (size_t k = i, first = v[i].key; k < j; k++) {
			const GElf_Sym *sym = &syms[v[k].key - first];
			struct symres_sym is;

			if (sym->st_shndx == SHN_UNDEF)
				continue;
			is.flags = file_flags(f);
			symbol_describe(t, &f->elf, sym, &is);
			describe(&s->asked->answer[v[k].at].is, &is);
			v[out++] = (struct pair) { sym->st_name, v[k].at };
		}
	}
	return out;
}

/* The new answers of one file, in order of their symbols, whose numbers are the
 * keys. */
static void read_file(struct symres *s, struct file *f, struct pair *sorted,
		      struct pair *other, size_t n, struct stretch *st)
{
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

/*
 * What was read is worth nothing if the file was cut short meanwhile: behind its
 * end the last page of a mapping is zeros, which end names as if they were short.
 */
static void drop_changed(struct asked *a, struct file *f)
{
	if (!file_changed_meanwhile(f))
		return;
	for (uint32_t i = a->read; i < a->answers; i++)
		if (a->answer[i].file == f->number)
			a->answer[i].is.name = NULL;
}

/* Reads what was asked for and is not known. */
static void read_answers(struct symres *s, struct asked *a)
{
	struct stretch st = { .room = WINDOW };
	size_t n = a->answers - a->read;
	struct pair *v, *spare, *sorted;
	struct file *read = NULL;

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
			a->answer[a->read + i].ref, a->read + (uint32_t)i,
		};
	sorted = pair_sort(v, spare, n);
	spare = sorted == v ? spare : v;
	for (size_t i = 0; i < n; i++)
		sorted[i].key = a->answer[sorted[i].at].file;
	sorted = pair_sort(sorted, spare, n);
	spare = sorted == v ? v + n : v;
	for (size_t i = 0, j; i < n; i = j) {
		struct file *f = s->file[sorted[i].key];

		for (j = i; j < n && sorted[j].key == f->number; j++)
			;
		for (size_t k = i; k < j; k++)
			sorted[k].key = a->answer[sorted[k].at].ref;
		f->next_read = read;
		read = f;
		/* One whose index had to go is looked up again. */
		if (f->indexed)
			read_file(s, f, sorted + i, spare + i, j - i, &st);
	}
	end_bundles(s, a);
	for (struct file *f = read; f; f = f->next_read)
		drop_changed(a, f);
	/* The next ones may be longer. */
	a->mean = a->names_len / a->answers * 9 / 8 + 8;
out:
	free(v);
	free(st.buf);
	/* What has no name yet holds nothing: one test for each answer. */
	for (; a->read < a->answers; a->read++)
		if (!a->answer[a->read].is.name)
			a->answer[a->read].is.sym_size = 0;
}

/* One that has to be looked up again, for its name or for its reason. */
static const struct symres_answer *
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
	if (to->name)
		to->name_len = (uint32_t)strlen(to->name);
	return to;
}

/* All but what its symbol is known to hold. */
static __attribute__((noinline)) const struct symres_answer *
answer_other(struct symres *s, const struct question *q)
{
	struct asked *a = s->asked;
	const struct symres_answer *is = &a->answer[q->answer].is;

	if (q->answer == UNMAPPED) {
		a->single = (struct symres_answer) {
			.miss = SYMRES_MISS_UNMAPPED,
		};
		return &a->single;
	}
	if (q->answer != NOTHING && !is->name)
		return answer_single(s, q);
	/* An index that lies costs its answer only. */
	if (q->answer != NOTHING && !is->sym_size && q->addr >= is->addr)
		return is;
	a->single = (struct symres_answer) {
		.miss = SYMRES_MISS_NO_SYMBOL,
		.flags = file_flags(s->place[q->place - 1]->file),
	};
	return &a->single;
}

/* Nothing is read before the first answer is taken, and then everything. */
static __attribute__((noinline)) const struct symres_answer *
answer_first(struct symres *s, uint64_t *vaddr)
{
	struct asked *a = s->asked;

	if (a->taken == a->put)
		return NULL;
	a->end = a->q;
	find_answers(s, a);
	read_answers(s, a);
	return symres_answer(s, vaddr);
}

const struct symres_answer *symres_answer(struct symres *s, uint64_t *vaddr)
{
	const struct symres_answer *is;
	struct asked *a = s->asked;
	const struct question *q = a->taken;

	if (q == a->found)
		return answer_first(s, vaddr);
	a->taken++;
	__builtin_prefetch(&a->answer[q[AHEAD].answer]);
	__builtin_prefetch(a->answer[q[AHEAD / 2].answer].is.name);
	*vaddr = q->addr;
	is = &a->answer[q->answer].is;
	if (q->addr - is->addr < is->sym_size)
		return is;
	return answer_other(s, q);
}
