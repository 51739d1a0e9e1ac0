/* SPDX-License-Identifier: GPL-2.0 */
/* Types of single file systems, which may be modules: who reads them asks first whether the kernel has them (src/capture/programs.cpp). */
#pragma once

#include "kernel/kernel_types.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct proc_fs_info {
	struct pid_namespace *pid_ns;
};

struct proc_inode {
	struct pid *pid;
	unsigned int fd;
	struct proc_dir_entry *pde;
	struct inode vfs_inode;
};

struct proc_dir_entry {
	void *data; /* of a link its text */
};

struct block_device {
	struct address_space *bd_mapping;
};

struct block_device___before_6_10 {
	struct inode *bd_inode;
};

struct ext4_inode_info {
	__u32 i_data[15];
	struct inode vfs_inode;
};

struct xfs_ifork {
	void *if_data; /* of a short link its text, and NUL */
	__s8 if_format;
};

struct xfs_ifork___before_6_8 {
	struct {
		void *if_data;
	} if_u1;
};

struct xfs_inode {
	struct xfs_ifork i_df;
	struct inode i_vnode;
};

struct btrfs_root {
	__u32 anon_dev;
};

struct btrfs_inode {
	struct btrfs_root *root;
	struct inode vfs_inode;
};

struct ovl_sb {
	struct super_block *sb;
	__u32 pseudo_dev;
};

struct ovl_fs {
	struct ovl_sb *fs; /* each that has layers, once; the first is that of the upper layer */
	int xino_mode; /* 0: all layers are on one; bits of an inode number that say on which; -1: none do */
};

#pragma clang attribute pop
