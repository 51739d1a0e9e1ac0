#include "capture/iterator.h"

#include <bpf/bpf.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.h"

namespace dyetrace::capture {

using base::Error;

Result<void> run_iterator(const bpf_program* program,
                          IteratorScope scope,
                          std::vector<std::byte>* output) {
    bpf_iter_link_info info{};
    (scope.one_thread ? info.task.tid : info.task.pid) = static_cast<__u32>(scope.process);
    LIBBPF_OPTS(bpf_link_create_opts, options, .iter_info = &info, .iter_info_len = sizeof(info));
    base::Fd link(bpf_link_create(bpf_program__fd(program), 0, BPF_TRACE_ITER, &options));
    if (!link.valid() && errno == E2BIG) {  // before 6.1 it cannot be told of whom: of all
        link = base::Fd(bpf_link_create(bpf_program__fd(program), 0, BPF_TRACE_ITER, nullptr));
    }
    if (!link.valid()) {
        return Error::from_errno(errno, "cannot make an iterator over the tasks");
    }
    const base::Fd iterator(bpf_iter_create(link.get()));
    if (!iterator.valid()) {
        return Error::from_errno(errno, "cannot run an iterator over the tasks");
    }
    std::byte buffer[4096];
    ssize_t got = 0;
    do {
        got = read(iterator.get(), buffer, sizeof(buffer));
        if (output != nullptr && got > 0) {
            output->insert(output->end(), buffer, buffer + got);
        }
    } while (got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN)));
    if (got < 0) {
        return Error::from_errno(errno, "cannot walk over the tasks");
    }
    return {};
}

}  // namespace dyetrace::capture
