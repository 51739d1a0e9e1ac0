/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's types, as far as the programs read them. Offsets come from the running kernel's BTF (CO-RE), so order and
 * missing members do not matter; a `___suffix` marks a second shape of the same type in another kernel version.
 */
#pragma once

#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "kernel/kernel_constants.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct hlist_node {
	struct hlist_node *next;
};

struct hlist_head {
	struct hlist_node *first;
};

struct qstr {
	__u64 hash_len;
	__u32 hash, len;
	const unsigned char *name;
};

struct file_system_type {
	const char *name;
};

struct super_block {
	__u32 s_dev;
	unsigned long s_magic;
	struct file_system_type *s_type;
	unsigned char s_blocksize_bits;
	struct dentry *s_root;
	struct block_device *s_bdev;
	void *s_fs_info;
};

struct inode {
	__u16 i_mode;
	__u32 i_rdev;
	struct super_block *i_sb;
	unsigned long i_ino;
	unsigned int i_nlink;
	__s64 i_size;
	__u32 i_generation;
	void *i_private;
	struct pipe_inode_info *i_pipe;
	struct address_space *i_mapping;
	char *i_link; /* of a symbolic link, where the file system keeps its text in memory */
};

struct pipe_inode_info {
	unsigned int head, tail;
	unsigned int readers, writers; /* open files */
};

struct eventfd_ctx {
	__u64 count;
};

