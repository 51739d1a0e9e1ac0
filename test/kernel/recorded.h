// Makes calls in a child process and hands back what the kernel programs say about exactly these.
//
//   TEST_F(ReadWrite, pread64_leaves_the_position_alone) {
//       const Trace trace = record([] { pread(fd, buffer, 3, 7); });
//       const Event read = trace.only("pread64");
//       EXPECT_EQ(read.file_offset(), 7);
//       EXPECT_EQ(read.path(), "/tmp/…/data");
//   }
//
// The child is forked, marked while it waits at a gate, let go, and ends with _exit. What child and test tell each other
// goes through Shared. A nullable column is an optional: absent compares unequal to every value.
//
// The tests of one process that want the same options share programs that stay attached: loading them takes most of a
// recording's time. What they announced once they do not announce again, so the dictionary is shared too; facts, events and
// accounting is that of the one recording. A test about how a recording begins or ends says `alone_`.
//
// Limits: one recording at a time; needs root, else the test is skipped with the reason, and BPF. A child that runs longer
// than kChildSecondsMax is killed and the test fails. So does a shared recording whose child leaves processes behind.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/temporary_folder.h"
#include "capture/capture.h"
#include "content/anchors.h"
#include "schema/dictionary.h"

namespace dyetrace::test {

inline constexpr int kChildSecondsMax = 250;  // only a child that hangs takes as long

// A value in memory that parent and child share; plain data only.
template <typename T>
class Shared {
  public:
    Shared()
        : memory_(
              mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
        new (memory_) T{};
    }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;
    ~Shared() { munmap(memory_, sizeof(T)); }

    T& operator*() const { return *static_cast<T*>(memory_); }
    T* operator->() const { return static_cast<T*>(memory_); }

  private:
    void* memory_;
};

// The child calls it: ends it, and so fails the test, unless `condition` holds.
void require(bool condition, const char* what);
#define REQUIRE(condition) ::dyetrace::test::require((condition), #condition)

// Whether a thread is blocked in that system call, or in any.
bool is_in_call(pid_t thread, long number);
bool is_in_some_call(pid_t thread);

// Records of one recording, with the dictionary of all its announcements and of those before it that it refers to.
struct Records {
    // Grows from recording to recording, and has to be there as long as one of them is looked at.
    std::shared_ptr<schema::Dictionary> dictionary = std::make_shared<schema::Dictionary>();
    std::vector<std::vector<std::uint64_t>>
        events;                       // each a record; words, because records are 8-aligned
    std::vector<std::uint32_t> cpus;  // of each event
    std::vector<std::vector<std::uint64_t>> facts;
};

// One event_object: an object that an event touched beside its first two.
struct Touched {
    schema::EventRole role;
    std::int32_t fd;
    std::uint32_t events, asked_events;
    std::int64_t range_begin, range_end;
    const schema::Object* object;
};

// One record anchor.
struct FoundAnchor {
    std::int64_t position;
    std::uint64_t fingerprint;
    std::optional<std::uint64_t> prefix_sum = std::nullopt;
    // Where what it stands in begins does not matter.
    bool operator==(const FoundAnchor& other) const {
        return position == other.position && fingerprint == other.fingerprint;
    }
};

// One dye_hit: an occurrence of a dye.
struct DyeHit {
    std::uint32_t dye;
    schema::DyeForm form;
    std::int64_t position;
    bool operator==(const DyeHit&) const = default;
};

// A message or control block of a call.
class Part {
  public:
    Part(std::shared_ptr<const Records> records, const schema::PartEvent* raw)
        : records_(std::move(records)), raw_(raw) {}
    const schema::PartEvent& raw() const { return *raw_; }
    std::string operation() const;
    std::optional<std::int64_t> result() const;
    std::optional<std::int64_t> fd() const;
    std::optional<std::int64_t> bytes() const;
    std::optional<std::int64_t> requested() const;
    std::optional<std::int64_t> file_offset() const;
    std::optional<std::int64_t> stream_offset() const;
    std::optional<std::int64_t> duration_ns() const;
    const schema::Object* object() const;
    std::string address() const;  // "127.0.0.1:53", empty if none
    std::optional<schema::Content> content() const { return schema::content_of(*raw_); }

  private:
    std::optional<std::int64_t> when(std::uint32_t bit, std::int64_t value) const;

    std::shared_ptr<const Records> records_;
    const schema::PartEvent* raw_;
};

class Event {
  public:
    Event(std::shared_ptr<const Records> records, std::size_t index);

    const schema::SyscallEvent& raw() const { return *raw_; }
    schema::RecordBytes record() const {
        return std::as_bytes(std::span(records_->events[index_]));
    }
    std::uint16_t cpu() const { return static_cast<std::uint16_t>(records_->cpus[index_]); }
    const schema::Dictionary& dictionary() const { return *records_->dictionary; }
    std::string name() const;
    std::int64_t result() const { return raw_->result; }
    std::string error() const;  // "ENOENT"; empty: it succeeded
    bool finished() const { return raw_->state == 0; }
    bool entry_missed() const;
    std::optional<schema::Content> content() const { return schema::content_of(*raw_); }
    std::int64_t argument(int index) const {
        return static_cast<std::int64_t>(raw_->arguments[index]);
    }

