/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Loops whose body the verifier looks at once, by bpf_loop (since 5.17). A kernel that has none is given the same source compiled WITHOUT_LOOPS: there
 * a body is a function that is verified on its own, but the verifier goes through every turn of what calls it: there are at most TURNS_MAX.
 *
 *   LOOP_BODY(look_at_one) { … return 1; }     `index` counts from 0; what else it needs is in scratch; 1: no more of them
 *   made = each_turn(count, look_at_one)       how many there were
 */
#pragma once

#include "kernel/kernel_types.h"

#ifdef WITHOUT_LOOPS
/* `index` is used in any case, or the compiler, seeing that it is not, has nobody set it. */
#define LOOP_BODY(name)                                                                                                          \
	static __always_inline int name##_once(__u32 index);                                                                     \
	__noinline int name(__u32 index)                                                                                         \
	{                                                                                                                        \
		opaque(index);                                                                                                   \
		return name##_once(index);                                                                                       \
	}                                                                                                                        \
	static __always_inline int name##_once(__u32 index)
#define TURNS_MAX 1024
#define each_turn(count, body) _each_turn(count, TURNS_MAX, body(_made++))
#define each_small_turn(count, most, step, walk) _each_turn(count, most, step(_made++, walk))
/* One branch a turn that may go both ways, since the verifier keeps no more than 8,192 of them in mind. */
#define _each_turn(count, most, call)                                                                                            \
	({                                                                                                                       \
		__u64 _count = count;                                                                                            \
		__u32 _made = 0;                                                                                                 \
		_Pragma("clang loop unroll(disable)") while (_made < (most) && _made < _count)                                   \
		{                                                                                                                \
			_count &= (__u64)(call)-1;                                                                               \
			opaque(_count);                                                                                          \
		}                                                                                                                \
		_made;                                                                                                           \
	})
#else
#define LOOP_BODY(name) static long name(__u32 index, void *context)
#define TURNS_MAX (1 << 23) /* what bpf_loop allows */
#define each_turn(count, body) bpf_loop(count, body, NULL, 0)
/* One whose step is short and has its walk on the stack; without loops at most `most`, which is 1 where nothing is looked at without them. */
#define each_small_turn(count, most, step, walk) bpf_loop(count, step, walk, 0)
#endif
