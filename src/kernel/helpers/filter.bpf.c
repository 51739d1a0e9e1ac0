/* SPDX-License-Identifier: GPL-2.0 */
/* Text against the string conditions of the predicate. */
#include "kernel/helpers/filter.h"

LOOP_BODY(match_atom)
{
	struct filter_atom *atom = bpf_map_lookup_elem(&filter_atoms, &index);
	struct scratch *scratch = cpu_scratch();
	struct match_request request = {};

	if (!atom || !scratch)
		return 1;
	request.text = scratch->text;
	request.position = &scratch->match;
	request.length = scratch->asked.length;
	request.subject = scratch->asked.subject;
	request.plain = scratch->asked.plain;
	match_add(&scratch->verdicts, atom, index, &request);
	return 0;
}

/* Global and with numbers only, so that the verifier reads it once. */
__noinline int match_scratch_text(__u32 length, __u32 subject)
{
	struct scratch *scratch = cpu_scratch();
	__u32 count = filter_atom_count;

	if (!scratch || length > MATCH_TEXT_BYTES)
		return 0;
	scratch->asked.length = length;
	scratch->asked.subject = subject;
	scratch->asked.plain = match_is_plain(scratch->text, length);
	__builtin_memset(&scratch->verdicts, 0, sizeof(scratch->verdicts));
	if (count <= FILTER_ATOMS_MAX)
		each_turn(count, match_atom);
	return 0;
}
