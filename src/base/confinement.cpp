#include "base/confinement.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <span>
#include <system_error>

#include "base/fd.h"

namespace dyetrace::base {
namespace {

// Newer than this machine's header: Linux 6.2.
constexpr std::uint64_t kTruncate = std::uint64_t{1} << 14;
constexpr int kAbiOfRefer = 2, kAbiOfTruncate = 3;

constexpr std::uint64_t kReading = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kOfFiles = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                                   LANDLOCK_ACCESS_FS_READ_FILE | kTruncate;

std::uint64_t writing(int abi) {
    std::uint64_t access = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                           LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                           LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                           LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                           LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
    access |= abi >= kAbiOfRefer ? LANDLOCK_ACCESS_FS_REFER : 0;
    return access | (abi >= kAbiOfTruncate ? kTruncate : 0);
}

Result<void> allow(const Fd& rules, const std::string& path, std::uint64_t access) {
    const Fd file(::open(path.c_str(), O_PATH | O_CLOEXEC));
    struct stat status {};
    if (!file.valid() || ::fstat(file.get(), &status) != 0) {
        return {};  // it is not there
    }
    landlock_path_beneath_attr beneath{};
    beneath.parent_fd = file.get();
    beneath.allowed_access = S_ISDIR(status.st_mode) ? access : access & kOfFiles;
    if (beneath.allowed_access != 0 &&
        syscall(SYS_landlock_add_rule, rules.get(), LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) != 0) {
        return Error::from_errno(errno, "keeping '" + path + "'");
    }
    return {};
}

Result<void> give_up_files(const FileAccess& files) {
    const auto abi = static_cast<int>(
        syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION));
    if (abi < 1) {
        return {};
    }
    landlock_ruleset_attr handled{};
    const std::uint64_t all = writing(abi) | (files.readable ? kReading : 0);
    handled.handled_access_fs = all;
    const Fd rules(
        static_cast<int>(syscall(SYS_landlock_create_ruleset, &handled, sizeof(handled), 0)));
    if (!rules.valid()) {
        return Error::from_errno(errno, "keeping files");
    }
    for (const std::string& path : files.writable) {
        TRY(allow(rules, path, all));
    }
    TRY(allow(rules, "/dev/null", all));
    for (const std::string& path : files.readable.value_or(std::vector<std::string>())) {
        TRY(allow(rules, path, kReading & all));
    }
    if (syscall(SYS_landlock_restrict_self, rules.get(), 0) != 0) {
        return Error::from_errno(errno, "keeping files");
    }
    return {};
}

Result<void> give_up_capabilities(std::span<const int> kept) {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
    if (syscall(SYS_capget, &header, sets.data()) != 0) {
        return Error::from_errno(errno, "reading capabilities");
    }
    std::array<std::uint32_t, _LINUX_CAPABILITY_U32S_3> keep{};
    for (const int capability : kept) {
        keep[static_cast<std::size_t>(CAP_TO_INDEX(capability))] |= CAP_TO_MASK(capability);
    }
    for (std::size_t i = 0; i < sets.size(); ++i) {
        sets[i].permitted &= keep[i];
        sets[i].effective &= keep[i];
        sets[i].inheritable = 0;
    }
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (syscall(SYS_capset, &header, sets.data()) != 0) {
        return Error::from_errno(errno, "giving up capabilities");
    }
    return {};
}

#if defined(__x86_64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_AARCH64;
#endif
constexpr std::uint32_t kX32 = 0x40000000;

// What nobody here needs, and who takes a process over wants: other processes, mounts, modules, keys, clocks, users, and ways past this list.
constexpr long kRefused[] = {SYS_ptrace,
                             SYS_process_vm_readv,
                             SYS_process_vm_writev,
                             SYS_pidfd_getfd,
                             SYS_kcmp,
                             SYS_mount,
                             SYS_umount2,
                             SYS_pivot_root,
                             SYS_chroot,
                             SYS_open_tree,
                             SYS_move_mount,
                             SYS_fsopen,
                             SYS_fsconfig,
                             SYS_fsmount,
                             SYS_fspick,
                             SYS_mount_setattr,
                             SYS_setns,
                             SYS_unshare,
                             SYS_init_module,
                             SYS_finit_module,
                             SYS_delete_module,
                             SYS_kexec_load,
                             SYS_kexec_file_load,
                             SYS_reboot,
                             SYS_swapon,
                             SYS_swapoff,
                             SYS_acct,
                             SYS_quotactl,
                             SYS_syslog,
                             SYS_sethostname,
                             SYS_setdomainname,
                             SYS_add_key,
                             SYS_request_key,
                             SYS_keyctl,
                             SYS_settimeofday,
                             SYS_clock_settime,
                             SYS_clock_adjtime,
                             SYS_adjtimex,
                             SYS_setuid,
                             SYS_setgid,
                             SYS_setreuid,
                             SYS_setregid,
                             SYS_setresuid,
                             SYS_setresgid,
                             SYS_setgroups,
                             SYS_setfsuid,
                             SYS_setfsgid,
                             SYS_open_by_handle_at,
                             SYS_perf_event_open,
                             SYS_userfaultfd,
                             SYS_personality,
                             SYS_io_uring_setup,
                             SYS_fanotify_init,
                             SYS_vhangup,
                             SYS_lookup_dcookie,
                             SYS_mbind,
                             SYS_migrate_pages,
                             SYS_move_pages,
#if defined(__x86_64__)
                             SYS_iopl,
                             SYS_ioperm,
                             SYS_modify_ldt,
                             SYS_uselib,
                             SYS__sysctl,
                             SYS_create_module,
                             SYS_mknod,
#endif
                             SYS_mknodat};
constexpr long kNetwork[] = {
    SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4};
constexpr long kPrograms[] = {SYS_execve, SYS_execveat};
// Commands of bpf(): elements of maps, links and iterators, what is known of a descriptor.
constexpr std::uint32_t kLoadedBpf[] = {BPF_MAP_LOOKUP_ELEM,
                                        BPF_MAP_UPDATE_ELEM,
                                        BPF_MAP_DELETE_ELEM,
                                        BPF_MAP_GET_NEXT_KEY,
                                        BPF_MAP_LOOKUP_AND_DELETE_ELEM,
                                        BPF_MAP_LOOKUP_BATCH,
                                        BPF_MAP_LOOKUP_AND_DELETE_BATCH,
                                        BPF_MAP_UPDATE_BATCH,
                                        BPF_MAP_DELETE_BATCH,
                                        BPF_PROG_TEST_RUN,
                                        BPF_OBJ_GET_INFO_BY_FD,
                                        BPF_LINK_CREATE,
                                        BPF_LINK_DETACH,
                                        BPF_ITER_CREATE};

#ifdef __SANITIZE_ADDRESS__
constexpr bool kMayGiveUpSystemCalls = false;  // its search for leaks stops threads with ptrace
#else
constexpr bool kMayGiveUpSystemCalls = true;
#endif

class Filter {
  public:
    void load(std::size_t offset) {
        add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
    }
    void answer(std::uint32_t what) { add(BPF_RET | BPF_K, what); }
    // The next instruction runs only if what was loaded is this.
    void if_equal(std::uint32_t value) { add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1); }
    void unless_equal(std::uint32_t value) { add(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0); }
    void if_at_least(std::uint32_t value) { add(BPF_JMP | BPF_JGE | BPF_K, value, 0, 1); }
    void refuse(std::span<const long> calls) {
        for (const long call : calls) {
            if_equal(static_cast<std::uint32_t>(call));
            answer(kRefusal);
        }
    }
    void add(int code, std::uint32_t k, std::uint8_t yes = 0, std::uint8_t no = 0) {
        program_.push_back({static_cast<std::uint16_t>(code), yes, no, k});
    }
    std::span<sock_filter> program() { return program_; }

