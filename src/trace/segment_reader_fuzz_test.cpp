// The fuzz target on mutations of real segments, so that every test run does a little of what a fuzzer does for hours.

#include <gtest/gtest.h>

#include <random>

#include "base/random_bytes.h"
#include "trace/segment_fixture.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace dyetrace::trace {
namespace {

// Puts a number there that is interesting as a size.
void overwrite_a_number(std::string& bytes, std::size_t at, std::mt19937_64& random) {
    constexpr std::uint64_t kInteresting[] = {
        0, 1, 7, 8, 15, 16, 0x7f, 0xffff, 0x7fffffff, 0xffffffff, UINT64_MAX};
    std::memcpy(
        bytes.data() + at, &kInteresting[random() % std::size(kInteresting)], 1 + random() % 8);
}

TEST(SegmentReaderFuzz, survives_mutations_of_a_segment) {
    SyntheticRecords records;
    for (const int level : {-50, 1}) {
        SegmentFixture trace;
        SegmentWriterOptions options;
        options.level = level;
        trace.write(three_drains(4), options);
        const std::string segment = trace.segment();
        std::mt19937_64 random(static_cast<std::uint64_t>(level + 100));
        for (int i = 0; i < 20'000; ++i) {
            const std::string bytes = base::mutated(segment, 4, random, {overwrite_a_number});
            LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                   bytes.size());
        }
    }
}

}  // namespace
}  // namespace dyetrace::trace
