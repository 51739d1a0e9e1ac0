// What text costs on its way out: strings of JSON, and text made harmless. Bytes are those of the text.
#include <benchmark/benchmark.h>

#include <string>

#include "base/harmless.h"
#include "base/json.h"
#include "base/json_string.h"

namespace dyetrace::base {
namespace {

// What the columns of `events` have most: short words, paths, now and then a name that is not ASCII.
const std::string kTexts[] = {
    "pread64", "/var/lib/postgresql/15/main/base/16384/2619_fsm", "/home/jörg/Überblick/年報.txt"};

template <class Write>
void write_texts(benchmark::State& state, Write write) {
    const std::string& text = kTexts[state.range(0)];
    std::string out;
    for (auto _ : state) {
        out.clear();
        write(out, text);
        benchmark::DoNotOptimize(out.data());
    }
    state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
}

void json_string(benchmark::State& state) {
    write_texts(state,
                [](std::string& out, std::string_view text) { append_json_string(out, text); });
}
BENCHMARK(json_string)->DenseRange(0, 2);

void json_value(benchmark::State& state) {
    write_texts(state, [](std::string& out, std::string_view text) { out = Json(text).text(); });
}
BENCHMARK(json_value)->DenseRange(0, 2);

void harmless(benchmark::State& state) {
    write_texts(state, [](std::string& out, std::string_view text) { append_harmless(out, text); });
}
BENCHMARK(harmless)->DenseRange(0, 2);

const std::string kArguments = R"({"dfd":"AT_FDCWD","flags":"O_RDONLY|O_CLOEXEC","mode":"0"})";

void json_is_valid(benchmark::State& state) {
    for (auto _ : state) {
        benchmark::DoNotOptimize(Json::is_valid(kArguments));
    }
}
BENCHMARK(json_is_valid);

void json_parse(benchmark::State& state) {
    for (auto _ : state) {
        benchmark::DoNotOptimize(Json::parse(kArguments).ok());
    }
}
BENCHMARK(json_parse);

}  // namespace
}  // namespace dyetrace::base
