/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What: the object behind an open file and the name that it was reached by, found in the file itself and not in a table
 * by descriptor, so that passed, inherited and duplicated descriptors are right without following them.
 *
 *   (dentry, mount) ──► handles ──► handle_id          valid while inode, name, parent and name_epoch are unchanged
 *   (device, inode, generation) ──► objects ──► object_id
 */
#pragma once

#include "kernel/filter.h"
#include "kernel/name.h"

/* What see_file() found; in scratch, because it crosses calls. */
enum see_flags {
	SEE_FRESH = 1, /* the call made this open file: an anonymous one is a new object */
};

static __always_inline __u8 type_of(__u32 mode, __u64 magic)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return OBJECT_TYPE_FILE;
	case S_IFDIR:
		return OBJECT_TYPE_DIRECTORY;
	case S_IFLNK:
		return OBJECT_TYPE_SYMLINK;
	case S_IFCHR:
		return OBJECT_TYPE_CHARACTER_DEVICE;
	case S_IFBLK:
		return OBJECT_TYPE_BLOCK_DEVICE;
	case S_IFIFO:
		return OBJECT_TYPE_PIPE;
	case S_IFSOCK:
		return OBJECT_TYPE_SOCKET;
	}
	return magic == ANON_INODE_FS_MAGIC ? OBJECT_TYPE_ANONYMOUS : OBJECT_TYPE_UNKNOWN;
}

/* Changes when a socket's ends do; no more than a digest, so addresses are compared in full when announced. */
static __always_inline __u64 socket_ends(struct sock *sk)
{
	__u64 digest = 0;
	__u16 family;

	if (!sk)
		return 0;
	family = sk->__sk_common.skc_family;
	if (family == AF_UNIX) {
		struct unix_sock *unix_sock = (void *)sk;
		__u64 address = 0, peer = 0;

		bpf_core_read(&address, sizeof(address), &unix_sock->addr);
		bpf_core_read(&peer, sizeof(peer), &unix_sock->peer);
		return address * 31 + peer;
	}
	if (family != AF_INET && family != AF_INET6)
		return 0;
	digest = sk->__sk_common.skc_portpair;
	digest = digest << 32 ^ sk->__sk_common.skc_daddr ^ (__u64)sk->__sk_common.skc_rcv_saddr << 7;
	return digest * 2 + (sk->__sk_common.skc_state == TCP_ESTABLISHED && sk->sk_protocol == IPPROTO_TCP);
}

/* The same on both ends: each knows both initial sequence numbers. 0 while they are not known. */
static __always_inline __u64 connection_id(struct sock *sk)
{
	struct tcp_sock *tcp = typed(struct tcp_sock, sk);
	__u32 own, other;

	if (sk->sk_protocol != IPPROTO_TCP || sk->__sk_common.skc_state != TCP_ESTABLISHED)
		return 0;
	own = tcp->snd_nxt - (__u32)(tcp->bytes_sent - tcp->bytes_retrans);
	other = tcp->rcv_nxt - (__u32)tcp->bytes_received;
	return own < other ? (__u64)own << 32 | other : (__u64)other << 32 | own;
}

static __always_inline __u32 attach_unix_name(struct scratch *scratch, __u32 at, struct unix_address *address, __u16 kind)
{
	struct attachment_header *header;
	__u32 length;

	if (!address || at > 512)
		return 0;
	length = BPF_CORE_READ(address, len);
	if (length <= 2 || length > 110)
		return 0;
	length -= 2;
	header = (void *)scratch->fact.bytes + at;
	header->kind = kind;
	header->length = length;
	header->reserved = 0;
	bpf_probe_read_kernel(header + 1, length, (void *)address + bpf_core_field_offset(struct unix_address, name) + 2);
	return sizeof(*header) + padded(length);
}

static __always_inline __u32 fill_unix_names(struct scratch *scratch, __u32 at, struct sock *sk)
{
	struct unix_sock *own = typed(struct unix_sock, sk);
	struct unix_sock *peer = typed(struct unix_sock, own->peer);
	__u32 added = attach_unix_name(scratch, at, own->addr, ATTACHMENT_PATH);

	if (own->peer)
		added += attach_unix_name(scratch, at + added, peer->addr, ATTACHMENT_PATH2);
	return added;
}

static __always_inline void fill_addresses(struct socket_fact *fact, struct sock *sk)
{
	struct sock_common *common = &sk->__sk_common;

	fact->local_port = common->skc_num;
	fact->remote_port = __builtin_bswap16(common->skc_dport);
	if (fact->family == AF_INET) {
		*(__u32 *)fact->local_address = common->skc_rcv_saddr;
		*(__u32 *)fact->remote_address = common->skc_daddr;
	} else {
		bpf_core_read(fact->local_address, 16, &common->skc_v6_rcv_saddr);
		bpf_core_read(fact->remote_address, 16, &common->skc_v6_daddr);
	}
}

static __always_inline bool announce_socket(struct scratch *scratch, struct handle_state *handle, struct socket *socket,
					    struct sock *sk)
{
	struct socket_fact *fact = &scratch->fact.socket;
	__u32 size = sizeof(*fact);

