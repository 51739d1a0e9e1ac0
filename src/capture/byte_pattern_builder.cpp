#include "capture/byte_pattern_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>

namespace dyetrace::capture {
namespace {

using Bytes = std::bitset<256>;

constexpr std::uint32_t kFoundPoint = 0;

template <typename Test>
Bytes bytes_where(Test test) {
    Bytes bytes;
    for (unsigned byte = 0; byte < 128; ++byte) {  // those of ASCII, whatever the locale says
        bytes[byte] = test(static_cast<int>(byte)) != 0;
    }
    return bytes;
}

Bytes one(unsigned char byte) {
    return Bytes().set(byte);
}

Bytes word_bytes() {
    return bytes_where([](int c) { return std::isalnum(c) != 0 || c == '_'; });
}

Bytes in_either_case(const Bytes& bytes) {
    Bytes out = bytes;
    for (unsigned letter = 'a'; letter <= 'z'; ++letter) {
        const unsigned capital = letter - 'a' + 'A';
        out[letter] = out[capital] = bytes[letter] || bytes[capital];
    }
    return out;
}

std::size_t sum(std::size_t a, std::size_t b) {
    return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}
std::size_t product(std::size_t a, std::size_t b) {
    return a == 0 || b == 0 ? 0 : a > SIZE_MAX / b ? SIZE_MAX : a * b;
}

std::optional<unsigned> hex_value(char digit) {
    const std::size_t value =
        std::string_view("0123456789abcdef").find(static_cast<char>(std::tolower(digit)));
    return value < 16 ? std::optional(static_cast<unsigned>(value)) : std::nullopt;
}

}  // namespace

Result<BytePattern> BytePatternBuilder::make() {
    either_case_ = take("(?i)");
    const Index whole = parse_any_of();
    if (!at_end()) {
        fail("a ')' without its '('");
    }
    if (!failure_ && parts_[whole].longest == 0) {
        fail("it matches nothing but the empty text");
    }
    BytePattern pattern;
    if (!failure_) {
        pattern.longest_match_ = parts_[whole].longest;
        points_.emplace_back();
        join(pattern, lay(whole, kFoundPoint));
    }
    return failure_ ? Result<BytePattern>(*failure_) : std::move(pattern);
}

void BytePatternBuilder::fail(std::string why) {
    if (!failure_) {
        failure_ = Error(ErrorCode::kInvalidArgument, std::move(why));
    }
    at_ = text_.size();
}

bool BytePatternBuilder::take(std::string_view word) {
    const bool is_there = text_.substr(at_).starts_with(word);
    at_ += is_there ? word.size() : 0;
    return is_there;
}

BytePatternBuilder::Index BytePatternBuilder::add(Part part) {
    parts_.push_back(std::move(part));
    return static_cast<Index>(parts_.size() - 1);
}

BytePatternBuilder::Index BytePatternBuilder::add_bytes(Bytes bytes) {
    Part part;
    part.kind = Kind::kBytes;
    part.bytes = either_case_ ? in_either_case(bytes) : bytes;
    part.longest = 1;
    return add(std::move(part));
}

BytePatternBuilder::Index BytePatternBuilder::parse_any_of() {
    Part any;
    any.kind = Kind::kAnyOf;
    if (++depth_ > BytePattern::kDepthMax) {
        fail("its parentheses are nested too deep");
        return add(std::move(any));
    }
    do {
        any.parts.push_back(parse_each());
        any.longest = std::max(any.longest, parts_[any.parts.back()].longest);
    } while (take("|"));
    --depth_;
    return add(std::move(any));
}

BytePatternBuilder::Index BytePatternBuilder::parse_each() {
    Part each;
    each.kind = Kind::kEach;
    while (!at_end() && !sees('|') && !sees(')')) {
        each.parts.push_back(parse_repeat(parse_atom()));
        each.longest = sum(each.longest, parts_[each.parts.back()].longest);
    }
    return add(std::move(each));
}

BytePatternBuilder::Index BytePatternBuilder::parse_repeat(Index part) {
    for (std::size_t nested = 0;; ++nested) {
        Part repeat;
        repeat.kind = Kind::kRepeat;
        if (!take_counts(repeat.least, repeat.most)) {
            return part;
        }
        if (nested == BytePattern::kDepthMax) {
            fail("too many repetitions of repetitions");
            return part;
        }
        repeat.longest = product(repeat.most, parts_[part].longest);
        repeat.parts = {part};
        part = add(std::move(repeat));
    }
}

bool BytePatternBuilder::take_counts(std::size_t& least, std::size_t& most) {
    least = sees('+') ? 1 : 0;
    most = sees('?') ? 1 : kNoLimit;
    if (take("*") || take("+") || take("?")) {
        return true;
    }
    if (!sees('{') || at_ + 1 >= text_.size() || text_[at_ + 1] < '0' || text_[at_ + 1] > '9') {
        return false;
    }
    ++at_;
    const auto from = take_number();
    const bool has_comma = take(",");
    const auto to = has_comma ? take_number() : from;
    least = from.value_or(0);
    most = to.value_or(kNoLimit);
    if (!take("}") || most < least || least > kRepeatMax || (to && most > kRepeatMax)) {
        fail(fmt::format("{{m,n}} has two numbers up to {}, the first not above the second",
                         kRepeatMax));
    }
    return true;
}

std::optional<std::size_t> BytePatternBuilder::take_number() {
    std::optional<std::size_t> number;
    for (; !at_end() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
        number = std::min(number.value_or(0) * 10 + static_cast<std::size_t>(text_[at_] - '0'),
                          kRepeatMax + 1);
    }
    return number;
}

BytePatternBuilder::Index BytePatternBuilder::parse_atom() {
    if (take("(")) {
        return parse_group();
    }
    if (take("^") || take("$")) {
        Part border;
        border.kind = text_[at_ - 1] == '^' ? Kind::kLineBegins : Kind::kLineEnds;
        return add(std::move(border));
    }
    if (take(".")) {
        return add_bytes(~one('\n'));
    }
    if (take("[")) {
        return add_bytes(parse_brackets());
    }
    if (sees('\\')) {
        return add_bytes(parse_escape());
    }
    if (sees('*') || sees('+') || sees('?')) {
        fail(fmt::format("there is nothing that '{}' could repeat", text_[at_]));
        return add({});
    }
    return add_bytes(one(static_cast<unsigned char>(text_[at_++])));
}

BytePatternBuilder::Index BytePatternBuilder::parse_group() {
    if (!take("?:") && sees('?')) {
        fail("'(?' means something only as (?: and as (?i) in front");
    }
    const Index inside = parse_any_of();
    if (!failure_ && !take(")")) {
        fail("a '(' without its ')'");
    }
    return inside;
}

BytePatternBuilder::Bytes BytePatternBuilder::parse_escape() {
    static const std::map<char, Bytes> kEscapes = {
        {'d', bytes_where([](int c) { return std::isdigit(c); })},
        {'D', ~bytes_where([](int c) { return std::isdigit(c); })},
        {'w', word_bytes()},
        {'W', ~word_bytes()},
        {'s', bytes_where([](int c) { return std::isspace(c); })},
        {'S', ~bytes_where([](int c) { return std::isspace(c); })},
        {'n', one('\n')},
        {'r', one('\r')},
        {'t', one('\t')},
        {'f', one('\f')},
        {'v', one('\v')}};
    const char letter = ++at_ < text_.size() ? text_[at_++] : '\0';
    if (const auto found = kEscapes.find(letter); found != kEscapes.end()) {
        return found->second;
    }
    if (letter == 'x' && at_ + 2 <= text_.size()) {
        const auto high = hex_value(text_[at_]), low = hex_value(text_[at_ + 1]);
        if (high && low) {
            at_ += 2;
            return one(static_cast<unsigned char>(*high * 16 + *low));
        }
    }
    if (at_ > text_.size() || letter == '\0' || std::isalnum(static_cast<unsigned char>(letter))) {
        fail(letter == '\0' ? "a '\\' with nothing after it"
                            : fmt::format("'\\{}' means nothing here", letter));
    }
    return one(static_cast<unsigned char>(letter));
}

BytePatternBuilder::Bytes BytePatternBuilder::parse_brackets() {
    const bool is_others = take("^");
    Bytes bytes;
    for (bool is_first = true; is_first || !sees(']'); is_first = false) {
        if (at_end()) {
            fail("a '[' without its ']'");
            return bytes;
        }
        if (take("[:")) {
            bytes |= parse_class();
            continue;
        }
        const Bytes from =
            sees('\\') ? parse_escape() : one(static_cast<unsigned char>(text_[at_++]));
        if (!take_range(bytes, from)) {
            bytes |= from;
        }
    }
    ++at_;
    if (either_case_) {
        bytes = in_either_case(bytes);
    }
    return is_others ? ~bytes : bytes;
}

// The rest of a-z.
bool BytePatternBuilder::take_range(Bytes& bytes, const Bytes& from) {
    if (!sees('-') || at_ + 1 >= text_.size() || text_[at_ + 1] == ']') {
        return false;
    }
    ++at_;
    const Bytes to = sees('\\') ? parse_escape() : one(static_cast<unsigned char>(text_[at_++]));
    const std::size_t first = from._Find_first(), last = to._Find_first();
    if (from.count() != 1 || to.count() != 1 || first > last) {
        fail("a range in [ ] goes from one byte to one that is not below it");
        return true;
    }
    for (std::size_t byte = first; byte <= last; ++byte) {
        bytes.set(byte);
    }
    return true;
}

// What follows "[:" is read here.
BytePatternBuilder::Bytes BytePatternBuilder::parse_class() {
    static const std::map<std::string_view, int (*)(int)> kClasses = {{"alpha", std::isalpha},
                                                                      {"digit", std::isdigit},
                                                                      {"alnum", std::isalnum},
                                                                      {"upper", std::isupper},
                                                                      {"lower", std::islower},
                                                                      {"space", std::isspace},
                                                                      {"blank", std::isblank},
                                                                      {"punct", std::ispunct},
                                                                      {"print", std::isprint},
                                                                      {"graph", std::isgraph},
                                                                      {"cntrl", std::iscntrl},
                                                                      {"xdigit", std::isxdigit}};
    const std::size_t end = text_.find(":]", at_);
    const std::string_view name = text_.substr(at_, end - at_);
    const auto found = end == std::string_view::npos ? kClasses.end() : kClasses.find(name);
    if (found == kClasses.end()) {
        fail("no class of bytes has the name that follows '[:'");
        return {};
    }
    at_ = end + 2;
    return bytes_where(found->second);
}

BytePatternBuilder::Index BytePatternBuilder::add_point(Point point) {
    if (points_.size() >= kPointsMax) {
        fail("it is too large");
        return kFoundPoint;
    }
    points_.push_back(std::move(point));
    return static_cast<Index>(points_.size() - 1);
}

BytePatternBuilder::Index BytePatternBuilder::lay(Index index, Index next) {
    const Part& part = parts_[index];
    switch (part.kind) {
        case Kind::kBytes:
            return add_point({true, part.bytes, 0, {next}});
        case Kind::kLineBegins:
            return add_point({false, {}, BytePattern::kLineBegins, {next}});
        case Kind::kLineEnds:
            return add_point({false, {}, BytePattern::kLineEnds, {next}});
        case Kind::kRepeat:
            return lay_repeat(part, next);
        case Kind::kEach:
            for (auto inner = part.parts.rbegin(); inner != part.parts.rend(); ++inner) {
                next = lay(*inner, next);
            }
            return next;
        case Kind::kAnyOf:
            break;
    }
    Point fork;
    for (const Index inner : part.parts) {
        fork.next.push_back(lay(inner, next));
    }
    return add_point(std::move(fork));
}

BytePatternBuilder::Index BytePatternBuilder::lay_repeat(const Part& repeat, Index next) {
    const Index inner = repeat.parts.front();
    if (repeat.most == kNoLimit) {
        const Index again = add_point({false, {}, 0, {next}});
        const Index entry = lay(inner, again);
        points_[again].next.push_back(entry);
        next = again;
    } else {
        const Index end = next;
        for (std::size_t i = repeat.least; i < repeat.most && !failure_; ++i) {
            next = add_point({false, {}, 0, {end, lay(inner, next)}});
        }
    }
    for (std::size_t i = 0; i < repeat.least && !failure_; ++i) {
        next = lay(inner, next);
    }
    return next;
}

void BytePatternBuilder::join(BytePattern& pattern, Index entry) {
    std::vector<Index> states(points_.size(), BytePattern::kFound);
    for (std::size_t i = 0; i < points_.size(); ++i) {
        if (points_[i].takes_byte) {
            states[i] = static_cast<Index>(pattern.states_.size());
            pattern.states_.push_back({points_[i].bytes, 0, 0});
        }
    }
    find_steps(entry, states, pattern.begin_);
    for (std::size_t i = 0; i < points_.size() && pattern.steps_.size() <= BytePattern::kStepsMax;
         ++i) {
        if (points_[i].takes_byte) {
            BytePattern::State& state = pattern.states_[states[i]];
            state.first_step = static_cast<std::uint32_t>(pattern.steps_.size());
            find_steps(points_[i].next.front(), states, pattern.steps_);
            state.steps = static_cast<std::uint32_t>(pattern.steps_.size()) - state.first_step;
        }
    }
    if (pattern.states_.size() > BytePattern::kStatesMax ||
        pattern.steps_.size() > BytePattern::kStepsMax) {
        fail("it is too large");
    }
    for (const BytePattern::Step& step : pattern.begin_) {
        if (step.state != BytePattern::kFound) {
            for (std::size_t byte = 0; byte < pattern.begins_match_.size(); ++byte) {
                pattern.begins_match_[byte] |= pattern.states_[step.state].bytes[byte];
            }
        }
    }
}

// Finds the steps to all points that take a byte and can be reached without one, under the conditions on the way.
void BytePatternBuilder::find_steps(Index from,
                                    const std::vector<Index>& states,
                                    std::vector<BytePattern::Step>& steps) const {
    std::set<std::pair<Index, std::uint8_t>> seen;
    std::vector<std::pair<Index, std::uint8_t>> open = {{from, std::uint8_t{0}}};
    while (!open.empty() && steps.size() <= BytePattern::kStepsMax) {
        auto [index, conditions] = open.back();
        open.pop_back();
        if (!seen.emplace(index, conditions).second) {
            continue;
        }
        const Point& point = points_[index];
        if (point.takes_byte || index == kFoundPoint) {
            steps.push_back({states[index], conditions});
            continue;
        }
        for (const Index next : point.next) {
            open.emplace_back(next, static_cast<std::uint8_t>(conditions | point.conditions));
        }
    }
}

}  // namespace dyetrace::capture
