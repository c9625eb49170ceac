/* SPDX-License-Identifier: GPL-2.0-only */
/* Expressions made by grammar, and changed word by word. */
#ifndef EXPRGEN_H
#define EXPRGEN_H

#include <stddef.h>

/**
 * exprgen_mutate() - changes an expression a little
 * @text: the expression, not terminated
 * @len: of it
 * @max: room at @text
 * @seed: what comes out depends on nothing else
 *
 * Words are inserted, left out, repeated and replaced by others; where an
 * operand stands a new expression may take its place.
 *
 * Return: the new length.
 */
size_t exprgen_mutate(char *text, size_t len, size_t max, unsigned int seed);

#endif
