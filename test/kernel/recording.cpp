// The child of a recording: how it is started, held back, recorded and ended.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <ctime>
#include <fstream>
#include <map>

#include "base/fd.h"
#include "capture/kernel_dyes.h"
#include "kernel/outer_root.h"
#include "kernel/recorded.h"
#include "schema/record_builder.h"
#include "schema/record_info.h"

namespace dyetrace::test {
namespace {

// What pause() waits in.
#ifdef SYS_pause
constexpr long kPause = SYS_pause;
#else
constexpr long kPause = SYS_ppoll;
#endif

using base::Fd;

constexpr timespec kDrainPause{0, 2'000'000};  // 2 ms: a test ends soon after its child

constexpr std::uint16_t kMayBeSkipped = 1;

void keep(Records& records, std::uint32_t cpu, schema::Stream stream, schema::RecordBytes bytes) {
    while (!bytes.empty()) {
        const schema::RecordBytes record = schema::first_record(bytes);
        ASSERT_FALSE(record.empty()) << "a ring holds what is no record";
        bytes = bytes.subspan(record.size());
        const schema::RecordHeader header = schema::header_of(record);
        const schema::RecordInfo* info = schema::find_record(header.type);
        ASSERT_NE(info, nullptr) << static_cast<int>(header.type);
        ASSERT_EQ(header.flags, info->must_understand ? 0 : kMayBeSkipped) << info->name;
        std::vector<std::uint64_t> words(record.size() / 8);
        std::memcpy(words.data(), record.data(), record.size());
        if (stream == schema::Stream::kEvents) {
            records.events.push_back(std::move(words));
            records.cpus.push_back(cpu);
            continue;
        }
        records.facts.push_back(std::move(words));
    }
}

constexpr int kGateFd = 900;  // above all descriptors that a program makes

// Returns when the child waits at the gate, so that nothing it did before is recorded.
pid_t start_child(const std::function<void()>& before,
                  const std::function<void()>& program,
                  bool bare_descriptors,
                  Fd& gate,
                  int& gate_fd) {
    Shared<std::atomic<bool>> ready;
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    if (bare_descriptors) {
        EXPECT_EQ(dup3(ends[0], kGateFd, O_CLOEXEC), kGateFd);
        close(ends[0]);
        ends[0] = kGateFd;
    }
    gate_fd = ends[0];
    const pid_t child = fork();
    if (child == 0) {
        for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM}) {
            signal(
                number,
                SIG_DFL);  // as a program that was executed has them, without base::TemporaryFolder's handler
        }
        if (bare_descriptors) {
            close_range(STDERR_FILENO + 1, kGateFd - 1, 0);
            close_range(kGateFd + 1, ~0u, 0);
        }
        if (before) {
            before();
        }
        char go = 0;
        *ready = true;
        if (read(ends[0], &go, 1) == 1) {
            close(open("/", O_PATH));
            program();
        }
        _exit(0);
    }
    const auto has_ended = [&] {
        siginfo_t info{};
        const int result =
            waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
        return result != 0 || info.si_pid == child;
    };
    while (!*ready && !has_ended()) {
        nanosleep(&kDrainPause, nullptr);
    }
    close(ends[0]);
    gate = Fd(ends[1]);
    return child;
}

// What was counted from one moment to a later one.
capture::Accounting between(const capture::Accounting& before, const capture::Accounting& after) {
    capture::Accounting accounting;
    for (const auto member : {&capture::Accounting::generated,
                              &capture::Accounting::filtered,
                              &capture::Accounting::aggregated,
                              &capture::Accounting::delivered,
                              &capture::Accounting::lost,
                              &capture::Accounting::retransmissions,
                              &capture::Accounting::facts_lost}) {
        accounting.*member = after.*member - before.*member;
    }
    return accounting;
}

