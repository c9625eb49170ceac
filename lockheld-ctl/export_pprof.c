// SPDX-License-Identifier: GPL-2.0-only
/*
 * pprof's format, gzip around a Profile (profile.proto). There is a function, a
 * location and a mapping for each frame: pprof brings together what is equal.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "ctl.h"
#include "export.h"
#include "profile.pb-c.h"

struct pprof {
	Profile__Profile profile;
	struct frames frames;
	size_t nr_values;	/* of a sample: one for each event */
	size_t value;		/* which of them is being added */
};

/* Appends to an array that has @n; each element has its own memory. */
#define APPEND(array, n, message, init) ({				\
	(array) = ctl_realloc((array), (n) + 1, sizeof(*(array)));	\
	(array)[n] = ctl_zalloc(sizeof(message));			\
	init((array)[n]);						\
	(array)[(n)++];							\
})

static int64_t add_string(struct pprof *p, const char *text)
{
	Profile__Profile *to = &p->profile;

	to->string_table = ctl_realloc(to->string_table,
				       to->n_string_table + 1,
				       sizeof(*to->string_table));
	to->string_table[to->n_string_table] = ctl_strdup(text);
	return (int64_t)to->n_string_table++;
}

static void add_type(struct pprof *p, const struct report *r, size_t i)
{
	char *event = report_event_name(r, i);
	Profile__ValueType *type = APPEND(p->profile.sample_type,
					  p->profile.n_sample_type,
					  Profile__ValueType,
					  profile__value_type__init);

	type->type = add_string(p, event);
	type->unit = add_string(p, "count");
	free(event);
}

static int add_sample(const struct label *const *chain, size_t n,
		      uint64_t samples, void *arg)
{
	struct pprof *p = arg;
	Profile__Sample *s = APPEND(p->profile.sample, p->profile.n_sample,
				    Profile__Sample, profile__sample__init);
	size_t i;

	s->location_id = ctl_realloc(NULL, n, sizeof(*s->location_id));
	for (i = 0; i < n; i++)
		s->location_id[i] =
			frames_number(&p->frames, chain[n - 1 - i]) + 1;
	s->n_location_id = n;
	s->value = ctl_zalloc(p->nr_values * sizeof(*s->value));
	s->value[p->value] = (int64_t)samples;
	s->n_value = p->nr_values;
	return 0;
}

static void add_frame(struct pprof *p, const struct label *label, uint64_t id)
{
	Profile__Profile *to = &p->profile;
	Profile__Function *function = APPEND(to->function, to->n_function,
					     Profile__Function,
					     profile__function__init);
	Profile__Location *location = APPEND(to->location, to->n_location,
					     Profile__Location,
					     profile__location__init);
	Profile__Mapping *mapping = APPEND(to->mapping, to->n_mapping,
					   Profile__Mapping,
					   profile__mapping__init);
	Profile__Line *line = APPEND(location->line, location->n_line,
				     Profile__Line, profile__line__init);

	function->id = location->id = location->mapping_id = mapping->id = id;
	line->function_id = id;
	function->name = function->system_name = add_string(p, label->name);
	mapping->filename = function->filename = add_string(p, label->module);
	mapping->has_functions = true;
}

static int write_packed(const Profile__Profile *profile, FILE *to)
{
	size_t len = profile__profile__get_packed_size(profile);
	uint8_t *packed = ctl_zalloc(len + 1);
	int fd = fflush(to) ? -1 : dup(fileno(to));
	gzFile gz = fd < 0 ? NULL : gzdopen(fd, "wb");
	int ret = 0;

	profile__profile__pack(profile, packed);
	errno = 0;
	if (!gz || gzfwrite(packed, 1, len, gz) != len)
		ret = errno ? -errno : -EIO;
	if (gz && gzclose(gz) != Z_OK && !ret)
		ret = errno ? -errno : -EIO;
	free(packed);
	return ret;
}

static void free_all(struct pprof *p)
{
	Profile__Profile *whole = ctl_zalloc(sizeof(*whole));

	/* It frees the message itself, too. */
	*whole = p->profile;
	profile__profile__free_unpacked(whole, NULL);
	frames_free(&p->frames);
}

int export_pprof(const struct report *r, FILE *to)
{
	struct pprof p = { .nr_values = export_nr_events(r) };
	size_t i;
	int ret;

	profile__profile__init(&p.profile);
	add_string(&p, "");
	for (i = 0; i < r->file->nr_events; i++) {
		if (!export_has(r, i))
			continue;
		add_type(&p, r, i);
		export_each(r, i, add_sample, &p);
		p.value++;
	}
	for (i = 0; i < p.frames.n; i++)
		add_frame(&p, p.frames.v[i], i + 1);
	ret = write_packed(&p.profile, to);
	free_all(&p);
	return ret;
}
