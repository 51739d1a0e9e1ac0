// Any bytes as the notes of a program's marks: they are refused in words, or every mark has its places in the file.

#include <cstdint>
#include <string>

#include "base/check.h"
#include "probes/elf_fixture.h"
#include "probes/usdt.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace dyetrace::probes;
    ElfFixture file;
    file.add_section(
        ".note.stapsdt", SHT_NOTE, std::string(reinterpret_cast<const char*>(data), size));
    const auto program = ElfFile::of_memory(file.bytes(), "program");
    CHECK(program.ok());
    const auto marks = usdt_marks(program.value());
    if (!marks.ok()) {
        CHECK(!marks.error().text().empty());
        return 0;
    }
    for (const UsdtMark& mark : marks.value()) {
        CHECK(!mark.places.empty());
        for (const UsdtPlace& place : mark.places) {
            CHECK(program.value().address_of(place.offset) == place.address);
            CHECK(place.arguments.size() + place.left_out.size() <= kMarkArgumentsMax);
        }
    }
    return 0;
}