// Sums up all CPUs.
capture::Accounting accounting_of(const capture::Capture& capture) {
    capture::Accounting sum;
    for (std::uint32_t cpu = 0; cpu < capture.cpu_count(); ++cpu) {
        const capture::Accounting accounting = capture.accounting(cpu);
        sum.generated += accounting.generated;
        sum.filtered += accounting.filtered;
        sum.aggregated += accounting.aggregated;
        sum.delivered += accounting.delivered;
        sum.lost += accounting.lost;
        sum.retransmissions += accounting.retransmissions;
        sum.facts_lost += accounting.facts_lost;
    }
    return sum;
}

// What tells the programs of one test from those of another.
std::string words_of(const capture::CaptureOptions& options) {
    std::string words = fmt::format("{} {} {} {} {}",
                                    static_cast<int>(options.content),
                                    options.anchor_distance,
                                    options.look_for_dyes,
                                    options.only_dyed,
                                    options.watch_retransmissions);
    if (options.content_key) {
        words += fmt::format(" {} {}", options.content_key->half[0], options.content_key->half[1]);
    }
    for (const capture::DyePattern& dye : options.dyes) {
        words += fmt::format(
            " {}/{}/{}/{}", dye.dye, static_cast<int>(dye.form), dye.any_case, dye.text);
    }
    return words;
}

// What is made a fact in this process, not in the kernel.
template <class Facts>
void keep_facts(Records& records, const Facts& facts) {
    for (const auto& fact : facts) {
        const schema::OwnedRecord record = schema::build(fact);
        const auto* words = reinterpret_cast<const std::uint64_t*>(record.bytes().data());
        records.facts.emplace_back(words, words + record.bytes().size() / 8);
    }
}

std::uint64_t drain(capture::Capture& capture, Records& records) {
    const std::uint64_t drained =
        capture.drain([&](std::uint32_t cpu, schema::Stream stream, schema::RecordBytes bytes) {
            keep(records, cpu, stream, bytes);
        });
    if (const auto* dyes = capture.dyes(); dyes != nullptr) {
        keep_facts(records, dyes->crossings());
        keep_facts(records, dyes->anchor_crossings());
    }
    keep_facts(records, capture.retransmissions());
    return drained;
}

// -1: none; the file says "running".
long call_of(pid_t thread) {
    std::ifstream file(fmt::format("/proc/{}/syscall", thread));
    long blocked_in = -1;
    file >> blocked_in;
    return file.fail() ? -1 : blocked_in;
}

}  // namespace

bool is_in_call(pid_t thread, long number) {
    return call_of(thread) == number;
}
bool is_in_some_call(pid_t thread) {
    return call_of(thread) >= 0;
}

// The listener that tests of this process share, when they have the same options.
std::optional<KernelTest::Listener>& KernelTest::shared() const {
    static std::map<std::string, std::optional<Listener>> listeners;
    return listeners[words_of(options_)];
}

Result<void> KernelTest::load(std::optional<Listener>& listener) const {
    const std::string options = words_of(options_);
    if (listener && listener->options == options) {
        return {};
    }
    listener.reset();
    TRY(capture::Capture capture, capture::Capture::load(options_));
    listener.emplace(Listener{
        std::move(capture), options, std::make_shared<schema::Dictionary>(), std::nullopt, false});
    return {};
}

void KernelTest::SetUp() {
    const Result<void> loaded = load(alone_ ? own_ : shared());
    if (!loaded.ok()) {
        if (geteuid() != 0) {
            GTEST_SKIP() << "no BPF here: " << loaded.error().text();
        }
        if (loaded.error().code() == base::ErrorCode::kUnsupported) {
            GTEST_SKIP() << loaded.error().text();
        }
        FAIL() << loaded.error().text();
    }
    auto made = base::TemporaryFolder::make();
    ASSERT_TRUE(made.ok());
    folder_.emplace(std::move(made).value());
}

