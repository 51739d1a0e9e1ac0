/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tp_btf/sys_enter, tp_btf/sys_exit: what only some calls need, so that the programs of all calls stay small. Two programs, not one for each kind of call:
 * what they have in common, the verifier looks at once per program.
 */
#include "kernel/memory/scratch.h"
#include "kernel/helpers/call.h"
#include "kernel/helpers/children.h"
#include "kernel/programs/begin_and_end.h"
#include "kernel/programs/special.h"

#define PREPARE(special, function)                                                                                               \
	case SPECIAL_##special:                                                                                                  \
		function(scratch, state);                                                                                        \
		break;

#define FOLLOW(special, function)                                                                                                \
	case SPECIAL_##special:                                                                                                  \
		function(scratch);                                                                                               \
		break;

__noinline int write_touched(scratch_ref ref)
{
	struct scratch *scratch = scratch_of(ref);

	return scratch && emit_child(&scratch->touched.header, sizeof(scratch->touched));
}

/* In place of the end of sys_enter. */
SEC(SYS_ENTER)
int ENTER_PROGRAM(prepare)
{
	struct task_state *state = state_of(this_task());
	struct scratch *scratch = cpu_scratch();

	if (!state || !scratch)
		return 0;
	switch (shape_of(state->syscall >> ABI_SHIFT, state->syscall & NUMBER_MAX)->special) {
		PREPARED_CALLS(PREPARE)
	}
	return 0;
}

/* When the event in scratch is written; sys_exit has filled scratch->seen, too. */
SEC(SYS_EXIT)
int EXIT_PROGRAM(follow)
{
	struct scratch *scratch = cpu_scratch();

	if (!scratch)
		return 0;
	switch (shape_of(scratch->event.abi, scratch->event.syscall)->special) {
		FOLLOWED_CALLS(FOLLOW)
	}
	return 0;
}
