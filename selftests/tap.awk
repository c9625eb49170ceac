# SPDX-License-Identifier: GPL-2.0-only
#
# Counts the results of one test. Reads its TAP; "status" is how it exited.
# Prints "PASSED FAILED SKIPPED" and then a line for each failure, with the first
# three lines of what the test says of it below it. Results that have subtests
# (indented lines before them) are counted by these.

function indent(line)
{
	match(line, /^ */)
	return RLENGTH
}

function fail(what)
{
	failed++
	failures[failed] = what
	explained = 0
}

# Ends all streams that are deeper than level; says whether there were results
function close_deeper(level,    i, n)
{
	n = 0
	for (i in results) {
		if (i + 0 <= level)
			continue
		check_plan(i)
		n += results[i]
		delete results[i]
		delete plan[i]
	}
	return n
}

function check_plan(level)
{
	if (!(level in plan))
		fail("no plan for " results[level] " results")
	else if (plan[level] != results[level])
		fail("planned " plan[level] " results, got " results[level])
}

{ sub(/\r$/, "") }

/^ *#/ && about && explained++ < 3 {
	sub(/^ *# */, "")
	failures[about] = failures[about] "\n  " $0
	next
}

/^ *Bail out!/ { fail($0) }

/^ *1\.\.[0-9]+/ {
	level = indent($0)
	count = $1
	sub(/^1\.\./, "", count)
	plan[level] = count + 0
	if (!(level in results))
		results[level] = 0
	if (count + 0 == 0 && /# *[Ss][Kk][Ii][Pp]/) {
		skipped++
		if (level == 0)
			whole_skip = 1
	}
}

/^ *(not )?ok( |$)/ {
	level = indent($0)
	before = failed
	nested = close_deeper(level)
	inner_failed = failed > before || inner[level]
	inner[level] = 0
	about = 0
	results[level]++
	name = $0
	sub(/^ */, "", name)
	if (name ~ /^not ok/) {
		if (!inner_failed) {
			fail(name)
			about = failed
		}
		for (i = 0; i < level; i++)
			inner[i] = 1
	} else if (name ~ /# *[Ss][Kk][Ii][Pp]/) {
		if (!nested)
			skipped++
	} else if (!nested) {
		passed++
	}
}

END {
	close_deeper(0)
	if (0 in results)
		check_plan(0)
	if (status == 4 && !failed && !passed) {
		if (!skipped)
			skipped++
	} else if (status != 0 && !failed) {
		fail("ended with status " status)
	} else if (!failed && !whole_skip && !results[0]) {
		fail("printed no result")
	}
	print passed + 0, failed + 0, skipped + 0
	for (i = 1; i <= failed; i++)
		print failures[i]
}
