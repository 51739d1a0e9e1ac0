/* SPDX-License-Identifier: GPL-2.0 */
/* How the kernel's memory is read. Comes with kernel_types.h. */
#pragma once

/*
 * Memory of the kernel. READ follows members of a `typed` pointer, which is an address that was made one of this type:
 *
 *   magic = READ(typed(inode, address), i_sb, s_magic)
 *
 * A kernel that has bpf_rdonly_cast (since 6.2) is given programs for which that is three loads. For one that has not, the same source is
 * compiled WITHOUT_CASTS: each member is copied by a helper.
 */
#ifdef WITHOUT_CASTS
#define typed(name, pointer) ((struct name *)(void *)(pointer))
/* The address is a variable first, or what it is made of would be looked for in the kernel, too. */
#define READ(pointer, ...)                                                                                                       \
	({                                                                                                                       \
		typeof(pointer) _pointer = (pointer);                                                                            \
		BPF_CORE_READ(_pointer, __VA_ARGS__);                                                                            \
	})
#define current_task() this_task()
#else
extern void *bpf_rdonly_cast(const void *object, __u32 btf_id) __ksym; /* newer libbpf declares it, too */
/*
 * The numbers that structures have among the kernel's types. src/capture/kernel_types.h tells libbpf what they are: left to
 * itself it looks for each structure through all of the kernel's types.
 */
enum kernel_type_id {
	id_of_dentry = 1,
	id_of_epitem,
	id_of_eventfd_ctx,
	id_of_file,
	id_of_folio,
	id_of_hlist_head,
	id_of_inet_connection_sock,
	id_of_inet_sock,
	id_of_inode,
	id_of_list_head,
	id_of_mount,
	id_of_mqueue_inode_info,
	id_of_pid_namespace,
	id_of_sk_buff,
	id_of_sock,
	id_of_socket,
	id_of_super_block,
	id_of_task_struct,
	id_of_tcp_skb_cb,
	id_of_tcp_sock,
	id_of_timespec64,
	id_of_unix_sock,
	id_of_xa_node,
};
#define typed(name, pointer)                                                                                                     \
	((struct name *)bpf_rdonly_cast((void *)(pointer), bpf_core_enum_value(enum kernel_type_id, id_of_##name)))
#define READ(pointer, ...) (___arrow(pointer, __VA_ARGS__))
/*
 * The current task, to be read. From a trusted pointer the verifier looks every member that is a pointer up by name in the
 * kernel's types, which was half of the time that loading took.
 */
#define current_task() typed(task_struct, this_task())
#endif

/*
 * The current task as the kernel hands it out, and members of it. A kernel before 5.11 hands out its address only.
 */
#ifdef WITHOUT_LOOPS
#define this_task() ((struct task_struct *)bpf_get_current_task())
#define LOAD(pointer, ...) READ(pointer, __VA_ARGS__)
#define word_of(member) number_at(member)
#define __read_inline __noinline /* for the stack: each load goes through a place of its own there */
#else
#define this_task() bpf_get_current_task_btf()
#define LOAD(pointer, ...) (___arrow(pointer, __VA_ARGS__))
#define word_of(member) (*(const __u64 *)(member))
#define __read_inline __always_inline
#endif

/* Eight bytes as a number, whatever the kernel has there: of a pointer the verifier would know where it came from. */
#define number_at(address) ((__u64)READ(typed(timespec64, address), tv_sec))

#define barrier() asm volatile("" ::: "memory")
/* Keeps the compiler from dropping a check of this value that the verifier wants to see. */
#define opaque(value) asm volatile("" : "+r"(value))
