/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a symbolic link leads, see lookup.h. Its text is where its file system keeps it:
 *
 *   tmpfs, ext4 (short)   i_link                         /proc/self                    none: the number of who looks
 *   btrfs, f2fs, …        first page of its content      /proc/1234/fd/5, cwd, root    none: what that task refers to
 *   XFS (short)           its inode                      ext4 (long)                   first block of its content, on the device
 *   /proc/mounts, net, …  the entry of /proc
 *
 * Left out: overlayfs, whose text is that of another file system's link, long links of XFS, and what /proc has besides (ns, map_files).
 */
#include "kernel/file_system_types.h"
#include "kernel/helpers/lookup.h"
#include "kernel/helpers/pages.h"
#include "kernel/helpers/process.h"

#define WORD(a, b, c, d) ((__u64)(a) | (b) << 8 | (c) << 16 | (__u64)(d) << 24)
#define DIGITS_MAX 7 /* PID_MAX_LIMIT is 2^22 */
#define EXTENTS_MAGIC 0xf30a
#define EXTENT_START_AT 18 /* 12 bytes of a head; 6 further on two bytes high, four low */
#define EACH_SLASH 0x2f2f2f2f2f2f2f2full
#define TASK_WORD (WORD('t', 'a', 's', 'k') | EACH_SLASH << 32)
#define THREAD_WORD (WORD('t', 'h', 'r', 'e') | WORD('a', 'd', '-', 's') << 32)

static __always_inline __u64 xfs_text(__u64 inode)
{
	__u64 fork = inode + bpf_core_field_offset(struct xfs_inode, i_df) - bpf_core_field_offset(struct xfs_inode, i_vnode);

	if ((number_at(fork + bpf_core_field_offset(struct xfs_ifork, if_format)) & 0xff) != XFS_DINODE_FMT_LOCAL)
		return 0;
	if (bpf_core_field_exists(struct xfs_ifork, if_data))
		return number_at(fork + bpf_core_field_offset(struct xfs_ifork, if_data));
	return number_at(fork + bpf_core_field_offset(struct xfs_ifork___before_6_8, if_u1.if_data));
}

/* Since 5.19 a long text is in the memory of the device: that of the first block, which the inode names. */
static __always_inline __u64 ext4_text(struct inode *inode, struct super_block *sb)
{
	__u64 extents = (__u64)inode + bpf_core_field_offset(struct ext4_inode_info, i_data) -
			bpf_core_field_offset(struct ext4_inode_info, vfs_inode);
	__u64 head = number_at(extents), start = number_at(extents + EXTENT_START_AT), mapping, folio;
	struct block_device *device = READ(sb, s_bdev);

	if ((head & 0xffff) != EXTENTS_MAGIC || head >> 48) /* more than a list of them */
		return 0;
	start = (start & 0xffff) << 32 | (start >> 16 & 0xffffffff);
	if (bpf_core_field_exists(device->bd_mapping))
		mapping = (__u64)BPF_CORE_READ(device, bd_mapping);
	else
		mapping = (__u64)BPF_CORE_READ((struct block_device___before_6_10 *)(void *)device, bd_inode, i_mapping);
	return byte_at(mapping, start << (READ(sb, s_blocksize_bits) & 31), &folio);
}

static __always_inline __u64 text_of(struct inode *inode, struct super_block *sb)
{
	__u64 text = (__u64)READ(inode, i_link), folio, magic = READ(sb, s_magic);

	if (!text)
		text = byte_at((__u64)READ(inode, i_mapping), 0, &folio);
	if (!text && magic == XFS_SUPER_MAGIC && bpf_core_type_exists(struct xfs_inode))
		text = xfs_text((__u64)inode);
	if (!text && magic == EXT4_SUPER_MAGIC && bpf_core_type_exists(struct ext4_inode_info))
		text = ext4_text(inode, sb);
	return text;
}

/* A number in digits, padded. */
static __always_inline __u64 in_digits(__u32 number, __u64 padding)
{
	__u64 word = padding;

	for (int i = 0; i < DIGITS_MAX; i++) {
		word = word << 8 | ('0' + number % 10);
		number /= 10;
		if (!number)
			break;
	}
	return word;
}

/* What a thread is called in a pid namespace; 0: nothing. */
static __always_inline __u32 number_in_namespace(struct pid *pid, struct pid_namespace *namespace)
{
	__u32 level = BPF_CORE_READ(namespace, level);
	struct upid upid = {};

	if (level > PID_NAMESPACES_MAX)
		return 0;
	bpf_core_read(&upid, sizeof(upid), &pid->numbers[level]);
	return upid.ns == namespace ? upid.nr : 0;
}

/* The first four letters of an entry's name; 0: it has more. */
static __always_inline __u64 short_name(struct dentry *dentry)
{
	__u64 length = READ(dentry, d_name.hash_len) >> 32;

	return length <= 4 ? number_at(READ(dentry, d_name.name)) & ((1ull << length * 8) - 1) : 0;
}