	__builtin_memset(fact, 0, sizeof(*fact));
	fact->header.type = RECORD_SOCKET;
	fact->valid_from_ns = bpf_ktime_get_boot_ns();
	fact->handle_id = handle->handle_id;
	fact->object_id = handle->object_id;
	fact->cookie = sk->__sk_common.skc_cookie.counter;
	fact->network_namespace = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
	fact->family = sk->__sk_common.skc_family;
	fact->socket_type = socket->type;
	fact->protocol = sk->sk_protocol;
	fact->state = sk->__sk_common.skc_state;
	if (fact->family == AF_UNIX) {
		size += fill_unix_names(scratch, size, sk);
	} else if (fact->family == AF_INET || fact->family == AF_INET6) {
		fill_addresses(fact, sk);
		fact->connection_id = connection_id(sk);
	}
	if (filter_loaded)
		tell_filter_of_socket(scratch, fact);
	fact->attachments = size - sizeof(*fact);
	return emit(STREAM_FACTS, &fact->header, size);
}

static __always_inline bool announce_handle(struct scratch *scratch, struct handle_state *handle, struct super_block *sb,
					    __u64 serial, __u32 mount_id)
{
	struct handle_fact *fact = &scratch->fact.handle;
	const char *type_name = BPF_CORE_READ(sb, s_type, name);
	__u32 size = sizeof(*fact);

	__builtin_memset(fact, 0, sizeof(*fact));
	fact->header.type = RECORD_HANDLE;
	fact->valid_from_ns = bpf_ktime_get_boot_ns();
	fact->inode = handle->ino;
	fact->serial = serial;
	fact->handle_id = handle->handle_id;
	fact->object_id = handle->object_id;
	fact->device = handle->device;
	fact->generation = handle->generation;
	fact->mount_id = mount_id;
	fact->mode = handle->mode;
	fact->object_type = handle->object_type;
	fact->flags = scratch->walk.flags;
	bpf_probe_read_kernel_str(fact->file_system, sizeof(fact->file_system), type_name);
	if (filter_loaded)
		tell_filter_of_handle(scratch, fact);
	size += attach_path(scratch, size, ATTACHMENT_PATH);
	fact->attachments = size - sizeof(*fact);
	return emit(STREAM_FACTS, &fact->header, size);
}

/*
 * The object of a handle that is new or changed. An inode number without generation comes again (overlayfs): a file that a
 * call created, or one with a name after it had lost its last, begins a new life.
 */
static __always_inline __u64 resolve_object(struct scratch *scratch, struct handle_state *handle, __u64 dentry, __u32 links,
					    bool created)
{
	struct object_key key = { .ino = handle->ino, .device = handle->device, .generation = handle->generation };
	bool anonymous = handle->object_type == OBJECT_TYPE_ANONYMOUS;
	struct object_state *known, fresh = {};

	if (anonymous)
		key.ino = dentry; /* one inode serves them all */
	known = bpf_map_lookup_elem(&objects, &key);
	if (known && !(created && (anonymous || !key.generation)) && !(known->dead && links && !key.generation)) {
		known->linked |= links > 0;
		known->dead |= known->linked && !links;
		handle->object_id = known->object_id;
		return known->serial;
	}
	fresh.object_id = new_id(&scratch->next_object);
	fresh.linked = links > 0;
	if (anonymous || (!key.generation && (known || created)))
		fresh.serial = bpf_ktime_get_boot_ns();
	bpf_map_update_elem(&objects, &key, &fresh, BPF_ANY);
	handle->object_id = fresh.object_id;
	return fresh.serial;
}

/* Everything behind the first look: reads the path, finds the object, announces what is new. */
static __noinline int resolve_slowly(struct scratch *scratch, __u64 dentry_address, __u64 mnt_address, __u32 flags)
{
	struct handle_key key = { .dentry = dentry_address, .mount = mnt_address };
	struct dentry *dentry = typed(struct dentry, dentry_address);
	struct handle_state *known, *handle = &scratch->new_handle;
	struct inode *inode = typed(struct inode, scratch->seen.inode);
	struct super_block *sb = inode->i_sb;
	struct mount *mount = mount_of((void *)mnt_address);
	struct socket *socket = typed(struct socket, scratch->seen.socket);
	__u64 serial;
	bool changed;

	__builtin_memset(handle, 0, sizeof(*handle));
	handle->epoch = name_epoch;
	handle->inode = (__u64)inode;
	handle->parent = (__u64)dentry->d_parent;
	handle->name_hash = dentry->d_name.hash_len;
	handle->ino = inode->i_ino;
	handle->generation = inode->i_generation;
	handle->device = sb->s_dev;
	handle->mode = inode->i_mode;
	handle->object_type = type_of(handle->mode, sb->s_magic);
	handle->ends = scratch->seen.ends;
	handle->linked = inode->i_nlink > 0;
	read_path_of(scratch, dentry_address, mnt_address);
	handle->path_hash = scratch->walk.hash;
	serial = resolve_object(scratch, handle, dentry_address, inode->i_nlink, flags & SEE_FRESH);
	known = bpf_map_lookup_elem(&handles, &key);
	changed = !known || known->object_id != handle->object_id || known->path_hash != handle->path_hash ||
		  known->ends != handle->ends;
	handle->handle_id = changed ? new_id(&scratch->next_handle) : known->handle_id;
	handle->announced = !changed && known->announced;
	if (filter_loaded && handle->announced)
		handle->filter = known->filter;
	if (!handle->announced) {
		handle->announced = announce_handle(scratch, handle, sb, serial, BPF_CORE_READ(mount, mnt_id));
		if (handle->announced && scratch->seen.socket && socket->sk)
			handle->announced = announce_socket(scratch, handle, socket, socket->sk);
	}
	bpf_map_update_elem(&handles, &key, handle, BPF_ANY);
	scratch->seen.handle_id = handle->handle_id;
	scratch->seen.object_type = handle->object_type;
	scratch->seen.announced = handle->announced;
	if (filter_loaded)
		scratch->seen.filter = handle->filter;
	return 0;
}

