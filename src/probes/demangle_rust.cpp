#include "probes/demangle_rust.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

namespace dyetrace::probes {
namespace {

// Parts that are not shown are read too, and may refer to each other.
constexpr int kRustStepsMax = 20'000;

std::string_view rust_basic_type(char letter) {
    switch (letter) {
        case 'a':
            return "i8";
        case 'b':
            return "bool";
        case 'c':
            return "char";
        case 'd':
            return "f64";
        case 'e':
            return "str";
        case 'f':
            return "f32";
        case 'h':
            return "u8";
        case 'i':
            return "isize";
        case 'j':
            return "usize";
        case 'l':
            return "i32";
        case 'm':
            return "u32";
        case 'n':
            return "i128";
        case 'o':
            return "u128";
        case 'p':
            return "_";
        case 's':
            return "i16";
        case 't':
            return "u16";
        case 'u':
            return "()";
        case 'v':
            return "...";
        case 'x':
            return "i64";
        case 'y':
            return "u64";
        case 'z':
            return "!";
        default:
            return {};
    }
}

// Each method reads one rule of the grammar and writes what it says. After a failure nothing is read any more.
class RustName {
  public:
    explicit RustName(std::string_view text) : text_(text) {}

    std::optional<std::string> read() {
        path(true);
        if (has_failed_ || out_.empty()) return std::nullopt;
        return std::move(out_);
    }

  private:
    // Counts how deep rules are nested, and stops them all at the limit.
    class Level {
      public:
        explicit Level(RustName& name) : name_(name) {
            if (++name_.depth_ > kRustDepthMax || ++name_.steps_ > kRustStepsMax) name_.fail();
        }
        ~Level() { --name_.depth_; }
        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;

      private:
        RustName& name_;
    };

    void fail() { has_failed_ = true; }

    char next() {
        if (has_failed_ || at_ >= text_.size()) return (fail(), '\0');
        return text_[at_++];
    }

    bool take(char letter) {
        if (has_failed_ || at_ >= text_.size() || text_[at_] != letter) return false;
        ++at_;
        return true;
    }

    void write(std::string_view text) {
        if (is_silent_ || has_failed_) return;
        out_ += text;
        if (out_.size() > kRustShownBytesMax) fail();
    }

    // "_" is 0, "0_" is 1, "10_" is 63.
    std::uint64_t base_62() {
        if (take('_')) return 0;
        std::uint64_t value = 0;
        while (!has_failed_) {
            const char letter = next();
            if (letter == '_') return value + 1;
            std::uint64_t digit = 0;
            if (letter >= '0' && letter <= '9') {
                digit = static_cast<std::uint64_t>(letter - '0');
            } else if (letter >= 'a' && letter <= 'z') {
                digit = static_cast<std::uint64_t>(letter - 'a') + 10;
            } else if (letter >= 'A' && letter <= 'Z') {
                digit = static_cast<std::uint64_t>(letter - 'A') + 36;
            } else {
                fail();
            }
            if (value > UINT64_MAX / 64) fail();
            value = value * 62 + digit;
        }
        return 0;
    }

    std::uint64_t disambiguator() { return take('s') ? base_62() + 1 : 0; }

    std::string_view undisambiguated_identifier() {
        const bool is_punycode = take('u');
        std::size_t size = 0;
        while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
            const bool is_zero = size == 0 && text_[at_] == '0';
            size = size * 10 + static_cast<std::size_t>(text_[at_++] - '0');
            if (size > text_.size()) return (fail(), std::string_view());
            if (is_zero) break;
        }
        take('_');
        if (is_punycode || has_failed_ || size > text_.size() - at_) {
            return (fail(), std::string_view());
        }
        at_ += size;
        return text_.substr(at_ - size, size);
    }

    // What `rule` reads stands earlier in the name.
    template <class Rule>
    void back_reference(Rule rule) {
        const std::uint64_t target = base_62();
        if (has_failed_ || target >= at_) return fail();
        const std::size_t after = at_;
        at_ = static_cast<std::size_t>(target);
        rule();
        at_ = after;
    }

    void nested_path(bool is_value) {
        const char space = next();
        path(is_value);
        const std::uint64_t number = disambiguator();
        const std::string_view name = undisambiguated_identifier();
        if (space >= 'A' && space <= 'Z') {
            const std::string_view kind = space == 'C' ? "closure" : space == 'S' ? "shim" : "";
            write(kind.empty() ? fmt::format("::{{{}", space) : fmt::format("::{{{}", kind));
            if (!name.empty()) write(fmt::format(":{}", name));
            write(fmt::format("#{}}}", number));
        } else if (!name.empty()) {
            write("::");
            write(name);
        }
    }

