#include <bpf/libbpf.h>

#include <cstdint>

#include "capture/program_table.h"
#include "schema/generated/syscalls.bpf.h"
// the skeleton uses the types above
#include "kernel/dyetrace.skel.h"

namespace dyetrace::capture {

Result<void> fill_special_programs(const dyetrace_bpf& skeleton) {
    struct Entry {
        bpf_map* table;
        syscall_special special;
        bpf_program* program;
    };
    const auto& maps = skeleton.maps;
    const auto& programs = skeleton.progs;
    const Entry entries[] = {
        {maps.preparers, SPECIAL_CLOSE_RANGE, programs.prepare_close_range},
        {maps.preparers, SPECIAL_COPY, programs.prepare_copy},
        {maps.preparers, SPECIAL_EXEC, programs.prepare_exec},
        {maps.preparers, SPECIAL_IO_SUBMIT, programs.prepare_io_submit},
        {maps.preparers, SPECIAL_KILL, programs.prepare_kill},
        {maps.preparers, SPECIAL_MAPPING, programs.prepare_mapping},
        {maps.preparers, SPECIAL_PIDFD, programs.prepare_pidfd},
        {maps.preparers, SPECIAL_RECVMMSG, programs.prepare_recvmmsg},
        {maps.preparers, SPECIAL_REMOVE, programs.prepare_names},
        {maps.preparers, SPECIAL_RENAME, programs.prepare_names},
        {maps.preparers, SPECIAL_SELECT, programs.prepare_select},
        {maps.preparers, SPECIAL_SPLICE, programs.prepare_copy},
        {maps.followers, SPECIAL_CLOSE_RANGE, programs.follow_close_range},
        {maps.followers, SPECIAL_EPOLL_CTL, programs.follow_epoll_ctl},
        {maps.followers, SPECIAL_EPOLL_WAIT, programs.follow_epoll_wait},
        {maps.followers, SPECIAL_FCNTL, programs.follow_fcntl},
        {maps.followers, SPECIAL_IO_GETEVENTS, programs.follow_io_getevents},
        {maps.followers, SPECIAL_IO_SUBMIT, programs.follow_io_submit},
        {maps.followers, SPECIAL_PAIR, programs.follow_pair},
        {maps.followers, SPECIAL_POLL, programs.follow_poll},
        {maps.followers, SPECIAL_QUEUE, programs.follow_queue},
        {maps.followers, SPECIAL_RECVMMSG, programs.follow_messages},
        {maps.followers, SPECIAL_RECVMSG, programs.follow_message},
        {maps.followers, SPECIAL_RENAME, programs.follow_rename},
        {maps.followers, SPECIAL_SELECT, programs.follow_select},
        {maps.followers, SPECIAL_SENDMMSG, programs.follow_messages},
        {maps.followers, SPECIAL_SENDMSG, programs.follow_message},
    };
    for (const Entry& entry : entries) {
        TRY(put_program(entry.table, static_cast<std::uint32_t>(entry.special), entry.program));
    }
    return {};
}

}  // namespace dyetrace::capture
