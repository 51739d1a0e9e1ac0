// The arguments and the result of one system call as strace writes them.
//
//   CallText call(event, info, dictionary, names, limits);
//   call.append_arguments(out);      AT_FDCWD, "a/b", O_RDONLY          the path from the attachment `path`
//   call.append_result(out);         3</home/a/b>    -1 ENOENT (No such file or directory)    ? ERESTARTSYS (…)
//
// What did not come with the event (structures and data are captured on demand) is shown as its address.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "format/object_text.h"
#include "format/structure.h"
#include "schema/dictionary.h"
#include "schema/syscalls.h"

namespace dyetrace::format {

inline bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

class CallText {
  public:
    // All must outlive it.
    CallText(const schema::SyscallEvent& event,
             const schema::SyscallInfo& info,
             const schema::Dictionary& dictionary,
             Names names,
             const Limits& limits,
             const CallDetail& detail = {});

    // Between the parentheses.
    void append_arguments(std::string& out) const;

    bool failed() const;
    // Appends what stands after the "= ".
    void append_result(std::string& out) const;
    // Appends lines, each with a line end in front: the bytes that the call moved.
    void append_dump(std::string& out) const;

  private:
    using Printer = bool (CallText::*)(std::string&, std::size_t) const;
    struct TypePrinter {
        std::string_view type;
        Printer printer;
    };
    // False for one that is not shown (the mode of an open that creates nothing, the high half of an offset).
    bool is_shown(std::size_t index) const;
    void append_argument(std::string& out, std::size_t index) const;
    static Printer printer_of(const schema::ArgumentInfo& argument);

    std::uint64_t value(std::size_t index) const;        // as wide as the register is in this abi
    std::int64_t signed_value(std::size_t index) const;  // a long of this abi
    schema::ArgumentInfo argument_at(std::size_t index) const;  // as the command before it says
    std::string_view type_of(std::size_t index) const { return argument_at(index).type; }
    bool has(std::uint32_t bit) const { return (event_.present & bit) != 0; }
    bool creates() const;
    std::size_t moved() const;
    std::optional<std::string_view> attached(schema::Attachment kind, std::size_t index) const;
    std::size_t meant_bytes(std::size_t index) const;
    // As x86-64 lays it out, and zero where the kernel neither looks nor writes; none if that is all of it.
    std::optional<std::string> structure(std::size_t index) const;
    bool found_child() const;
    std::optional<std::string_view> attached_after(std::size_t index) const;
    const schema::Object* directory(std::size_t index) const;
    const schema::Object* object_of(std::size_t index) const;
    void append_address(std::string& out, std::size_t index) const;
    void append_error(std::string& out) const;
    void append_message_dumps(std::string& out, std::size_t index) const;
    bool append_returned_structure(std::string& out) const;
    void append_ready(std::string& out, bool in_sets) const;
    void append_ready_sets(std::string& out) const;
    void append_time_left(std::string& out, std::size_t index) const;

    // Each appends and says so, or appends nothing: then the address is shown.
    bool print_descriptor(std::string& out, std::size_t index) const;
    bool print_path(std::string& out, std::size_t index) const;
    bool print_path2(std::string& out, std::size_t index) const;
    bool print_name(std::string& out, std::size_t index) const;
    bool print_text(std::string& out, std::size_t index) const;
    bool print_bytes(std::string& out, std::size_t index) const;
    bool print_vectors(std::string& out, std::size_t index) const;
    bool print_message(std::string& out, std::size_t index) const;
    bool print_socket_address(std::string& out, std::size_t index) const;
    bool print_structure(std::string& out, std::size_t index) const;
    bool print_stat(std::string& out, std::size_t index) const;
    bool print_timespec(std::string& out, std::size_t index) const;
    bool print_entries(std::string& out, std::size_t index) const;
    bool print_mask(std::string& out, std::size_t index) const;
    bool print_messages(std::string& out, std::size_t index) const;
    bool print_remote_vectors(std::string& out, std::size_t index) const;
    bool print_signal_set(std::string& out, std::size_t index) const;
    bool print_poll_set(std::string& out, std::size_t index) const;
    bool print_epoll_events(std::string& out, std::size_t index) const;
    bool print_texts(std::string& out, std::size_t index) const;
    bool print_environment(std::string& out, std::size_t index) const;
    bool print_offset(std::string& out, std::size_t index) const;
    bool print_fd_set(std::string& out, std::size_t index) const;
    bool print_option(std::string& out, std::size_t index) const;
    bool print_length_pointer(std::string& out, std::size_t index) const;
    bool print_offset_pointer(std::string& out, std::size_t index) const;
    bool print_plain(std::string& out, std::size_t index) const;
    bool print_pointer(std::string& out, std::size_t index) const;
    bool print_long_word(std::string& out, std::size_t index) const;
    bool print_cpu_set(std::string& out, std::size_t index) const;
    bool print_random(std::string& out, std::size_t index) const;
    bool print_request(std::string& out, std::size_t index) const;
    bool print_word(std::string& out, std::size_t index) const;
    bool print_pid(std::string& out, std::size_t index) const;
    void append_clone(std::string& out) const;
    bool is_sched_core() const;
    void append_sched_core(std::string& out, std::size_t index) const;

    const schema::SyscallEvent& event_;
    const schema::SyscallInfo& info_;
    const schema::Dictionary& dictionary_;
    Names names_;
    Limits limits_;
    CallDetail detail_;
};

}  // namespace dyetrace::format
