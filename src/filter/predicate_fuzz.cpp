// Any bytes as a condition: it is refused in words, or what it becomes as SQL is the same condition again, and it becomes a
// program of bounded size.

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "filter/assembler.h"
#include "filter/bpf_compiler.h"
#include "filter/predicate.h"
#include "filter/string_atoms.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace dyetrace::filter;
    const auto predicate = Predicate::parse({reinterpret_cast<const char*>(data), size});
    if (!predicate.ok()) {
        CHECK(!predicate.error().text().empty());
        return 0;
    }
    const auto again = Predicate::parse(predicate.value().to_sql());
    CHECK(again.ok());
    CHECK(again.value() == predicate.value());
    StringAtoms atoms;
    BpfLayout layout;
    layout.scratch_map_fd = 3;
    CHECK(compile_bpf(predicate.value(), layout, atoms).instructions.size() <=
          Assembler::kInstructionsMax);
    return 0;
}