    static constexpr std::uint32_t kRefusal = SECCOMP_RET_ERRNO | EPERM;

  private:
    std::vector<sock_filter> program_;
};

Result<void> give_up_system_calls(const Confinement& confinement) {
    Filter filter;
    filter.load(offsetof(seccomp_data, arch));
    filter.unless_equal(kMachine);
    filter.answer(Filter::kRefusal);
    filter.load(offsetof(seccomp_data, nr));
    filter.if_at_least(kX32);
    filter.answer(Filter::kRefusal);
    filter.refuse(kRefused);
    if (!confinement.may_use_network) {
        filter.refuse(kNetwork);
    }
    if (!confinement.may_start_programs) {
        filter.refuse(kPrograms);
    }
    constexpr long kBpf[] = {SYS_bpf};
    if (!confinement.may_use_loaded_bpf) {
        filter.refuse(kBpf);
    } else {
        const std::size_t rest = 2 * std::size(kLoadedBpf) + 2;  // load, the commands, the refusal
        filter.add(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, static_cast<std::uint8_t>(rest));
        filter.load(offsetof(seccomp_data, args));
        for (const std::uint32_t command : kLoadedBpf) {
            filter.if_equal(command);
            filter.answer(SECCOMP_RET_ALLOW);
        }
        filter.answer(Filter::kRefusal);
    }
    filter.answer(SECCOMP_RET_ALLOW);
    const std::span<sock_filter> program = filter.program();
    const sock_fprog all{static_cast<unsigned short>(program.size()), program.data()};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &all) != 0) {
        return Error::from_errno(errno, "giving up system calls");
    }
    return {};
}

}  // namespace

bool needs_capability_for(const std::string& path) {
    std::error_code error;
    std::filesystem::path at = std::filesystem::weakly_canonical(path, error);
    struct stat status {};
    if (error || (::stat(at.c_str(), &status) == 0 && status.st_uid != ::geteuid())) {
        return true;
    }
    for (; at.has_relative_path(); at = at.parent_path()) {
        const bool is_closed = ::stat(at.c_str(), &status) != 0 ||
                               (status.st_uid != ::geteuid() && (status.st_mode & S_IXOTH) == 0);
        if (is_closed) {
            return true;
        }
    }
    return false;
}

Result<void> confine(const Confinement& confinement) {
    Result<void> done;
    const auto also = [&](Result<void> next) { done = done.ok() ? std::move(next) : done; };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        also(Error::from_errno(errno, "keeping privileges from coming back"));
    }
    if (confinement.files) {
        also(give_up_files(*confinement.files));
    }
    also(give_up_capabilities(confinement.kept_capabilities));
    if (kMayGiveUpSystemCalls) {
        also(give_up_system_calls(confinement));
    }
    return done;
}

}  // namespace dyetrace::base
