#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Random expressions mean after compilation and splitting what they meant before:
for random samples, "the tracepoint filter passes and the program passes" must
equal the expression's own truth, worked out here from the tree it was made of.

usage: logic.py EXPR_TEST FOLDER [NUMBER [SEED]]
"""
import random
import re
import subprocess
import sys

FIELDS = {"pfn": 64, "order": 32, "gfp_flags": 64}
TERMS = ["pid", "tid", "cpu", "uid", "depth", "weight2", "data_pgsz"]
LOCKS = ["mutex", "rwsem:R", "rwlock:W", "mmap_lock", "srcu:R", "rcu",
         "percpu-rwsem:W", "&vm_area_struct"]
UNITS = {"": 1, "ns": 1, "us": 1000, "ms": 1000000, "s": 1000000000}
MEM_OPS = {"load": 2, "store": 4, "exec": 16}
COMMS = ["bash", "cc1"]
COMPARE = {
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
}


def leaf(rnd, field):
    """An expression that cannot be split: its text and its truth."""
    op = rnd.choice(list(COMPARE))
    value, mask = rnd.randrange(4), rnd.randrange(8)
    if field:
        name = rnd.choice(list(FIELDS))
    else:
        kind = rnd.randrange(5)
        if kind == 3:
            lock, unit = rnd.choice(LOCKS), rnd.choice(list(UNITS))
            ns = value * UNITS[unit]
            return (f"held_ns({lock}) {op} {value}{unit}",
                    lambda s: COMPARE[op](s[f"held_ns({lock})"], ns))
        if kind == 4:
            word = rnd.choice(list(MEM_OPS))
            if rnd.random() < 0.5:
                return (f"mem_op & {word}",
                        lambda s: s["mem_op"] & MEM_OPS[word] != 0)
            return (f"{word} {op} mem_op",
                    lambda s: COMPARE[op](MEM_OPS[word], s["mem_op"]))
        if kind == 0:
            lock = rnd.choice(LOCKS)
            text, truth = f"lock_held({lock})", lambda s: s[lock]
            eq = rnd.choice(["", "", " == 0", " == 1", " != 0", " != 1"])
            if not eq:
                return text, truth
            want = (eq[-1] == "1") == (eq[1] == "=")
            return text + eq, lambda s: s[lock] == want
        if kind == 1:
            comm, op = rnd.choice(COMMS), rnd.choice(["==", "!="])
            return f"comm {op} {comm}", lambda s: COMPARE[op](s["comm"], comm)
        name = rnd.choice(TERMS)
    shape = rnd.randrange(5)
    if shape == 0:
        return name, lambda s: s[name] != 0
    if shape == 1:
        return f"{name} & {mask}", lambda s: s[name] & mask != 0
    if shape == 2:
        if field:
            op = rnd.choice(["==", "!="])
        return (f"{name} & {mask} {op} {value}",
                lambda s: COMPARE[op](s[name] & mask, value))
    if shape == 3:
        return f"{value} {op} {name}", lambda s: COMPARE[op](value, s[name])
    return f"{name} {op} {value}", lambda s: COMPARE[op](s[name], value)


def tree(rnd, depth, field):
    """field: may it use fields only (True), none (False), or both (None)?"""
    if field is None and depth == 0:
        field = rnd.random() < 0.5
    if depth == 0 or rnd.random() < 0.15:
        return leaf(rnd, bool(field))
    kind = rnd.choice(["!", "&&", "||", ","])
    if kind == "!":
        text, truth = tree(rnd, depth - 1, field)
        return f"!({text})", lambda s: not truth(s)
    left, right = field, field
    if field is None and kind == "||":
        left = right = rnd.random() < 0.5
    a, a_truth = tree(rnd, depth - 1, left)
    b, b_truth = tree(rnd, depth - 1, right)
    if kind == "||":
        return f"({a}) || ({b})", lambda s: a_truth(s) or b_truth(s)
    return f"({a}) {kind} ({b})", lambda s: a_truth(s) and b_truth(s)


def run_program(words, sample):
    stack = []
    for word in words:
        if word in COMPARE:
            b, a = stack.pop(), stack.pop()
            stack.append(int(COMPARE[word](a, b)))
        elif word == "&":
            b, a = stack.pop(), stack.pop()
            stack.append(a & b)
        elif word in ("&&", "||"):
            b, a = bool(stack.pop()), bool(stack.pop())
            stack.append(int(a and b if word == "&&" else a or b))
        elif word == "!":
            stack.append(int(not stack.pop()))
        elif word.startswith("lock("):
            stack.append(int(sample[word[5:-1]]))
        elif word.startswith("held_ns("):
            stack.append(sample[word])
        elif word.startswith("comm("):
            stack.append(int(sample["comm"] == word[5:-1]))
        elif word.isdigit():
            stack.append(int(word))
        else:
            stack.append(sample[word])
    assert len(stack) == 1, words
    return bool(stack[0])


def tracepoint_filter(text):
    """The kernel's language as a Python function; strict about its form."""
    tokens = re.findall(r"\(|\)|&&|\|\||!(?!=)|[^()&|!]+?(?:&(?!&)|[<>=!]=|[<>])"
                        r"\s*(?:0x[0-9a-f]+|\d+)", text)
    assert re.sub(r"\s", "", "".join(tokens)) == re.sub(r"\s", "", text), text
    out = []
    for token in tokens:
        token = token.strip()
        if token in "()":
            out.append(token)
        elif token in ("&&", "||", "!"):
            out.append({"&&": " and ", "||": " or ", "!": " not "}[token])
        else:
            name, op, value = token.split()
            assert name in FIELDS, token
            out.append(f"bool(s['{name}'] {op} {value})")
    return eval("lambda s: bool(" + "".join(out) + ")")


