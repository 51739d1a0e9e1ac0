/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Path arguments, as the program gave them, and what they start from; names beside them.
 *
 *   "a/b"     dirfd or working directory     handle of it, names_base
 *   "/a/b"    root                           none, or handle of it and names_base in a chroot
 *   ""        AT_EMPTY_PATH                  handle of the very object that dirfd stands for
 *
 * Where the kernel's cache has the object that the path leads to, the event has its handle instead (lookup.h).
 */
#pragma once

#include "kernel/helpers/call.h"
#include "kernel/helpers/lookup.h"

enum path_kind { PATH_NONE, PATH_EMPTY, PATH_RELATIVE, PATH_ABSOLUTE };

static __always_inline enum path_kind kind_of(const __u8 *text, __u32 length)
{
	if (length == 0)
		return PATH_EMPTY;
	return text[0] == '/' ? PATH_ABSOLUTE : PATH_RELATIVE;
}

/* Attaches a path argument. Read at exit: the call itself has made it resident. */
static __always_inline enum path_kind attach_argument_path(struct scratch *scratch, __u64 user, __u16 kind)
{
	struct attachment_header *header = next_attachment(scratch);
	enum path_kind result;
	__u8 *text;
	long length;

	if (!header || !user)
		return PATH_NONE;
	text = (__u8 *)(header + 1);
	length = read_text(text, PATH_BYTES_MAX, user);
	if (length < 1)
		return PATH_NONE;
	result = kind_of(text, length - 1);
	if (filter_loaded)
		tell_filter_of_path(scratch, text, length - 1, kind == ATTACHMENT_PATH2);
	finish_attachment(scratch, header, kind, length - 1);
	return result;
}

/*
 * A name that is no path: of an attribute, a type, a source. No call takes one that is longer than a path. Only mount has one
 * after two that may be as long: the type, of which none is longer than a short name; what is longer is left out, not cut.
 */
static __always_inline void attach_name(struct scratch *scratch, __u64 user, __u16 kind)
{
	struct attachment_header *header = next_attachment(scratch);
	long length;

	if (header) {
		length = read_text(header + 1, PATH_BYTES_MAX, user);
		if (length > 0)
			finish_attachment(scratch, header, kind, length - 1);
		return;
	}
	header = attachment_space(scratch, SHORT_NAME_BYTES_MAX);
	if (!header)
		return;
	length = read_text(header + 1, SHORT_NAME_BYTES_MAX, user);
	if (length > 0 && length < SHORT_NAME_BYTES_MAX)
		finish_attachment(scratch, header, kind, length - 1);
}

/* execve: what sched_process_exec kept, see task.bpf.c. */
static __always_inline enum path_kind attach_exec_path(struct scratch *scratch, __u64 task)
{
	struct exec_path *kept = bpf_map_lookup_elem(&exec_paths, &task);
	struct attachment_header *header = next_attachment(scratch);
	enum path_kind result;
	__u32 length;

	if (!kept || !header)
		return PATH_NONE;
	length = kept->length;
	if (length >= PATH_BYTES_MAX)
		length = 0;
	bpf_probe_read_kernel(header + 1, length, kept->text);
	result = kind_of(kept->text, length);
	if (filter_loaded)
		tell_filter_of_path(scratch, kept->text, length, false);
	bpf_map_delete_elem(&exec_paths, &task);
	finish_attachment(scratch, header, ATTACHMENT_PATH, length);
	return result;
}

/* The root that absolute paths start from: a handle where it is not the namespace's own, else 0. */
static __always_inline __u32 see_root(struct scratch *scratch, struct fs_struct *fs)
{
	__u64 dentry = (__u64)LOAD(fs, root.dentry), mount = (__u64)LOAD(fs, root.mnt), epoch = name_epoch;

	if (scratch->plain_root.dentry == dentry && scratch->plain_root.mount == mount && scratch->plain_root.epoch == epoch)
		return 0;
	see_root_directory(scratch, fs);
	if (scratch->seen.path_hash)
		return scratch->seen.handle_id;
	scratch->plain_root.dentry = dentry;
	scratch->plain_root.mount = mount;
	scratch->plain_root.epoch = epoch;
	return 0;
}

/* `dyetrace trace` shows what a path starts from, as strace does, and no object; what is only counted has none to show, but to a condition. */
static __always_inline bool finds_objects(void)
{
	return !preview_bytes && (!count_only || filter_loaded);
}

/* Whether a path that ends in a symbolic link means what that leads to. */
static __always_inline bool follows_links(const struct syscall_event *event, const volatile struct syscall_shape *shape)
{
	__u64 flags = shape->at_flags ? argument(event, shape->at_flags) : 0;

	return shape->keeps_link ? flags & AT_SYMLINK_FOLLOW : !(flags & AT_SYMLINK_NOFOLLOW);
}

