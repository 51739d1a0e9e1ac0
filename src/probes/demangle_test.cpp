#include "probes/demangle.h"

#include <gtest/gtest.h>

#include "probes/demangle_rust.h"

namespace dyetrace::probes {
namespace {

TEST(Demangle, shows_cpp_as_its_programmer_writes_it) {
    EXPECT_EQ(demangled("_ZN4disk5Cache4readEPci"), "disk::Cache::read(char*, int)");
    EXPECT_EQ(demangled("vfs_read"), "vfs_read");
    EXPECT_EQ(demangled("_Znonsense"), "_Znonsense");
    EXPECT_EQ(demangled("_Z" + std::string(5000, '1')), "_Z" + std::string(5000, '1'));
}

TEST(Demangle, shows_rust_without_its_hash_and_escapes) {
    EXPECT_EQ(demangled("_ZN4core3fmt5write17h0123456789abcdefE"), "core::fmt::write");
    EXPECT_EQ(demangled("_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$"
                        "GT$3bar17h930b740aa94f1d3aE"),
              "<Test + 'static as foo::Bar<Test>>::bar");
}

// The names are of RFC 2603 and of rustc.
TEST(Demangle, shows_the_newer_names_of_rust) {
    EXPECT_EQ(demangled("_RNvNtCs1234_7mycrate3foo3bar"), "mycrate::foo::bar");
    EXPECT_EQ(demangled("_RINvCs1234_1a4takejE"), "a::take::<usize>");
    EXPECT_EQ(demangled("_RNCNvCs1234_7mycrate3foo0"), "mycrate::foo::{closure#0}");
    EXPECT_EQ(demangled("_RNvMCs1234_7mycrateNtB2_3Foo3new"), "<mycrate::Foo>::new");
    EXPECT_EQ(demangled("_RNvXCs1234_7mycrateNtB2_3FooNtB2_5Trait3run"),
              "<mycrate::Foo as mycrate::Trait>::run");
    EXPECT_EQ(demangled("_RINvCs1234_1a1fRShTlbEFUKCjEuKj8_E"),
              "a::f::<&[u8], (i32, bool), unsafe extern \"C\" fn(usize), 8>");
}

TEST(Demangle, does_not_follow_names_of_rust_without_end) {
    EXPECT_EQ(demangled_rust("_RB_"), std::nullopt);
    EXPECT_EQ(demangled_rust("_R" + std::string(1000, 'I')), std::nullopt);
    EXPECT_EQ(demangled_rust("_RINvC1a1f" + std::string(500, 'R') + "jE"), std::nullopt);
}

// "B" and a place in the name, counted from after "_R".
std::string reference_to(std::size_t place) {
    const std::string digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const std::size_t value = place - 1;
    return std::string("B") + (value < 62 ? "" : std::string(1, digits[value / 62])) +
           digits[value % 62] + "_";
}

TEST(Demangle, stops_at_names_of_rust_that_grow_without_bound) {
    for (const std::string begin : {"INvC1a1f", "NvXIC1aTjjE"}) {
        std::string name = begin + (begin[0] == 'I' ? "TjjE" : "");
        std::size_t last = name.size() - 4;
        for (int i = 0; i < 3; ++i) {
            const std::size_t at = name.size();
            name += "T" + reference_to(last) + reference_to(last) + "E";
            last = at;
        }
        if (begin[0] == 'I') {
            EXPECT_EQ(demangled("_R" + name + "E").substr(0, 36),
                      "a::f::<(usize, usize), ((usize, usiz");
        }
        for (int i = 0; i < 37; ++i) {
            const std::size_t at = name.size();
            name += "T" + reference_to(last) + reference_to(last) + "E";
            last = at;
        }
        EXPECT_EQ(demangled_rust("_R" + name + "E" + (begin[0] == 'I' ? "" : "jC1b1c")),
                  std::nullopt);
    }
}

TEST(Demangle, every_beginning_of_a_name_is_a_name_or_none) {
    const std::string whole = "_RNvXCs1234_7mycrateINtB2_3FooTlbRShEENtB2_5Trait3run";
    for (std::size_t size = 0; size <= whole.size(); ++size) {
        EXPECT_FALSE(demangled(whole.substr(0, size)).empty() && size > 0);
    }
}

TEST(Demangle, leaves_parameters_out) {
    EXPECT_EQ(without_parameters("disk::Cache::read(char*, int) const"), "disk::Cache::read");
    EXPECT_EQ(without_parameters("void fill<int>(int*)"), "fill<int>");
    EXPECT_EQ(without_parameters("std::map<int, long> made<A::B<int> >(int (*)(int))"),
              "made<A::B<int> >");
    EXPECT_EQ(without_parameters("(anonymous namespace)::run(int)"), "(anonymous namespace)::run");
    EXPECT_EQ(without_parameters("Call::operator()(int) const"), "Call::operator()");
    EXPECT_EQ(without_parameters("operator new(unsigned long)"), "operator new");
    EXPECT_EQ(without_parameters("read(int) [clone .cold]"), "read");
    EXPECT_EQ(without_parameters("text[abi:cxx11](int)"), "text");
    EXPECT_EQ(without_parameters("main"), "main");
    EXPECT_EQ(without_parameters("a)b("), "a)b(");
    EXPECT_EQ(without_parameters(")"), ")");
}

}  // namespace
}  // namespace dyetrace::probes