def samples(rnd):
    for _ in range(40):
        s = {name: rnd.randrange(8) for name in [*FIELDS, *TERMS]}
        s.update({lock: rnd.random() < 0.5 for lock in LOCKS})
        for lock in LOCKS:
            unit = UNITS[rnd.choice(list(UNITS))]
            s[f"held_ns({lock})"] = rnd.randrange(5) * unit
        s["mem_op"] = rnd.choice([0, 1, 2, 4, 6, 16])
        s["comm"] = rnd.choice(COMMS + ["other"])
        yield s


def check(text, truth, lines, rnd):
    """None, or what is wrong. A refusal is right only where fields and
    sample terms meet under an "or"."""
    got = {line[1]: line[3:] for line in lines}
    if "!" in got:
        if "only \"and\" can join them" in got["!"]:
            return None
        return got["!"]
    words = got["="].split() if "=" in got else []
    passes = tracepoint_filter(got["t"]) if "t" in got else lambda s: True
    for s in samples(rnd):
        both = passes(s) and (not words or run_program(words, s))
        if both != bool(truth(s)):
            return f"{got} says {both} for {s}"
    return None


def main():
    program, folder = sys.argv[1:3]
    number = int(sys.argv[3]) if len(sys.argv) > 3 else 3000
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    rnd = random.Random(seed)
    made = [tree(rnd, rnd.randrange(5), None) for _ in range(number)]
    text = "".join(f"[mm_page_alloc] {text}\n" for text, _ in made)
    out = subprocess.run([program, folder, "-"], input=text, text=True,
                         stdout=subprocess.PIPE, check=True).stdout
    blocks = re.split(r"^(?=\[)", out, flags=re.M)[1:]
    assert len(blocks) == number, "an expression got lost"
    bad = refused = split = 0
    for (text, truth), block in zip(made, blocks):
        lines = block.splitlines()[1:]
        wrong = check(text, truth, lines, rnd)
        refused += any(line[1] == "!" for line in lines)
        split += {"=", "t"} <= {line[1] for line in lines}
        if wrong:
            bad += 1
            print(f"# {text}\n#   {wrong}")
    print(f"# {number} expressions, {split} split, {refused} refused")
    if not split or refused == number:
        bad += 1
    print("TAP version 13\n1..1")
    print(f"{'not ' if bad else ''}ok 1 - compiled and split expressions "
          "mean what they meant")
    return 1 if bad else 0


sys.exit(main())