struct dentry {
	unsigned int d_flags;
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
	struct super_block *d_sb;
	struct {
		struct {
			void *next;
			void **pprev;
		};
	} d_hash;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct list_head {
	struct list_head *next, *prev;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
	struct list_head mnt_mounts; /* what is mounted on it, by their mnt_child */
	struct list_head mnt_child;
	int mnt_id;
};

enum dentry_flags { /* of these the number is another one before 6.13, which has no such enum */
		    DCACHE_MOUNTED = 0x8000
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct timespec64 {
	__s64 tv_sec;
};

struct page {
};

struct folio {
	struct address_space *mapping;
	unsigned long index; /* of its first page in the file */
};

struct xa_node {
	unsigned char shift;
	void *slots[64];
};

struct address_space {
	struct {
		void *xa_head;
	} i_pages;
};

struct file {
	unsigned int f_mode;
	void *private_data;
	struct inode *f_inode;
	unsigned int f_flags;
	struct path f_path;
	__s64 f_pos;
	struct address_space *f_mapping;
	struct hlist_head *f_ep; /* the epoll sets that it is a member of, since 5.11 */
	struct {
		struct {
			__s64 counter;
		} refcnt; /* one less than there are */
	} f_ref;
};

struct epoll_event {
	__u32 events;
	__u64 data;
} __attribute__((packed));

struct epoll_filefd {
	struct file *file;
	int fd;
} __attribute__((packed));

struct eventpoll;

struct epitem {
	struct epoll_filefd ffd;
	struct eventpoll *ep;
	struct hlist_node fllink;
	struct epoll_event event;
};

struct file___counted { /* before 6.13 */
	struct {
		__s64 counter;
	} f_count;
};

struct ovl_file {
	struct file *realfile;
	struct file *upperfile;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
	unsigned long *open_fds;
};

struct files_struct {
	struct {
		int counter;
	} count;
	struct fdtable *fdt;
};

struct fs_struct {
	struct path root, pwd;
};

typedef struct {
	unsigned int val;
} kuid_t;

struct linux_binprm {
	const char *filename;
	char *fdpath; /* not NULL: filename is that, and what was given is its end */
};

struct cred {
	kuid_t euid;
	kuid_t egid;
};

struct proc_ns_operations {
	const char *name;
};

struct ns_common {
	unsigned int inum;
	const struct proc_ns_operations *ops;
};

struct mnt_namespace {
	struct ns_common ns;
};

struct net {
	struct ns_common ns;
};

struct pid_namespace {
	struct ns_common ns;
	unsigned int level;
	struct {
		struct {
			void *xa_head;
		} idr_rt;
		unsigned int idr_base;
	} idr; /* struct pid by number */
};

struct ipc_namespace {
	struct ns_common ns;
};

struct mq_attr {
	long mq_curmsgs;
};

struct mqueue_inode_info {
	struct inode vfs_inode;
	struct mq_attr attr;
};

struct nsproxy {
	struct ipc_namespace *ipc_ns;
	struct mnt_namespace *mnt_ns;
	struct net *net_ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct hlist_head tasks[4];
	struct upid numbers[];
};

struct kernfs_node {
	__u64 id;
	const char *name;
	struct kernfs_node *__parent;
};

struct kernfs_node___before_6_15 {
	struct kernfs_node *parent;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

enum cgroup_subsys_id {
	pids_cgrp_id, /* the kernel's number is found by CO-RE */
};

struct css_set {
	struct cgroup_subsys_state *subsys[16];
	struct cgroup *dfl_cgrp;
};

struct mm_struct {
	struct file *exe_file;
	unsigned long arg_start, arg_end;
};

struct thread_info {
	unsigned long flags;
	__u32 status; /* x86 */
};

union kernel_sigval {
	void *sival_ptr;
};

union __sifields {
	struct {
		int _pid;
		unsigned int _uid;
	} _kill;
	struct {
		int _tid, _overrun;
		union kernel_sigval _sigval;
	} _timer;
	struct {
		int _pid;
		unsigned int _uid;
		union kernel_sigval _sigval;
	} _rt;
	struct {
		int _pid;
		unsigned int _uid;
		int _status;
		long _utime, _stime;
	} _sigchld;
	struct {
		void *_addr;
	} _sigfault;
};

struct kernel_siginfo {
	int si_signo, si_errno, si_code;
	union __sifields _sifields;
};

struct k_sigaction {
	struct {
		void *sa_handler;
	} sa;
};

struct sigqueue {
	struct list_head list;
	struct kernel_siginfo info;
};

struct sigpending {
	struct list_head list;
};

struct signal_struct {
	struct sigpending shared_pending;
	int group_exit_code;
	unsigned int flags;
};

struct task_struct {
	struct thread_info thread_info;
	void *stack; /* of the kernel, lowest address */
	unsigned int __state;
	unsigned int flags;
	int exit_code;
	int pid, tgid;
	__u64 start_boottime;
	struct task_struct *group_leader;
	struct task_struct *real_parent;
	char comm[16];
	struct nsproxy *nsproxy;
	struct css_set *cgroups;
	struct mm_struct *mm;
	struct fs_struct *fs;
	struct files_struct *files;
	struct pid *thread_pid;
	struct hlist_node pid_links[4];
	const struct cred *cred;
	struct signal_struct *signal;
	struct sigpending pending;
};

struct task_struct___before_5_14 {
	long state;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct in6_addr {
	__u8 in6_u[16];
};

struct sock_common {
	__u32 skc_daddr, skc_rcv_saddr;
	__u16 skc_dport, skc_num;
	unsigned short skc_family;
	volatile unsigned char skc_state;
	unsigned long skc_flags; /* bits of enum sock_flags */
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
	struct {
		__s64 counter;
	} skc_cookie;
};

struct sk_buff_head {
	__u32 qlen;
};

struct sock {
	struct sock_common __sk_common;
	struct sk_buff_head sk_receive_queue;
	__u16 sk_protocol, sk_type;
	struct socket *sk_socket;
	int sk_peek_off;
	__u32 sk_max_ack_backlog; /* of a socket that was accepted: that of the listening one */
};

struct inet_sock {
	__u16 inet_sport; /* as on the wire */
};

struct tcp_sock {
	__u32 copied_seq, write_seq, rcv_nxt, snd_nxt, snd_una;
	__u64 bytes_sent, bytes_received, bytes_retrans, bytes_acked;
	__u32 total_retrans; /* segments */
};

struct socket {
	short type;
	struct sock *sk;
};

struct socket_alloc {
	struct socket socket;
	struct inode vfs_inode;
};

struct sockaddr_un {
	unsigned short sun_family;
	char sun_path[108];
};

struct unix_address {
	int len;
	struct sockaddr_un name[0];
};

struct unix_sock {
	struct unix_address *addr;
	struct sock *peer;
};

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_pgoff;
	unsigned long vm_flags;
	struct file *vm_file;
	struct {
		void *ctx;
	} vm_userfaultfd_ctx;
};

#pragma clang attribute pop

#include "kernel/read.h"
