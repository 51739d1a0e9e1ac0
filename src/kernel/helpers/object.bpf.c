/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds and announces objects, see object.h. The first look is a look-up and some loads; everything else happens when a
 * name is new or has changed.
 */
#include "kernel/helpers/name.h"
#include "kernel/helpers/object.h"
#include "kernel/helpers/socket.h"

static __always_inline __u8 type_of(__u32 mode, __u64 magic)
{
	if (magic == ANON_INODE_FS_MAGIC || magic == PIDFS_MAGIC || magic == NSFS_MAGIC)
		return OBJECT_TYPE_ANONYMOUS; /* whatever the mode says: newer kernels call them regular files */
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
	return OBJECT_TYPE_UNKNOWN;
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
	fact->inode = handle->name.ino;
	fact->serial = serial;
	fact->handle_id = handle->name.handle_id;
	fact->object_id = handle->object_id;
	fact->device = handle->device;
	fact->generation = handle->name.generation;
	fact->mount_id = mount_id;
	fact->mode = handle->mode;
	fact->special_device = handle->special_device;
	fact->object_type = handle->name.object_type;
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
	struct object_key *key = &scratch->object_key;
	bool anonymous = scratch->seen.magic == ANON_INODE_FS_MAGIC;
	struct object_state *known, *fresh = &scratch->new_object;

	key->ino = anonymous ? dentry : handle->name.ino; /* one inode serves all anonymous ones */
	key->device = handle->device;
	key->generation = handle->name.generation;
	known = bpf_map_lookup_elem(&objects, key);
	if (known && created && known->promised) {
		known->promised = 0;
		created = false;
	}
	if (known && !(created && (anonymous || !key->generation)) && !(known->dead && links && !key->generation)) {
		known->linked |= links > 0;
		known->dead |= known->linked && !links;
		handle->object_id = known->object_id;
		return known->serial;
	}
	__builtin_memset(fresh, 0, sizeof(*fresh));
	fresh->object_id = new_id(&scratch->next_object);
	fresh->linked = links > 0;
	if (anonymous || (!key->generation && (known || created)))
		fresh->serial = bpf_ktime_get_boot_ns();
	bpf_map_update_elem(&objects, key, fresh, BPF_ANY);
	handle->object_id = fresh->object_id;
	return fresh->serial;
}

/* What a connection was called before it was closed: then the sequence numbers no longer tell. */
static __always_inline void keep_connection(struct handle_state *handle, struct handle_state *known)
{
	if (known && known->object_id == handle->object_id && known->connection_id &&
	    known->name.ends >> 1 == handle->name.ends >> 1)
		handle->connection_id = known->connection_id;
}

static __always_inline bool is_announced_alike(struct handle_state *handle, struct handle_state *known)
{
	return known && known->object_id == handle->object_id && known->name.path_hash == handle->name.path_hash &&
	       known->name.path_flags == handle->name.path_flags && known->name.ends == handle->name.ends &&
	       known->connection_id == handle->connection_id;
}

static __always_inline void take_name(struct scratch *scratch, const struct name_state *name)
{
	scratch->seen.handle_id = name->handle_id;
	scratch->seen.object_type = name->object_type;
	scratch->seen.path_hash = name->path_hash;
	scratch->seen.announced = name->announced;
}

/* What a name and its inode are now, and the path that leads there. */
static __always_inline void describe_name(struct scratch *scratch, struct handle_state *handle, struct dentry *dentry,
					  struct inode *inode, __u64 mnt_address)
{
	struct super_block *sb = READ(inode, i_sb);

	__builtin_memset(handle, 0, sizeof(*handle));
	handle->name.epoch = name_epoch;
	handle->name.inode = (__u64)inode;
	handle->name.parent = (__u64)READ(dentry, d_parent);
	handle->name.name_hash = READ(dentry, d_name.hash_len);
	handle->name.ino = READ(inode, i_ino);
	handle->name.generation = READ(inode, i_generation);
	handle->name.ends = scratch->seen.ends;
	handle->name.linked = READ(inode, i_nlink) > 0;
	handle->device = device_of(scratch->seen.inode);
	handle->mode = READ(inode, i_mode);
	handle->special_device = READ(inode, i_rdev);
	scratch->seen.magic = READ(sb, s_magic);
	handle->name.object_type = type_of(handle->mode, scratch->seen.magic);
	read_path(scratch, dentry, (void *)mnt_address);
	handle->name.path_hash = scratch->walk.hash;
	handle->name.path_flags = scratch->walk.flags;
}