/* /proc/self, and /proc/thread-self. */
static __always_inline __u64 self_text(struct scratch *scratch, struct dentry *link, struct super_block *sb)
{
	struct lookup *lookup = &scratch->lookup;
	bool thread = number_at(READ(link, d_name.name)) == THREAD_WORD;
	struct proc_fs_info *proc = READ(sb, s_fs_info);
	struct pid_namespace *namespace = BPF_CORE_READ(proc, pid_ns);
	struct task_struct *task = current_task();
	__u32 process = number_in_namespace(BPF_CORE_READ(task, group_leader, thread_pid), namespace);
	__u32 number = number_in_namespace(BPF_CORE_READ(task, thread_pid), namespace);

	lookup->own_text[0] = in_digits(process, thread ? EACH_SLASH : 0);
	lookup->own_text[1] = TASK_WORD;
	lookup->own_text[2] = in_digits(number, 0);
	return process && (thread || short_name(link) == WORD('s', 'e', 'l', 'f')) ? number_of(scratch, lookup->own_text) : 0;
}

/* What a link of /proc says that is no task's: of those that are made for who looks it has none. */
static __always_inline __u64 entry_text(__u64 inode)
{
	__u64 proc = inode - bpf_core_field_offset(struct proc_inode, vfs_inode);
	__u64 entry = number_at(proc + bpf_core_field_offset(struct proc_inode, pde));

	return entry ? number_at(entry + bpf_core_field_offset(struct proc_dir_entry, data)) : 0;
}

/* file_of() of a task that the verifier does not know as one. */
static __always_inline __u64 file_of_another(struct task_struct *task, __s32 fd)
{
	__u64 files = (__u64)READ(task, files, fdt, fd);

	return fd >= 0 && (__u32)fd < READ(task, files, fdt, max_fds) ? number_at(files + fd * sizeof(files)) : 0;
}

/* Where a link of /proc/PID leads: the address of a path; 0: nowhere that is known. */
static __always_inline __u64 jump_of(struct dentry *link, __u64 inode)
{
	__u64 proc = inode - bpf_core_field_offset(struct proc_inode, vfs_inode), name = short_name(link);
	__u64 thread = thread_of(number_at(proc + bpf_core_field_offset(struct proc_inode, pid)));
	struct task_struct *task = typed(task_struct, thread);
	__u64 fs, file;

	if (!thread)
		return 0;
	fs = (__u64)READ(task, fs);
	if (name == WORD('c', 'w', 'd', 0))
		return fs ? fs + bpf_core_field_offset(struct fs_struct, pwd) : 0;
	if (name == WORD('r', 'o', 'o', 't'))
		return fs ? fs + bpf_core_field_offset(struct fs_struct, root) : 0;
	if (name == WORD('e', 'x', 'e', 0))
		file = (__u64)BPF_CORE_READ(task, mm, exe_file);
	else if (short_name(READ(link, d_parent)) == WORD('f', 'd', 0, 0))
		file = file_of_another(task, number_at(proc + bpf_core_field_offset(struct proc_inode, fd)));
	else
		return 0;
	/* of a socket the file says more than its name */
	return file && (READ(typed(file, file), f_inode, i_mode) & S_IFMT) != S_IFSOCK
		       ? file + bpf_core_field_offset(struct file, f_path)
		       : 0;
}

static __always_inline bool jump(struct lookup *lookup, __u64 path)
{
	if (!path)
		return false;
	lookup->dentry = number_at(path + bpf_core_field_offset(struct path, dentry));
	lookup->mount = (__u64)mount_of((void *)number_at(path + bpf_core_field_offset(struct path, mnt)));
	return lookup->dentry;
}

static __always_inline bool follow_text(struct lookup *lookup, __u64 text)
{
	__u32 depth = lookup->depth;

	if (!text || depth >= LINKS_MAX)
		return false;
	lookup->after[depth & (LINKS_MAX - 1)] = lookup->text;
	lookup->depth = depth + 1;
	lookup->text = text;
	if ((number_at(text) & 0xff) == '/') {
		lookup->dentry = lookup->root_dentry;
		lookup->mount = lookup->root_mount;
	}
	return true;
}

/* A function of its own, since the verifier comes to it in many ways. */
__noinline int enter_link(scratch_ref ref, __u64 address)
{
	struct scratch *scratch = scratch_of(ref);
	struct dentry *link = typed(dentry, address);
	struct inode *inode = READ(link, d_inode);
	struct super_block *sb = READ(inode, i_sb);
	bool is_proc = READ(sb, s_magic) == PROC_SUPER_MAGIC, followed;
	__u64 text;

	if (!scratch)
		return 0;
	text = is_proc ? entry_text((__u64)inode) : text_of(inode, sb);
	if (is_proc && !text && READ(link, d_parent) == READ(sb, s_root))
		text = self_text(scratch, link, sb);
	if (is_proc && !text)
		followed = jump(&scratch->lookup, jump_of(link, (__u64)inode));
	else
		followed = follow_text(&scratch->lookup, text);
	if (!followed)
		__sync_fetch_and_add(&links_unread, 1);
	return followed;
}