// Watches the child, which waits at its gate, and lets it go. What is shared is attached already, except for its first test, and
// does not leave this process out: the children of later tests would be left out with it.
void KernelTest::begin(Listener& listener, pid_t child, const Fd& gate, bool is_shared) {
    if (!is_shared) {
        EXPECT_TRUE(listener.capture.watch(child).ok());
        EXPECT_TRUE(listener.capture.exclude(getpid()).ok());
    }
    if (!listener.attached) {
        listener.attached = true;
        const auto attached = listener.capture.attach();
        EXPECT_TRUE(attached.ok()) << attached.error().text();
    }
    if (is_shared) {
        EXPECT_TRUE(listener.capture.watch(child).ok());
    }
    EXPECT_EQ(write(gate.get(), "g", 1), 1);
}

// Until the child has ended, or is up; the status of one that has ended.
int KernelTest::follow(capture::Capture& capture,
                       Records& records,
                       pid_t child,
                       const bool& up) const {
    int status = 0;
    const time_t deadline = time(nullptr) + kChildSecondsMax;
    while (waitpid(child, &status, WNOHANG) == 0 && !(up && is_in_call(child, kPause))) {
        drain(capture, records);
        if (meanwhile_) {
            meanwhile_(child);
        }
        nanosleep(&kDrainPause, nullptr);
        if (time(nullptr) > deadline) {
            ADD_FAILURE() << "the child ran longer than " << kChildSecondsMax << " s";
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            break;
        }
    }
    return status;
}

// Nothing of this recording comes any more: it is stopped, or nobody is left who could do something.
void KernelTest::end(Listener& listener, Records& records, bool is_shared) {
    capture::Capture& capture = listener.capture;
    if (!is_shared) {
        EXPECT_TRUE(capture.stop().ok());
    }
    const time_t deadline = time(nullptr) + kChildSecondsMax;
    while (is_shared && capture.watched().value() > 0) {
        drain(capture, records);
        nanosleep(&kDrainPause, nullptr);
        if (time(nullptr) > deadline) {
            listener.options.clear();  // for nobody else
            ADD_FAILURE() << "the child left processes behind: the test has to be alone_";
            break;
        }
    }
    while (drain(capture, records) > 0) {
    }
    if (is_shared) {  // what is joined waits for what came before it
        drain(capture, records);
    }
    records.dictionary = listener.dictionary;
    learn(records, listener.root);
}

Trace KernelTest::run(const std::function<void()>& program, int killed_by, bool kill_at_end) {
    const bool is_shared = !alone_ && !kill_at_end;
    EXPECT_TRUE(is_shared || load(own_).ok());
    Listener& listener = is_shared ? *shared() : *own_;
    const capture::Accounting before = accounting_of(listener.capture);
    auto records = std::make_shared<Records>();
    Shared<bool> up;
    Fd gate;
    int gate_fd = -1;
    const pid_t child = start_child(
        before_,
        [&] {
            program();
            if (kill_at_end) {
                *up = true;
                pause();
            }
        },
        bare_descriptors_,
        gate,
        gate_fd);
    begin(listener, child, gate, is_shared);
    int status = follow(listener.capture, *records, child, *up);
    end(listener, *records, is_shared);
    if (kill_at_end) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        killed_by = SIGKILL;
    }
    if (killed_by != 0) {
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == killed_by) << "status " << status;
    } else {
        EXPECT_EQ(status, 0);
    }
    const capture::Accounting accounting = between(before, accounting_of(listener.capture));
    EXPECT_EQ(accounting.lost, 0u);
    EXPECT_EQ(accounting.facts_lost, 0u);
    EXPECT_EQ(accounting.generated, accounting.delivered);
    EXPECT_EQ(accounting.delivered, records->events.size() + accounting.retransmissions);
    return {std::move(records), status, accounting, gate_fd};
}

Trace KernelTest::record(const std::function<void()>& program, int killed_by) {
    return run(program, killed_by, false);
}
Trace KernelTest::record_until_stopped(const std::function<void()>& program) {
    return run(program, 0, true);
}

}  // namespace dyetrace::test
