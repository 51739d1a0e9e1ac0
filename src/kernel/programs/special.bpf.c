/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tp_btf/sys_enter, tp_btf/sys_exit: what only some calls need, so that the programs of all calls stay small. Two programs, not one for each kind of call:
 * what they have in common, the verifier looks at once per program.
 */
#include "kernel/memory/scratch.h"
#include "kernel/helpers/call.h"
#include "kernel/helpers/children.h"
#include "kernel/helpers/unseen.h"
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

/* Global, so that the verifier looks at its many cases once. */
__noinline int mark_unseen(scratch_ref ref)
{
	struct scratch *scratch = scratch_of(ref);
	const struct syscall_event *event = &scratch->event;

	if (scratch && event->result >= 0)
		mark_unseen_group(unseen_group_of_call(event->abi, event->syscall, event->arguments));
	return 0;
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
	const volatile struct syscall_shape *shape;

	if (!scratch)
		return 0;
	shape = shape_of(scratch->event.abi, scratch->event.syscall);
	if (shape->flags & CALL_UNSEEN)
		mark_unseen(ref_of(scratch));
	switch (shape->special) {
		FOLLOWED_CALLS(FOLLOW)
	}
	return 0;
}