    // Where an implementation stands says nothing to who reads its name.
    void unwritten_path() {
        disambiguator();
        const bool was_silent = std::exchange(is_silent_, true);
        path(false);
        is_silent_ = was_silent;
    }

    void path(bool is_value) {
        const Level level(*this);
        if (has_failed_) return;
        switch (next()) {
            case 'C':
                disambiguator();
                return write(undisambiguated_identifier());
            case 'N':
                return nested_path(is_value);
            case 'M':
                unwritten_path();
                write("<");
                type();
                return write(">");
            case 'X':
                unwritten_path();
                [[fallthrough]];
            case 'Y':
                write("<");
                type();
                write(" as ");
                path(false);
                return write(">");
            case 'I':
                path(is_value);
                write(is_value ? "::<" : "<");
                list([this] { generic_argument(); });
                return write(">");
            case 'B':
                return back_reference([&] { path(is_value); });
            default:
                return fail();
        }
    }

    // Up to the letter E. How many there were.
    template <class Rule>
    std::size_t list(Rule rule) {
        std::size_t count = 0;
        for (; !has_failed_ && !take('E'); ++count) {
            if (count > 0) write(", ");
            rule();
        }
        return count;
    }

    void generic_argument() {
        if (take('L')) {
            base_62();
            write("'_");
        } else if (take('K')) {
            constant();
        } else {
            type();
        }
    }

    void constant() {
        if (take('B')) return back_reference([this] { constant(); });
        if (take('p')) return write("_");
        const char kind = next();
        if (rust_basic_type(kind).empty()) return fail();
        const bool is_negative = take('n');
        std::uint64_t value = 0;
        while (!has_failed_ && !take('_')) {
            const char letter = next();
            const bool is_digit = letter >= '0' && letter <= '9';
            if (!is_digit && !(letter >= 'a' && letter <= 'f')) return fail();
            if (value >> 60 != 0) return fail();
            value = value * 16 +
                    static_cast<std::uint64_t>(is_digit ? letter - '0' : letter - 'a' + 10);
        }
        if (kind == 'b') return write(value != 0 ? "true" : "false");
        write(fmt::format("{}{}", is_negative ? "-" : "", value));
    }

    void type() {
        const Level level(*this);
        const char letter = next();
        if (has_failed_) return;
        if (const std::string_view basic = rust_basic_type(letter); !basic.empty()) {
            return write(basic);
        }
        switch (letter) {
            case 'R':
            case 'Q':
                if (take('L')) base_62();
                write(letter == 'R' ? "&" : "&mut ");
                return type();
            case 'P':
            case 'O':
                write(letter == 'P' ? "*const " : "*mut ");
                return type();
            case 'A':
            case 'S':
                write("[");
                type();
                if (letter == 'A') {
                    write("; ");
                    constant();
                }
                return write("]");
            case 'T': {
                write("(");
                if (list([this] { type(); }) == 1) write(",");
                return write(")");
            }
            case 'F':
                return function_type();
            case 'D':
                return trait_object();
            case 'B':
                return back_reference([this] { type(); });
            default:
                --at_;
                return path(false);
        }
    }

    void function_type() {
        if (take('G')) base_62();
        if (take('U')) write("unsafe ");
        if (take('K')) {
            write("extern \"");
            write(take('C') ? "C" : undisambiguated_identifier());
            write("\" ");
        }
        write("fn(");
        list([this] { type(); });
        write(")");
        if (take('u')) return;
        write(" -> ");
        type();
    }

    void trait_object() {
        write("dyn ");
        if (take('G')) base_62();
        for (std::size_t count = 0; !has_failed_ && !take('E'); ++count) {
            if (count > 0) write(" + ");
            path(false);
            while (take('p')) {
                write("<");
                write(undisambiguated_identifier());
                write(" = ");
                type();
                write(">");
            }
        }
        if (!take('L')) fail();
        base_62();
    }

    std::string_view text_;  // after "_R"
    std::size_t at_ = 0;
    int depth_ = 0, steps_ = 0;
    bool has_failed_ = false;
    bool is_silent_ = false;
    std::string out_;
};

}  // namespace

std::optional<std::string> demangled_rust(std::string_view linked) {
    if (!linked.starts_with("_R")) return std::nullopt;
    return RustName(linked.substr(2)).read();
}

}  // namespace dyetrace::probes
