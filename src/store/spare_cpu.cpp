#include "store/spare_cpu.h"

#include <unistd.h>

#include <chrono>
#include <sstream>
#include <thread>

#include "base/file.h"

namespace dyetrace::store {
namespace {

constexpr std::chrono::milliseconds kLook(200);
constexpr double kIdleShare = 0.9;  // of one CPU; ticks are coarse
constexpr std::size_t kStatBytesMax = 1u << 20;

}  // namespace

std::uint64_t idle_ticks(const std::string& proc_stat) {
    std::istringstream words(proc_stat);
    std::string label;
    std::uint64_t user = 0, nice = 0, system = 0, idle = 0, disk = 0;
    words >> label >> user >> nice >> system >> idle >> disk;
    return words && label == "cpu" ? idle + disk : 0;
}

bool has_spare_cpu() {
    const auto now = [] {
        const auto text = base::read_file("/proc/stat", kStatBytesMax);
        return text.ok() ? idle_ticks(text.value()) : 0;
    };
    const std::uint64_t before = now();
    std::this_thread::sleep_for(kLook);
    const std::uint64_t after = now();
    const double ticks =
        std::chrono::duration<double>(kLook).count() * static_cast<double>(::sysconf(_SC_CLK_TCK));
    return before == 0 || static_cast<double>(after - before) >= kIdleShare * ticks;
}

}  // namespace dyetrace::store
