#include "format/pid_text.h"

#include "format/bytes.h"
#include "format/quote.h"

namespace dyetrace::format {

PidText::PidText(const PidStyle& style,
                 const schema::ThreadNumbers& numbers,
                 const schema::Task* task,
                 std::uint64_t at_ns)
    : style_(style),
      numbers_(task != nullptr ? &numbers : nullptr),
      from_(task != nullptr ? task->pid_namespace : 0),
      at_ns_(at_ns) {}

void PidText::append(std::string& out, std::int64_t number) const {
    print(out, "{}", number);
    append_meaning(out, number, false);
}

void PidText::append_group(std::string& out, std::int64_t number) const {
    print(out, "{}", number);
    append_meaning(out, number, true);
}

void PidText::append_either(std::string& out, std::int64_t number) const {
    print(out, "{}", number);
    append_meaning(out, number < -1 ? -number : number, number < 0);
}

void PidText::append_meaning(std::string& out, std::int64_t number, bool is_group) const {
    if (numbers_ == nullptr || !(style_.names || style_.translation) || number <= 0 ||
        number > INT32_MAX) {
        return;
    }
    const std::uint32_t tid = numbers_->thread(from_, static_cast<std::uint32_t>(number));
    if (style_.names && !is_group) {
        append_thread_name(out, *numbers_, tid, at_ns_);
    }
    const std::uint32_t ours = numbers_->number(tid, style_.namespace_);
    if (style_.translation && ours != 0 && ours != number) {
        print(out, " /* {} in strace's PID NS */", ours);
    }
}

void append_thread_name(std::string& out,
                        const schema::ThreadNumbers& numbers,
                        std::uint32_t tid,
                        std::uint64_t at_ns) {
    const std::string* name = numbers.name(tid, at_ns);
    if (name != nullptr && !name->empty()) {
        out.push_back('<');
        append_between(out, *name);
        out.push_back('>');
    }
}

}  // namespace dyetrace::format
