#include "filter/short_forms.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "schema/errors.h"
#include "schema/text.h"

namespace dyetrace::filter {
namespace {

using schema::EventColumn;

constexpr std::size_t kCommBytesMax = 15;  // TASK_COMM_LEN without its NUL

Expression any_of(std::vector<Expression> alternatives) {
    return alternatives.size() == 1 ? std::move(alternatives[0])
                                    : condition(Operator::kOr, std::move(alternatives));
}

bool is_pattern(const std::string& bytes) {
    return bytes.find_first_of("*?[") != std::string::npos;
}

// The pattern over escaped text that means what the typed one means over bytes: \xff becomes \\xff, a plain \ \\\\.
std::string text_pattern(std::string_view typed) {
    std::string out;
    while (!typed.empty()) {
        if (typed.size() > 1 && typed[0] == '\\') {
            out +=
                '\\';  // makes the first character of what follows plain; for a \ that is the one below
            typed.remove_prefix(1);
            if (typed[0] == '\\') {
                out += "\\\\\\";
                typed.remove_prefix(1);
                continue;
            }
            if (static_cast<unsigned char>(typed[0]) < 0x80) {
                out += typed[0];
                typed.remove_prefix(1);
                continue;
            }
            out.pop_back();  // other characters are plain already
        }
        const std::size_t length = std::min(typed.find('\\', 1), typed.size());
        for (const char c : schema::escaped(typed.substr(0, length))) {
            out.append(c == '\\' ? 2 : 1, c);
        }
        typed.remove_prefix(length);
    }
    return out;
}

Expression named(EventColumn column, const std::string& typed) {
    if (is_pattern(typed)) {
        return condition(Operator::kGlob, {column_of(column), text_constant(text_pattern(typed))});
    }
    return condition(Operator::kEqual, {column_of(column), text_constant(schema::escaped(typed))});
}

std::string without_slash(std::string path) {
    while (path.size() > 1 && path.back() == '/') {
        path.pop_back();
    }
    return path;
}

template <typename Number>
Expression one_of(EventColumn column, const std::vector<Number>& numbers) {
    std::vector<Expression> operands{column_of(column)};
    for (const Number number : numbers) {
        operands.push_back(integer_constant(number));
    }
    return condition(numbers.size() == 1 ? Operator::kEqual : Operator::kIn, std::move(operands));
}

}  // namespace

std::vector<std::string> path_meanings(const std::string& typed) {
    std::error_code error;
    const std::filesystem::path absolute = std::filesystem::absolute(typed, error);
    if (typed.empty() || is_pattern(typed) || error) {
        return {typed};
    }
    std::vector<std::string> meanings{without_slash(absolute.lexically_normal().string())};
    const std::string target =
        without_slash(std::filesystem::weakly_canonical(absolute, error).string());
    if (!error && target != meanings[0]) {
        meanings.push_back(target);
    }
    return meanings;
}

Result<Predicate> predicate_of(const ShortForms& forms) {
    std::vector<Expression> all;
    if (!forms.pids.empty()) {
        all.push_back(one_of(EventColumn::kPid, forms.pids));
    }
    if (!forms.comms.empty()) {
        std::vector<Expression> names;
        for (const std::string& comm : forms.comms) {
            names.push_back(
                named(EventColumn::kComm, is_pattern(comm) ? comm : comm.substr(0, kCommBytesMax)));
        }
        all.push_back(any_of(std::move(names)));
    }
    if (!forms.paths.empty()) {
        std::vector<Expression> names;
        for (const std::string& path : forms.paths) {
            names.push_back(named(EventColumn::kPath, path));
            names.push_back(named(EventColumn::kPath2, path));
        }
        all.push_back(any_of(std::move(names)));
    }
    if (!forms.ports.empty()) {
        all.push_back(any_of({one_of(EventColumn::kLocalPort, forms.ports),
                              one_of(EventColumn::kRemotePort, forms.ports)}));
    }
    if (forms.errors) {
        TRY(const Predicate failure, Predicate::parse(std::string(schema::failure_condition())));
        all.push_back(failure.expression());
    }
    if (forms.longer_ns) {
        all.push_back(
            condition(Operator::kGreater,
                      {column_of(EventColumn::kDurationNs), integer_constant(*forms.longer_ns)}));
    }
    if (!forms.where.empty()) {
        Result<Predicate> where = Predicate::parse(forms.where);
        if (!where.ok()) {
            return std::move(where).error().with_context("--where");
        }
        all.push_back(where.value().expression());
    }
    return all.empty() ? Predicate() : Predicate::of(condition(Operator::kAnd, std::move(all)));
}

}  // namespace dyetrace::filter
