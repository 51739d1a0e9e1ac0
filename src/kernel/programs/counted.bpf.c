/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A question that counts (filter/bpf_grouping.h) stands in the filter's place, adds an event to a group, and goes on here.
 */
#include "kernel/helpers/emit.h"
#include "kernel/programs/begin_and_end.h"

SEC(SYS_EXIT)
int EXIT_PROGRAM(counted)
{
	struct ring_control *control = ring_control(STREAM_EVENTS);

	if (control) {
		control->filtered--;
		control->aggregated++;
	}
	return 0;
}