/* A name that says what it said before keeps its number, and is not announced again. */
static __always_inline void number_handle(struct scratch *scratch, struct handle_state *handle)
{
	struct handle_state *known = bpf_map_lookup_elem(&handles, &scratch->seen.key);

	if (scratch->seen.sk)
		keep_connection(handle, known);
	if (!known || !is_announced_alike(handle, known)) {
		handle->name.handle_id = new_id(&scratch->next_handle);
		return;
	}
	handle->name.handle_id = known->name.handle_id;
	handle->name.announced = known->name.announced;
	if (filter_loaded)
		handle->filter = known->filter;
}

static __always_inline void announce(struct scratch *scratch, struct handle_state *handle, struct super_block *sb, __u64 serial,
				     __u64 mnt_address)
{
	struct mount *mount = mount_of((void *)mnt_address);
	struct socket *socket = typed(socket, scratch->seen.socket);

	handle->name.announced = announce_handle(scratch, handle, sb, serial, BPF_CORE_READ(mount, mnt_id));
	if (handle->name.announced && scratch->seen.socket && READ(socket, sk)) {
		handle->name.announced = announce_socket(scratch, handle, socket, READ(socket, sk));
		remember_stream(scratch, handle, READ(socket, sk));
	}
}

__noinline int describe_seen(scratch_ref ref)
{
	struct scratch *scratch = scratch_of(ref);

	if (!scratch)
		return 0;
	describe_name(scratch, &scratch->new_handle, typed(dentry, scratch->seen.key.dentry), typed(inode, scratch->seen.inode),
		      scratch->seen.key.mount);
	return 0;
}

__noinline int number_seen(scratch_ref ref)
{
	struct scratch *scratch = scratch_of(ref);
	struct handle_state *handle;

	if (!scratch)
		return 0;
	handle = &scratch->new_handle;
	/* first, before there are as many ways here as resolve_object() has ends */
	handle->connection_id = scratch->seen.sk ? connection_id(typed(sock, scratch->seen.sk)) : 0;
	scratch->seen.serial = resolve_object(scratch, handle, scratch->seen.key.dentry,
					      READ(typed(inode, scratch->seen.inode), i_nlink), scratch->seen.fresh);
	number_handle(scratch, handle);
	return 0;
}

__noinline int announce_seen(scratch_ref ref)
{
	struct scratch *scratch = scratch_of(ref);
	struct handle_state *handle;

	if (!scratch)
		return 0;
	handle = &scratch->new_handle;
	if (!handle->name.announced)
		announce(scratch, handle, READ(typed(inode, scratch->seen.inode), i_sb), scratch->seen.serial,
			 scratch->seen.key.mount);
	bpf_map_update_elem(&handles, &scratch->seen.key, handle, BPF_ANY);
	__sync_fetch_and_add(&name_changes[scratch->seen.place & (RECENT_NAMES - 1)], 1);
	take_name(scratch, &handle->name);
	if (filter_loaded)
		scratch->seen.filter = handle->filter;
	return 0;
}

static __always_inline bool is_current(const struct name_state *name, struct scratch *scratch, struct dentry *dentry)
{
	struct inode *inode = typed(inode, scratch->seen.inode);

	return name->announced && name->inode == scratch->seen.inode && name->ino == READ(inode, i_ino) &&
	       name->generation == READ(inode, i_generation) && name->parent == (__u64)READ(dentry, d_parent) &&
	       name->name_hash == READ(dentry, d_name.hash_len) && name->epoch == name_epoch &&
	       name->ends == scratch->seen.ends && name->linked == (READ(inode, i_nlink) > 0);
}