/* What was just seen is the event's object, or its second one. */
static __always_inline void take_seen(struct scratch *scratch, bool second)
{
	struct syscall_event *event = &scratch->event;

	if (filter_loaded)
		tell_filter_of_seen(scratch, second);
	if (second) {
		event->handle2_id = scratch->seen.handle_id;
		event->present |= SYSCALL_HAS_HANDLE2;
	} else {
		event->handle_id = scratch->seen.handle_id;
		event->present |= SYSCALL_HAS_HANDLE;
	}
}

/* keep_seen() left it for the exit. */
static __always_inline void tell_filter_of_kept(struct scratch *scratch, const struct task_state *state)
{
	if (filter_loaded && state->closed.object_id) {
		scratch->input.object = state->closed;
		scratch->input.known |= FILTER_KNOWS_OBJECT;
	}
}

/* What a path that was just attached at `at` leads to now is in scratch->seen. */
static __always_inline bool see_attached(struct scratch *scratch, __u32 at, __s32 dirfd, bool follow)
{
	__u64 text = number_of(scratch, scratch->event_attachments) + at + sizeof(struct attachment_header);

	if (!look_up(ref_of(scratch), text, dirfd, follow))
		return false;
	see_looked_up(scratch);
	return scratch->seen.handle_id;
}

/* Finds what a path of a task starts from: a handle, or 0. */
static __always_inline __u32 see_base(struct scratch *scratch, struct task_struct *task, __u32 kind, bool has_dirfd, __s32 dirfd)
{
	struct fs_struct *fs = LOAD(task, fs);

	if (kind == PATH_NONE || !fs)
		return 0;
	if (kind == PATH_ABSOLUTE)
		return see_root(scratch, fs);
	if (has_dirfd && dirfd != AT_FDCWD)
		see_file(scratch, file_of(task, dirfd), 0);
	else
		see_working_directory(scratch, fs);
	return scratch->seen.handle_id;
}

/* chdir, chroot: where the task is now is the object; what a relative path started from is gone. */
static __always_inline bool fill_new_directory(struct scratch *scratch, struct task_struct *task,
					       const volatile struct syscall_shape *shape)
{
	struct syscall_event *event = &scratch->event;
	struct fs_struct *fs = LOAD(task, fs);

	if ((shape->special != SPECIAL_CHDIR && shape->special != SPECIAL_CHROOT) || event->result < 0 || !fs)
		return false;
	if (shape->special == SPECIAL_CHROOT)
		see_root_directory(scratch, fs);
	else
		see_working_directory(scratch, fs);
	if (!scratch->seen.handle_id)
		return false;
	take_seen(scratch, false);
	return true;
}

/* unlink, rmdir, rename: what the name stood for, see names.bpf.c. */
static __always_inline bool fill_removed(struct scratch *scratch, struct task_state *state,
					 const volatile struct syscall_shape *shape)
{
	struct syscall_event *event = &scratch->event;
	struct object_state *object;

	if ((shape->special != SPECIAL_REMOVE && shape->special != SPECIAL_RENAME) || !state->handle_id)
		return false;
	tell_filter_of_kept(scratch, state);
	event->handle_id = state->handle_id;
	event->present |= SYSCALL_HAS_HANDLE;
	if (state->removed.ino && event->result >= 0) {
		struct object_key removed = state->removed; /* see scratch_with_keys() */

		object = bpf_map_lookup_elem(&objects, &removed);
		if (object)
			object->dead = 1;
	}
	return true;
}

/* The object of a call that took a path and found it; true: the event has it. */
static __always_inline bool fill_found(struct scratch *scratch, const volatile struct syscall_shape *shape, enum path_kind kind,
				       __u32 at)
{
	struct syscall_event *event = &scratch->event;

	/* chdir, chroot: the task sees another directory by now; rename: the name is gone */
	if (!finds_objects() || kind < PATH_RELATIVE || event->result < 0 || event->present & SYSCALL_HAS_HANDLE ||
	    shape->special == SPECIAL_EXEC || shape->special == SPECIAL_RENAME || shape->special == SPECIAL_CHDIR ||
	    shape->special == SPECIAL_CHROOT ||
	    !see_attached(scratch, at, shape->dirfd ? argument(event, shape->dirfd) : AT_FDCWD, follows_links(event, shape)))
		return false;
	take_seen(scratch, false);
	return true;
}

/*
 * rename, link: under its second name the object is known from now on, and with RENAME_EXCHANGE another one under the first.
 * inotify_add_watch: what it watches.
 */
static __always_inline bool fill_named(struct scratch *scratch, const volatile struct syscall_shape *shape, enum path_kind kind,
				       __u32 at)
{
	struct syscall_event *event = &scratch->event;

	bool watches = shape->fd;

	if (!finds_objects() || kind < PATH_RELATIVE || event->result < 0 ||
	    (shape->special != SPECIAL_LINK && shape->special != SPECIAL_RENAME && !watches))
		return false;
	if (shape->special == SPECIAL_RENAME)
		see_attached(scratch, 0, shape->dirfd ? argument(event, shape->dirfd) : AT_FDCWD, false);
	if (!see_attached(scratch, at, shape->dirfd2 ? argument(event, shape->dirfd2) : AT_FDCWD,
			  watches && !(event->arguments[2] & IN_DONT_FOLLOW)))
		return false;
	take_seen(scratch, true);
	return true;
}

