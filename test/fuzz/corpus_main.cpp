// A fuzz target without its fuzzer: what is in its corpus, and damages of it, so that every test run does a little of what a fuzzer does for
// hours, and what one has found is never found again.
//
//   tests/predicate_fuzz test/corpus/predicate_fuzz          20 damages of each input
//   tests/predicate_fuzz test/corpus/predicate_fuzz 5000     more

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "base/file.h"
#include "base/random_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t kInputBytesMax = 1 << 20;
constexpr int kDamages = 20;  // of each input
constexpr std::size_t kAtOnceMax = 4;

void run(const std::string& bytes) {
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
    using namespace dyetrace::base;
    const std::string folder = argc > 1 ? argv[1] : ".";
    const int damages = argc > 2 ? std::atoi(argv[2]) : kDamages;
    std::mt19937_64 random(17);
    std::size_t inputs = 0;
    const auto names = list_folder(folder).value();
    for (const std::string& name : names) {
        std::printf("%s\n", name.c_str());
        std::fflush(stdout);  // what crashes is named
        const std::string bytes = read_file(folder + "/" + name, kInputBytesMax).value();
        run(bytes);
        for (int i = 0; i < damages; ++i) {
            run(mutated(bytes, kAtOnceMax, random, {}));
        }
        ++inputs;
    }
    return inputs > 0 ? 0 : 1;
}