/* Fills scratch->seen from a dentry and a mount; seen.inode, .socket and .ends are set. True: not yet, the name is new or has changed. */
static __always_inline bool is_news(struct scratch *scratch, struct dentry *dentry, struct vfsmount *mnt, __u32 flags)
{
	struct handle_key *key = &scratch->seen.key;
	__u64 dentry_address = number_of(scratch, dentry);
	__u32 place = (dentry_address >> 6 ^ dentry_address >> 14) & (RECENT_NAMES - 1),
	      index = bpf_get_smp_processor_id() * RECENT_NAMES + place;
	struct recent_name *recent = bpf_map_lookup_elem(&recent_names, &index);
	__u64 changes = *(volatile __u64 *)&name_changes[place];
	struct handle_state *known;

	key->dentry = dentry_address;
	key->mount = (__u64)mnt;

	/* a predicate needs more than a recent name has */
	if (!filter_loaded && !flags && recent && recent->key.dentry == key->dentry && recent->key.mount == key->mount &&
	    recent->changes == changes && is_current(&recent->name, scratch, dentry)) {
		take_name(scratch, &recent->name);
		return false;
	}
	known = bpf_map_lookup_elem(&handles, key);
	if (known && !flags && is_current(&known->name, scratch, dentry)) {
		take_name(scratch, &known->name);
		if (filter_loaded) {
			scratch->seen.filter = known->filter;
		} else if (recent) {
			recent->key = *key;
			recent->changes = changes;
			recent->name = known->name;
		}
		return false;
	}
	scratch->seen.place = place;
	scratch->seen.fresh = flags & SEE_FRESH;
	return true;
}

/* Whether a call that returned this open file also made its object; else it opened what was there already. */
static __always_inline bool begins_a_life(struct file *file, struct inode *inode)
{
	__u64 magic = READ(inode, i_sb, s_magic);

	if (magic == SOCKFS_MAGIC || magic == PIPEFS_MAGIC || magic == ANON_INODE_FS_MAGIC)
		return true;
	return (READ(inode, i_mode) & S_IFMT) == S_IFREG &&
	       (READ(file, f_mode) & FMODE_CREATED || READ(file, f_flags) & __O_TMPFILE);
}

__noinline int find_file(scratch_ref ref, __u64 address, __u32 flags)
{
	struct scratch *scratch = scratch_of(ref);
	struct file *file = typed(file, address);
	struct inode *inode = READ(file, f_inode);

	if (!scratch)
		return 0;
	scratch->seen.handle_id = 0;
	scratch->seen.object_type = OBJECT_TYPE_UNKNOWN;
	scratch->seen.socket = 0;
	scratch->seen.sk = 0;
	scratch->seen.ends = 0;
	scratch->seen.inode = (__u64)inode;
	if (!address || !inode)
		return 0;
	scratch->seen.open_flags = common_open_flags(READ(file, f_flags));
	scratch->seen.position = READ(file, f_pos);
	scratch->seen.size = READ(inode, i_size);
	scratch->seen.mode = READ(inode, i_mode);
	if ((READ(inode, i_mode) & S_IFMT) == S_IFSOCK && READ(inode, i_sb, s_magic) == SOCKFS_MAGIC) {
		struct socket *socket = typed(socket, READ(file, private_data));

		scratch->seen.socket = (__u64)socket;
		scratch->seen.sk = (__u64)READ(socket, sk);
		scratch->seen.ends = socket_ends(READ(socket, sk));
	}
	if (flags && !begins_a_life(file, inode))
		flags = 0;
	return is_news(scratch, READ(file, f_path.dentry), READ(file, f_path.mnt), flags);
}

__noinline int find_directory(scratch_ref ref, __u64 dentry_address, __u64 mnt_address)
{
	struct scratch *scratch = scratch_of(ref);
	struct dentry *dentry = typed(dentry, dentry_address);

	if (!scratch)
		return 0;
	scratch->seen.handle_id = 0;
	scratch->seen.object_type = OBJECT_TYPE_UNKNOWN;
	scratch->seen.socket = 0;
	scratch->seen.sk = 0;
	scratch->seen.ends = 0;
	scratch->seen.size = 0;
	scratch->seen.open_flags = 0;
	scratch->seen.inode = (__u64)READ(dentry, d_inode);
	return dentry_address && scratch->seen.inode && is_news(scratch, dentry, (void *)mnt_address, 0);
}
