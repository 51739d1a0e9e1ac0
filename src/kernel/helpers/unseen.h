/* SPDX-License-Identifier: GPL-2.0 */
/* Groups of moves.toml of which something was recorded, from 1: src/capture says so at the end. */
#pragma once

#include "kernel/machine.h"
#include "schema/generated/syscalls.bpf.h"

__u8 unseen_groups[UNSEEN_GROUPS + 1];

static __always_inline void mark_unseen_group(__u32 group)
{
	if (group && group <= UNSEEN_GROUPS)
		unseen_groups[group] = 1;
}

static __always_inline __u32 unseen_group_of_family(__u32 family)
{
	switch (family) {
		UNSEEN_FAMILIES
	}
	return 0;
}

static __always_inline __u32 unseen_group_of_call(__u32 abi, __u32 number, const __u64 *arguments)
{
	if (abi == ABI_COMPAT) {
		switch (number) {
			UNSEEN_CASES_COMPAT
		}
		return 0;
	}
	switch (number) {
		UNSEEN_CASES_NATIVE
	}
	return 0;
}
