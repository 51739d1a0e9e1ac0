#include "recorder/live_answers.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "base/fd.h"
#include "base/file.h"
#include "base/json.h"
#include "base/spawn.h"
#include "filter/grouping_json.h"

namespace dyetrace::recorder {
namespace {

constexpr int kPlanDescriptor = 3;

// A line without its end; empty once its writer has closed it.
std::string read_line(const base::Fd& file) {
    std::string line;
    char byte = 0;
    for (;;) {
        const ssize_t count = ::read(file.get(), &byte, 1);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0 || byte == '\n') {
            return line;
        }
        line += byte;
    }
}

// What is wrong with the probe is said over there, with the statement.
base::Json answer_about(const base::Json& asked, const filter::FindProbe& find) {
    const auto question = filter::probe_question_from(asked);
    const auto columns = question.ok() ? find(question.value())
                                       : Result<std::vector<filter::RowColumn>>(question.error());
    return columns.ok() ? base::Json::object().set("columns", filter::json_of(columns.value()))
                        : base::Json::object().set("error", columns.error().text());
}

}  // namespace

Result<LiveAnswers> LiveAnswers::start(const std::string& statement,
                                       std::vector<std::string> options,
                                       const filter::FindProbe& find) {
    TRY(base::Pipe windows, base::make_pipe());
    TRY(base::Pipe plan, base::make_pipe());
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
    filter::RowLayout row;
    bool is_probe = false;
    for (std::string line = read_line(plan.read); !line.empty(); line = read_line(plan.read)) {
        TRY(const base::Json json, base::Json::parse(line));
        if (json.find("fires") == nullptr) {
            TRY(answers.grouping_, filter::grouping_from(json, is_probe ? &row : nullptr));
            break;
        }
        const base::Json answer = answer_about(json, find);
        if (const base::Json* const columns = answer.find("columns")) {
            TRY(const auto types, filter::row_columns_from(*columns));
            TRY(row, filter::RowLayout::of(types));
            is_probe = true;
        }
        const std::string said = answer.text() + "\n";
        if (!base::write_all(answers.windows_, base::bytes_of(said)).ok()) {
            break;
        }
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

bool LiveAnswers::ended() const {
    pollfd windows{windows_.get(), 0, 0};
    return ::poll(&windows, 1, 0) == 1 && (windows.revents & POLLERR) != 0;
}

int LiveAnswers::end() {
    windows_.reset();
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace dyetrace::recorder