/* What a first path starts from, or the object that it stands for. */
static __always_inline void fill_first_base(struct scratch *scratch, struct task_struct *task, struct task_state *state,
					    const volatile struct syscall_shape *shape, enum path_kind kind)
{
	struct syscall_event *event = &scratch->event;
	__u64 dirfd = shape->dirfd ? argument(event, shape->dirfd) : 0;
	__u32 base;

	if (event->present & SYSCALL_HAS_HANDLE || fill_new_directory(scratch, task, shape))
		return;
	/* utimensat and statx: no path at all means the descriptor, too */
	if (kind == PATH_NONE && shape->dirfd && !argument(event, shape->path) && event->result != -EFAULT)
		kind = PATH_EMPTY;
	if (kind == PATH_EMPTY && (!shape->dirfd || event->result == -ENOENT))
		return;
	if (shape->special == SPECIAL_EXEC && state->handle_id && kind != PATH_ABSOLUTE)
		base = state->handle_id;
	else
		base = see_base(scratch, task, kind, shape->dirfd, dirfd);
	if (!base)
		return;
	if (filter_loaded && base == scratch->seen.handle_id)
		tell_filter_of_seen(scratch, false);
	event->handle_id = base;
	event->present |= kind == PATH_EMPTY ? SYSCALL_HAS_HANDLE : SYSCALL_HAS_HANDLE | SYSCALL_HAS_NAMES_BASE;
	if (kind == PATH_EMPTY && (__s32)dirfd != AT_FDCWD) {
		event->fd = dirfd;
		event->present |= SYSCALL_HAS_FD;
	}
}

/* `dyetrace trace -y`: the directory of a call whose event is about another object, which strace names all the same. */
static __always_inline void name_directory(struct scratch *scratch, struct task_struct *task,
					   const volatile struct syscall_shape *shape, enum path_kind kind)
{
	struct syscall_event *event = &scratch->event;

	if (!shape->dirfd || shape->path2 || event->present & SYSCALL_HAS_HANDLE2 ||
	    (kind == PATH_EMPTY && event->present & SYSCALL_HAS_HANDLE) ||
	    (kind == PATH_RELATIVE && event->present & SYSCALL_HAS_NAMES_BASE))
		return;
	event->handle2_id = see_base(scratch, task, PATH_RELATIVE, true, argument(event, shape->dirfd));
	if (event->handle2_id)
		event->present |= SYSCALL_HAS_HANDLE2 | SYSCALL_HAS_NAMES_BASE2;
}

static __always_inline void fill_second_base(struct scratch *scratch, struct task_struct *task,
					     const volatile struct syscall_shape *shape, enum path_kind kind)
{
	struct syscall_event *event = &scratch->event;
	__u32 base;

	if (shape->special == SPECIAL_SYMLINK) /* a text; it starts from wherever the link is met */
		return;
	base = see_base(scratch, task, kind, shape->dirfd2, shape->dirfd2 ? argument(event, shape->dirfd2) : 0);
	if (!base)
		return;
	if (filter_loaded)
		tell_filter_of_seen(scratch, true);
	event->handle2_id = base;
	event->present |= SYSCALL_HAS_HANDLE2 | SYSCALL_HAS_NAMES_BASE2;
}

/* Global, so that the verifier looks at it once and not after each way that leads to it. */
__noinline int fill_texts(scratch_ref ref, state_ref of)
{
	struct scratch *scratch = scratch_of(ref);
	struct task_state *state = state_behind(of);
	const volatile struct syscall_shape *shape;
	struct task_struct *task = current_task();
	const struct syscall_event *event;
	enum path_kind kind;
	__u32 at;

	if (!scratch || !state)
		return 0;
	event = &scratch->event;
	at = event->attachments;
	shape = shape_of(event->abi, event->syscall);
	if (shape->path) {
		if (shape->special == SPECIAL_EXEC && event->result >= 0)
			kind = attach_exec_path(scratch, number_of(scratch, task));
		else
			kind = attach_argument_path(scratch, argument(event, shape->path), ATTACHMENT_PATH);
		if (!fill_removed(scratch, state, shape) && !fill_found(scratch, shape, kind, at))
			fill_first_base(scratch, task, state, shape, kind);
		if (preview_bytes)
			name_directory(scratch, task, shape, kind);
	}
	if (shape->path2) {
		at = event->attachments;
		kind = attach_argument_path(scratch, argument(event, shape->path2), ATTACHMENT_PATH2);
		if (!fill_named(scratch, shape, kind, at))
			fill_second_base(scratch, task, shape, kind);
	}
	if (shape->name)
		attach_name(scratch, argument(event, shape->name), ATTACHMENT_NAME);
	if (shape->name2)
		attach_name(scratch, argument(event, shape->name2), ATTACHMENT_NAME2);
	return 0;
}
