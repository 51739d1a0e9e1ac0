#include "recorder/live_answers.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "base/spawn.h"
#include "filter/grouping_json.h"

namespace dyetrace::recorder {
namespace {

constexpr int kPlanDescriptor = 3;

struct Pipe {
    base::Fd read, write;
};

Result<Pipe> make_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        return Error::from_errno(errno, "cannot make a pipe");
    }
    return Pipe{base::Fd(ends[0]), base::Fd(ends[1])};
}

// Until its writer closes it.
std::string read_all(const base::Fd& file) {
    std::string text;
    char bytes[4096];
    for (;;) {
        const ssize_t count = ::read(file.get(), bytes, sizeof(bytes));
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return text;
        }
        text.append(bytes, static_cast<std::size_t>(count));
    }
}

}  // namespace

Result<LiveAnswers> LiveAnswers::start(const std::string& statement,
                                       std::vector<std::string> options) {
    TRY(Pipe windows, make_pipe());
    TRY(Pipe plan, make_pipe());
    std::vector<std::string> words{"dyetrace", "live-answer"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", statement});
    TRY(const pid_t pid,
        base::spawn_in_background(
            "/proc/self/exe",
            std::move(words),
            {{windows.read.get(), STDIN_FILENO}, {plan.write.get(), kPlanDescriptor}}));
    LiveAnswers answers(pid, std::move(windows.write));
    plan.write.reset();
    const std::string text = read_all(plan.read);
    if (!text.empty()) {
        TRY(const base::Json json, base::Json::parse(text));
        TRY(filter::Grouping grouping, filter::grouping_from(json));
        answers.grouping_ = std::move(grouping);
    }
    return answers;
}

Result<void> LiveAnswers::say(const LiveWindow& window, const filter::Groups& groups) {
    std::signal(SIGPIPE, SIG_IGN);  // not before: the command would inherit it
    const std::string line = base::Json::object()
                                 .set("begin_ns", window.begin_ns)
                                 .set("end_ns", window.end_ns)
                                 .set("remark", window.remark)
                                 .set("groups", filter::json_of(groups))
                                 .text() +
                             "\n";
    const Result<void> written = base::write_all(windows_, base::bytes_of(line));
    return written.ok() ? written : Error(ErrorCode::kUnavailable, "nobody reads the answers");
}

int LiveAnswers::end() {
    windows_.reset();
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace dyetrace::recorder
