/* SPDX-License-Identifier: GPL-2.0 */
/* Runs at the entry of sendfile, splice and copy_file_range, and keeps where their second file was, as sys_enter keeps it of the first. */
#include "kernel/helpers/call.h"

static __always_inline void prepare_copy(struct scratch *scratch, struct task_state *state)
{
	__u32 second;
	__u64 file;

	second = (shape_of(state->syscall >> ABI_SHIFT, state->syscall & NUMBER_MAX)->fd2 - 1) & 7;
	file = file_of(current_task(), second < 6 ? state->arguments[second] : -1);
	state->entry_position2 = file ? READ(typed(file, file), f_pos) : 0;
}
