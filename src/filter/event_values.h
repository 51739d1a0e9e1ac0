// The public columns of one record, each computed as columns.toml and prelude.sql compute it from the same record.
//
//   EventValues values(buffers, host);
//   values.set(record, cpu, dictionary);
//   values.of(EventColumn::kPath)        ─►  text '/var/log/x', valid until the next set()
//
// What the dictionary does not know (yet) is NULL, as it is in SQL for an id that was never announced. Text is escaped
// (schema/text.h); text that needs no escape is not copied.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "filter/expression.h"
#include "schema/dictionary.h"
#include "schema/record.h"

namespace dyetrace::filter {

// Text as SQL shows it, kept for the event in hand; buffers keep their capacity, so that a usual event allocates nothing.
class TextBuffers {
  public:
    TextBuffers();
    // `bytes` itself where it needs no escape.
    std::string_view escaped(schema::EventColumn column, std::string_view bytes);
    std::string_view kept(schema::EventColumn column, std::string_view text);
    std::string& buffer(schema::EventColumn column) {
        return buffers_[static_cast<std::size_t>(column)];
    }

  private:
    std::vector<std::string> buffers_;
};

// Printable or not: all bytes are ASCII, none is NUL or a backslash.
bool needs_no_escape(std::string_view bytes);

// The macro _plain_path of prelude.sql: '.', '..' and '//' taken out of a name.
std::string plain_path(std::string_view path);

class EventValues {
  public:
    EventValues(TextBuffers& buffers, std::string_view host) : buffers_(buffers), host_(host) {}

    // False if it is no record of the view `events`; the values are then not to be asked for. All borrowed.
    bool set(schema::RecordBytes record, std::uint16_t cpu, const schema::Dictionary& dictionary);

    Value of(schema::EventColumn column) const;

    const schema::Task* task() const { return task_; }
    const schema::Object* object() const { return object_; }
    const schema::Object* object2() const { return object2_; }
    // The column is the name in the handle itself, not one joined or given by the call.
    bool path_is_of_handle(schema::EventColumn column) const;

  private:
    template <class Number>
    Value of_task(Number schema::Task::*member) const;
    Value text_of_task(schema::EventColumn column) const;
    template <class Event>
    Value of_operation(const Event& e, schema::EventColumn column) const;
    Value of_only(const schema::SyscallEvent& e, schema::EventColumn column) const;
    Value of_only(const schema::PartEvent& e, schema::EventColumn column) const;
    Value of_log(schema::EventColumn column) const;
    Value of_signal(schema::EventColumn column) const;
    Value end(schema::EventColumn column) const;
    Value socket_address(schema::EventColumn column, const schema::SocketEnds& ends) const;
    Value path(schema::EventColumn column,
               bool has_handle,
               bool names_base,
               const schema::Object* object,
               schema::Attachment kind) const;
    Value joined(schema::EventColumn column, std::string_view base, std::string_view name) const;
    Value error(bool has_result, std::int64_t result) const;
    Value open_flags(bool present, std::uint32_t flags) const;
    Value call_arguments() const;

    TextBuffers& buffers_;
    std::string_view host_;
    schema::RecordBytes record_;
    std::uint16_t cpu_ = 0;
    std::uint16_t host_index_ = 0;
    const schema::SyscallEvent* syscall_ = nullptr;
    const schema::PartEvent* part_ = nullptr;
    const schema::LogEvent* log_ = nullptr;
    const schema::SignalEvent* signal_ = nullptr;
    const schema::Task* task_ = nullptr;
    const schema::Object* object_ = nullptr;
    const schema::Object* object2_ = nullptr;
    const schema::SocketEnds* ends_ = nullptr;  // of the first of these that is a socket
};

}  // namespace dyetrace::filter
