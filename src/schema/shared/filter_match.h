/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Matches a name against the string conditions of a predicate, in steps that bpf_loop can count.
 *
 *   tokens  / v a r / *            one position in each, and where the last run * began:
 *   text    / v a r / l o g        what does not fit lets that run take one byte more
 *
 * Only the last run has to be retried. Compiles for BPF and natively (the tests of src/filter); needs <linux/types.h>, or
 * for BPF kernel/loop.h, before it. Limits: MATCH_STEPS_MAX; a pattern that needs more is unknown. Text has at most
 * MATCH_TEXT_BYTES bytes, and as many must be readable after `text`.
 */
#pragma once

#include "schema/shared/filter_input.h"

#define MATCH_TEXT_BYTES 4096 /* PATH_MAX; a power of two */
#define MATCH_STEPS_MAX 65536 /* 16 runs through a path */

#ifdef __bpf__
#define MATCH_FUNCTION static __always_inline
#define MATCH_STEP \
    static __attribute__((noinline)) /* inlined, the position would be in registers */
#define MATCH_LOOP(count, step, context) each_small_turn(count, 192, step, context)
#else
#define MATCH_FUNCTION static inline
#define MATCH_STEP static inline
#define MATCH_LOOP(count, step, context) match_native_loop(count, step, context)
static inline __u32 match_native_loop(__u32 count, long (*step)(__u32, void*), void* context) {
    __u32 made = 0;

    while (made < count)
        if (step(made++, context)) break;
    return made;
}
#endif

enum match { MATCH_NO, MATCH_YES, MATCH_UNKNOWN };

/* Kept where the verifier does not know it (a map's value): it would try every position. */
struct match_position {
    __u32 length; /* of the text */
    __u32 at;     /* in the text */
    __u32 token;
    __u32 run_at;    /* where the last run ends for now */
    __u32 run_token; /* after the last run; 0: there was none */
    __u32 result;    /* enum match */
};

struct match_state {
    const struct filter_atom* atom;
    const __u8* text;
    struct match_position* position;
};

MATCH_FUNCTION int match_fits(__u32 token, __u8 byte) {
    if (token == FILTER_TOKEN_ANY_BYTE) return 1;
    if (token & FILTER_TOKEN_LETTER) return (byte | 0x20) == (token & 0xff);
    return token == byte;
}

/* One element against one byte; not 0: the result stands. */
MATCH_STEP long match_step(__u32 index, void* context) {
    struct match_state* m = (struct match_state*)context;
    struct match_position* p = m->position;
    __u32 token = FILTER_TOKEN_NEVER, number = p->token;

    (void)index;
    if (number < m->atom->length && number < FILTER_TOKENS_MAX) token = m->atom->tokens[number];
    if (token == FILTER_TOKEN_ANY_RUN) {
        p->token++;
        p->run_token = p->token;
        p->run_at = p->at;
        return 0;
    }
    if (p->at >= p->length) {
        p->result = number == m->atom->length ? MATCH_YES : MATCH_NO;
        return 1;
    }
    if (match_fits(token, m->text[p->at & (MATCH_TEXT_BYTES - 1)])) {
        p->token++;
        p->at++;
        return 0;
    }
    if (!p->run_token) {
        p->result = MATCH_NO;
        return 1;
    }
    if (p->run_token == m->atom->length) { /* the last run takes the rest */
        p->result = MATCH_YES;
        return 1;
    }
    p->run_at++;
    p->at = p->run_at;
    p->token = p->run_token;
    return 0;
}

struct match_plain_state {
    const __u8* text;
    __u32 plain;
};

MATCH_STEP long match_plain_step(__u32 index, void* context) {
    struct match_plain_state* p = (struct match_plain_state*)context;
    __u8 byte = p->text[index & (MATCH_TEXT_BYTES - 1)];

    p->plain = byte && byte < 0x80 && byte != '\\';
    return !p->plain;
}

/* Whether text is ASCII without NUL and backslash: shown as it is. */
MATCH_FUNCTION int match_is_plain(const __u8* text, __u32 length) {
    struct match_plain_state state = {};

    state.text = text;
    state.plain = 1;
    if (length > MATCH_TEXT_BYTES) return 0;
    if (MATCH_LOOP(length, match_plain_step, &state) < length) return 0;
    return state.plain != 0;
}

MATCH_FUNCTION enum match match_text(const struct filter_atom* atom,
                                     const __u8* text,
                                     __u32 length,
                                     int plain,
                                     struct match_position* position) {
    struct match_state state = {};

    if (length > MATCH_TEXT_BYTES || (!plain && !(atom->flags & FILTER_ATOM_ANY_TEXT)))
        return MATCH_UNKNOWN;
    state.atom = atom;
    state.text = text;
    state.position = position;
    position->length = length;
    position->at = 0;
    position->token = 0;
    position->run_at = 0;
    position->run_token = 0;
    position->result = MATCH_UNKNOWN;
    MATCH_LOOP(MATCH_STEPS_MAX, match_step, &state);
    return (enum match)position->result;
}

/* What is asked of a text. */
struct match_request {
    const __u8* text;
    struct match_position* position;
    __u32 length;
    __u32 subject; /* enum filter_subject */
    __u32 plain;   /* match_is_plain() */
};

/* Adds what atom `number` says of a text; atoms about other subjects say nothing. */
MATCH_FUNCTION void match_add(struct filter_verdicts* verdicts,
                              const struct filter_atom* atom,
                              __u32 number,
                              const struct match_request* request) {
    __u64 bit = 1ull << (number & 63);
    enum match result;

    if (!(atom->subjects & request->subject)) return;
    result =
        match_text(atom, request->text, request->length, request->plain != 0, request->position);
    if (result == MATCH_UNKNOWN) return;
    verdicts->is_known |= bit;
    if (result == MATCH_YES) verdicts->is_true |= bit;
}
