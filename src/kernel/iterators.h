/* SPDX-License-Identifier: GPL-2.0 */
/* What iterators are called with. */
#pragma once

#include "kernel/kernel_types.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct bpf_iter__task_vma {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	struct vm_area_struct *vma;
};

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	__u32 fd;
	struct file *file;
};

#pragma clang attribute pop