/* Fills scratch->seen from a dentry and a mount; seen.inode, .socket and .ends are set. */
static __always_inline void see_name(struct scratch *scratch, struct dentry *dentry, struct vfsmount *mnt, __u32 flags)
{
	struct handle_key key = { .dentry = (__u64)dentry, .mount = (__u64)mnt };
	struct handle_state *known = bpf_map_lookup_elem(&handles, &key);
	struct inode *inode = typed(struct inode, scratch->seen.inode);

	if (known && !flags && known->announced && known->inode == scratch->seen.inode && known->ino == inode->i_ino &&
	    known->generation == inode->i_generation && known->parent == (__u64)dentry->d_parent &&
	    known->name_hash == dentry->d_name.hash_len && known->epoch == name_epoch && known->ends == scratch->seen.ends &&
	    known->linked == (inode->i_nlink > 0)) {
		scratch->seen.handle_id = known->handle_id;
		scratch->seen.object_type = known->object_type;
		scratch->seen.announced = true;
		if (filter_loaded)
			scratch->seen.filter = known->filter;
		return;
	}
	resolve_slowly(scratch, (__u64)dentry, (__u64)mnt, flags);
}

/* Whether a call that returned this open file also made its object; else it opened what was there already. */
static __always_inline bool begins_a_life(struct file *file, struct inode *inode)
{
	__u64 magic = inode->i_sb->s_magic;

	if ((inode->i_mode & S_IFMT) == S_IFREG)
		return file->f_mode & FMODE_CREATED;
	return magic == SOCKFS_MAGIC || magic == PIPEFS_MAGIC || magic == ANON_INODE_FS_MAGIC;
}

/* Fills scratch->seen from an open file; handle_id is 0 if there is nothing to see. */
static __noinline int see_file(struct scratch *scratch, __u64 address, __u32 flags)
{
	struct file *file = typed(struct file, address);
	struct inode *inode = file->f_inode;

	scratch->seen.handle_id = 0;
	scratch->seen.socket = 0;
	scratch->seen.sk = 0;
	scratch->seen.ends = 0;
	scratch->seen.inode = (__u64)inode;
	if (!address || !inode)
		return 0;
	scratch->seen.open_flags = file->f_flags;
	scratch->seen.position = file->f_pos;
	scratch->seen.size = inode->i_size;
	scratch->seen.mode = inode->i_mode;
	if ((inode->i_mode & S_IFMT) == S_IFSOCK && inode->i_sb->s_magic == SOCKFS_MAGIC) {
		struct socket *socket = typed(struct socket, file->private_data);

		scratch->seen.socket = (__u64)socket;
		scratch->seen.sk = (__u64)socket->sk;
		scratch->seen.ends = socket_ends(socket->sk);
	}
	if (flags && !begins_a_life(file, inode))
		flags = 0;
	see_name(scratch, file->f_path.dentry, file->f_path.mnt, flags);
	return 0;
}

/* Fills scratch->seen from a directory that is not open: cwd, root. */
static __noinline int see_directory(struct scratch *scratch, __u64 dentry_address, __u64 mnt_address)
{
	struct dentry *dentry = typed(struct dentry, dentry_address);

	scratch->seen.handle_id = 0;
	scratch->seen.socket = 0;
	scratch->seen.ends = 0;
	scratch->seen.inode = (__u64)dentry->d_inode;
	if (dentry_address && dentry->d_inode)
		see_name(scratch, dentry, (void *)mnt_address, 0);
	return 0;
}

/* The open file behind a descriptor of the current task; 0 if there is none. */
static __always_inline __u64 file_of(struct task_struct *task, __s32 fd)
{
	struct files_struct *files = task->files;
	struct fdtable *table;
	__u64 file = 0;

	if (fd < 0 || !files)
		return 0;
	table = files->fdt;
	if ((__u32)fd >= table->max_fds)
		return 0;
	bpf_probe_read_kernel(&file, sizeof(file), table->fd + fd);
	return file;
}
