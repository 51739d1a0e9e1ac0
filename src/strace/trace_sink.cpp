#include "strace/trace_sink.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

namespace dyetrace::strace {
namespace {

base::Result<base::Fd> open_file(const std::string& path, bool append) {
    base::Fd file(
        open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (append ? O_APPEND : O_TRUNC), 0666));
    if (file.get() < 0) {
        return base::Error::from_errno(errno, fmt::format("cannot write to '{}'", path));
    }
    return file;
}

}  // namespace

void TraceSink::Close::operator()(std::FILE* pipe) const {
    pclose(pipe);
}

base::Result<TraceSink> TraceSink::open(const SinkOptions& options, int otherwise) {
    TraceSink sink;
    sink.options_ = options;
    if (options.output.empty()) {
        sink.fd_ = otherwise;
    } else if (options.output.find_first_of("|!") == 0) {
        sink.command_.reset(popen(options.output.c_str() + 1, "we"));
        if (sink.command_ == nullptr) {
            return base::Error::from_errno(
                errno, fmt::format("cannot run '{}'", options.output.substr(1)));
        }
        sink.fd_ = fileno(sink.command_.get());
    } else if (!options.separately) {
        TRY(sink.file_, open_file(options.output, options.append));
        sink.fd_ = sink.file_.get();
    }
    return sink;
}

void TraceSink::write_to(int fd, std::string_view text) {
    while (!text.empty() && !failed_) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written > 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno != EINTR) {
            failed_ = true;
            if (errno != EPIPE) {
                error_ = base::Error::from_errno(errno, "cannot write what is seen");
            }
        }
    }
}

void TraceSink::write(std::uint32_t tid, std::string_view text) {
    if (failed_ || !options_.separately) {
        write_to(fd_, text);
        return;
    }
    const bool append = options_.append || begun_.contains(tid);
    base::Result<base::Fd> file = open_file(fmt::format("{}.{}", options_.output, tid), append);
    if (!file.ok()) {
        failed_ = true;
        error_ = file.error();
        return;
    }
    begun_.insert(tid);
    write_to(file.value().get(), text);
}

}  // namespace dyetrace::strace