    std::optional<std::int64_t> fd() const;
    std::optional<std::int64_t> bytes() const;
    std::optional<std::int64_t> requested() const;
    std::optional<std::int64_t> file_offset() const;
    std::optional<std::int64_t> file_offset2() const;
    std::optional<std::int64_t> object_size() const;
    std::optional<std::int64_t> stream_offset() const;
    std::optional<std::int64_t> open_flags() const;
    std::optional<std::int64_t> duration_ns() const;
    std::optional<std::int64_t> target_tid() const;
    bool offset_certain() const;
    schema::Class event_class() const { return static_cast<schema::Class>(raw_->event_class); }

    // These are as the public columns path, path2, argument_path: a relative name is joined to its
    // base; empty: NULL.
    std::string path() const;
    std::string path2() const;
    std::optional<std::string> argument_path() const;
    std::optional<std::string> argument_path2() const;
    std::string address() const;  // of the message: "127.0.0.1:53", "unix:/path"; empty if none

    // nullptr where the object is not known.
    const schema::Object* object() const;
    const schema::Object* object2() const;
    std::uint64_t object_id() const { return object() == nullptr ? 0 : object()->object_id; }
    std::uint64_t object2_id() const { return object2() == nullptr ? 0 : object2()->object_id; }
    std::uint64_t connection_id() const;
    const schema::Task* task() const;

    std::vector<Part> parts() const;
    std::vector<Touched> touched() const;
    // Gives the hits of dyes, wherever the record of it is; by position.
    std::vector<DyeHit> dye_hits() const;
    std::vector<FoundAnchor> anchors() const;
    std::optional<content::WindowSketch> sketch() const { return sketch_of(raw_->header.sequence); }
    // Gives the sketch of the event itself, or of one of its parts.
    std::optional<content::WindowSketch> sketch_of(std::uint64_t sequence) const;
    std::optional<dyes_found> dyes() const { return schema::dyes_found_in(*raw_); }

  private:
    std::optional<std::int64_t> when(std::uint32_t bit, std::int64_t value) const;
    const schema::Object* base(std::uint32_t present,
                               std::uint32_t base_bit,
                               std::uint32_t handle) const;

    std::shared_ptr<const Records> records_;
    std::size_t index_;
    const schema::SyscallEvent* raw_;
};

class Trace {
  public:
    Trace(std::shared_ptr<const Records> records,
          int status,
          capture::Accounting accounting,
          int gate_fd);

    // Events are in the order in which they began.
    const std::vector<Event>& events() const { return events_; }
    std::vector<Event> all(std::string_view name) const;
    // The one of this name; anything else fails the test.
    Event only(std::string_view name) const;
    Event first(std::string_view name) const { return nth(name, 0); }
    Event nth(std::string_view name, std::size_t index) const;
    Event last(std::string_view name) const;
    std::size_t count(std::string_view name) const { return all(name).size(); }
    // Facts of a kind, as they came.
    template <typename Record>
    std::vector<const Record*> facts() const {
        std::vector<const Record*> result;
        for (const auto& words : records_->facts) {
            if (const auto* record = schema::as<Record>(std::as_bytes(std::span(words)))) {
                result.push_back(record);
            }
        }
        return result;
    }
    const Records& records() const { return *records_; }
    int status() const { return status_; }                                 // as wait() gave it
    const capture::Accounting& accounting() const { return accounting_; }  // of all CPUs

  private:
    std::shared_ptr<const Records> records_;
    std::vector<Event> events_;
    int status_;
    capture::Accounting accounting_;
};

class KernelTest : public testing::Test {
  protected:
    // Loads the programs, or skips the test.
    void SetUp() override;

    // Runs `program` in a child and records it. Fails the test unless it ended with status 0 or `killed_by`.
    Trace record(const std::function<void()>& program, int killed_by = 0);
    // The same, but stops the recording as soon as `program` has called up(); then the child is killed.
    Trace record_until_stopped(const std::function<void()>& program);

    // Only a test that is alone asks this: with others, what they met is among them.
    const std::vector<capture::Source>& sources() const { return own_->capture.sources(); }
    const std::vector<std::byte>& thread_numbers() const { return own_->capture.thread_numbers(); }

    // A file of the test's own folder.
    std::string at(std::string_view name) const {
        return folder_->path() + "/" + std::string(name);
    }

    // Both are asked for when the test begins: to be set in a constructor.
    capture::CaptureOptions options_;
    // Programs of its own, which are attached when the child waits at its gate, and detached before its events are looked at.
    bool alone_ = false;
    // What the child does before it waits at the gate, and so before anybody watches it.
    std::function<void()> before_;
    // What this process does while the child runs: called again and again, with the child's number.
    std::function<void(pid_t)> meanwhile_;
    // The child has standard input, output and error only: its first descriptor is 3.
    bool bare_descriptors_ = false;

  private:
    // Programs in the kernel, and what they have told since they were loaded.
    struct Listener {
        capture::Capture capture;
        std::string options;  // in words
        std::shared_ptr<schema::Dictionary> dictionary;
        std::optional<std::string> root;  // of the children, see outer_root.h
        bool attached = false;
    };

    std::optional<Listener>& shared() const;
    Result<void> load(std::optional<Listener>& listener) const;
    Trace run(const std::function<void()>& program, int killed_by, bool kill_at_end);
    static void begin(Listener& listener, pid_t child, const base::Fd& gate, bool is_shared);
    int follow(capture::Capture& capture, Records& records, pid_t child, const bool& up) const;
    static void end(Listener& listener, Records& records, bool is_shared);

    std::optional<Listener> own_;
    std::optional<base::TemporaryFolder> folder_;
};

}  // namespace dyetrace::test
