// SPDX-License-Identifier: GPL-2.0-only
/*
 * speedscope's own format: frames by number, then a profile for each event, in
 * which each chain is one sample that weighs as much as it was seen.
 * https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources
 */
#include <stdlib.h>

#include "ctl.h"
#include "export.h"
#include "json.h"

struct speedscope {
	struct json json;
	struct frames frames;
	uint64_t total;
};

static int number_frames(const struct label *const *chain, size_t n,
			 uint64_t samples, void *arg)
{
	struct speedscope *s = arg;
	size_t i;

	for (i = 0; i < n; i++)
		frames_number(&s->frames, chain[i]);
	s->total += samples;
	return 0;
}

static int put_sample(const struct label *const *chain, size_t n,
		      uint64_t samples, void *arg)
{
	struct speedscope *s = arg;
	size_t i;

	(void)samples;
	json_open(&s->json, NULL, '[');
	for (i = 0; i < n; i++)
		json_number(&s->json, NULL, frames_number(&s->frames, chain[i]));
	json_close(&s->json, ']');
	return 0;
}

static int put_weight(const struct label *const *chain, size_t n,
		      uint64_t samples, void *arg)
{
	struct speedscope *s = arg;

	(void)chain;
	(void)n;
	json_number(&s->json, NULL, samples);
	return 0;
}

static void put_profile(struct speedscope *s, const struct report *r, size_t i)
{
	struct json *j = &s->json;
	char *name = report_event_name(r, i);

	json_open(j, NULL, '{');
	json_string(j, "type", "sampled");
	json_string(j, "name", name);
	json_string(j, "unit", "none");
	json_number(j, "startValue", 0);
	s->total = 0;
	export_each(r, i, number_frames, s);
	json_number(j, "endValue", s->total);
	json_open(j, "samples", '[');
	export_each(r, i, put_sample, s);
	json_close(j, ']');
	json_open(j, "weights", '[');
	export_each(r, i, put_weight, s);
	json_close(j, ']');
	json_close(j, '}');
	free(name);
}

static void put_frame(struct json *j, const struct label *label)
{
	json_open(j, NULL, '{');
	json_string(j, "name", label->name);
	if (*label->module)
		json_string(j, "file", label->module);
	json_close(j, '}');
}

void export_speedscope(const struct report *r)
{
	struct speedscope s = { 0 };
	struct json *j = &s.json;
	size_t i;

	json_open(j, NULL, '{');
	json_string(j, "$schema",
		    "https://www.speedscope.app/file-format-schema.json");
	json_string(j, "exporter", "lockheld-ctl " VERSION);
	json_string(j, "name", r->file->path);
	json_open(j, "profiles", '[');
	for (i = 0; i < r->file->nr_events; i++)
		if (export_has(r, i))
			put_profile(&s, r, i);
	json_close(j, ']');
	json_open(j, "shared", '{');
	json_open(j, "frames", '[');
	for (i = 0; i < s.frames.n; i++)
		put_frame(j, s.frames.v[i]);
	json_close(j, ']');
	json_close(j, '}');
	json_close(j, '}');
	frames_free(&s.frames);
}
