/* SPDX-License-Identifier: GPL-2.0 */
/*
 * On which device a file is, as stat(2) says it. Inode numbers are unique there, which they are not in all of a file system:
 *
 *   btrfs        that of its subvolume or snapshot
 *   overlayfs    that of the file system of its layer, if the layers are on several and their inode numbers do not say which (xino=on)
 *   all others   that of the super_block
 *
 * Left out: a file of a lower layer that has several names, since its inode does not lead to the one that it has its number of, and file systems
 * whose module comes when programs are loaded already. Their device is that of the super_block.
 */
#include "kernel/file_system_types.h"
#include "kernel/helpers/object.h"

#define LAYER_DEVICES_MAX 8 /* file systems of one overlay: an image is on one, what is written on another */

static __always_inline __u32 subvolume_device(__u64 inode)
{
	__u64 own = inode - bpf_core_field_offset(struct btrfs_inode, vfs_inode);
	__u64 root = number_at(own + bpf_core_field_offset(struct btrfs_inode, root));

	return root ? number_at(root + bpf_core_field_offset(struct btrfs_root, anon_dev)) : 0;
}

static __always_inline __u32 layer_device(struct inode *inode, struct super_block *sb)
{
	__u64 overlay = (__u64)READ(sb, s_fs_info),
	      numbered = (__u64)READ(inode, i_private); /* the inode that it has its number of */
	__u64 at = number_at(overlay + bpf_core_field_offset(struct ovl_fs, fs)), layer_sb;

	if ((__s32)number_at(overlay + bpf_core_field_offset(struct ovl_fs, xino_mode)) >= 0 || !numbered ||
	    (READ(inode, i_mode) & S_IFMT) == S_IFDIR)
		return 0;
	layer_sb = (__u64)READ(typed(inode, numbered), i_sb);
	for (int i = 0; i < LAYER_DEVICES_MAX; i++) {
		if (number_at(at + bpf_core_field_offset(struct ovl_sb, sb)) == layer_sb)
			return number_at(at + bpf_core_field_offset(struct ovl_sb, pseudo_dev));
		at += bpf_core_type_size(struct ovl_sb);
	}
	return 0;
}

__noinline __u32 device_of(__u64 address)
{
	struct inode *inode = typed(inode, address);
	struct super_block *sb = READ(inode, i_sb);
	__u64 magic = READ(sb, s_magic);
	__u32 device = 0;

	if (magic == BTRFS_SUPER_MAGIC && bpf_core_type_exists(struct btrfs_inode))
		device = subvolume_device(address);
	else if (magic == OVERLAYFS_SUPER_MAGIC && bpf_core_type_exists(struct ovl_fs))
		device = layer_device(inode, sb);
	return device ? device : READ(sb, s_dev);
}
