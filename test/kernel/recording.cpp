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

#include "base/fd.h"
#include "capture/kernel_dyes.h"
#include "kernel/outer_root.h"
#include "kernel/recorded.h"
#include "schema/record_builder.h"
#include "schema/record_info.h"

namespace dyetrace::test {
namespace {

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

// Whether it is blocked in that system call.
bool is_in_call(pid_t thread, long number) {
    std::ifstream file(fmt::format("/proc/{}/syscall", thread));
    long blocked_in = -1;  // "running" is none
    file >> blocked_in;
    return !file.fail() && blocked_in == number;
}

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

// What is made a fact in this process, not in the kernel.
template <class Facts>
void keep_facts(Records& records, const Facts& facts) {
    for (const auto& fact : facts) {
        const schema::OwnedRecord record = schema::build(fact);
        const auto* words = reinterpret_cast<const std::uint64_t*>(record.bytes().data());
        records.facts.emplace_back(words, words + record.bytes().size() / 8);
    }
}

}  // namespace

void KernelTest::SetUp() {
    auto loaded = capture::Capture::load(options_);
    if (!loaded.ok()) {
        if (geteuid() != 0) {
            GTEST_SKIP() << "no BPF here: " << loaded.error().text();
        }
        FAIL() << loaded.error().text();
    }
    capture_.emplace(std::move(loaded).value());
    auto made = base::TemporaryFolder::make();
    ASSERT_TRUE(made.ok());
    folder_.emplace(std::move(made).value());
}

Trace KernelTest::run(const std::function<void()>& program, int killed_by, bool kill_at_end) {
    auto records = std::make_shared<Records>();
    const auto drain = [&] {
        const std::uint64_t drained = capture_->drain(
            [&](std::uint32_t cpu, schema::Stream stream, schema::RecordBytes bytes) {
                keep(*records, cpu, stream, bytes);
            });
        if (const auto* dyes = capture_->dyes(); dyes != nullptr) {
            keep_facts(*records, dyes->crossings());
            keep_facts(*records, dyes->anchor_crossings());
        }
        keep_facts(*records, capture_->retransmissions());
        return drained;
    };
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
    EXPECT_TRUE(capture_->watch(child).ok());
    EXPECT_TRUE(capture_->exclude(getpid()).ok());
    const auto attached = capture_->attach();
    EXPECT_TRUE(attached.ok()) << attached.error().text();
    EXPECT_EQ(write(gate.get(), "g", 1), 1);
    int status = 0;
    const time_t deadline = time(nullptr) + kChildSecondsMax;
    while (waitpid(child, &status, WNOHANG) == 0 && !(*up && is_in_call(child, SYS_pause))) {
        drain();
        nanosleep(&kDrainPause, nullptr);
        if (time(nullptr) > deadline) {
            kill(child, SIGKILL);
            ADD_FAILURE() << "the child ran longer than " << kChildSecondsMax << " s";
        }
    }
    EXPECT_TRUE(capture_->stop().ok());
    while (drain() > 0) {
    }
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
    learn(*records);
    const capture::Accounting accounting = accounting_of(*capture_);
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
