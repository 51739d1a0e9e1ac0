// The generated programs, loaded and run by the kernel, against the Evaluator.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <netinet/in.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "filter/bpf_compiler.h"
#include "filter/evaluator.h"
#include "filter/random_cases.h"
#include "schema/shared/filter_match.h"
#include "schema/text.h"

namespace dyetrace::filter {
namespace {

using schema::Attachment;
using schema::SyscallEvent;

int bpf(int command, bpf_attr& attr) {
    return static_cast<int>(syscall(SYS_bpf, command, &attr, sizeof(attr)));
}

std::uint64_t address_of(const void* p) {
    return reinterpret_cast<std::uintptr_t>(p);
}

class FileDescriptor {
  public:
    explicit FileDescriptor(int fd) : fd_(fd) {}
    ~FileDescriptor() {
        if (fd_ >= 0) close(fd_);
    }
    FileDescriptor(const FileDescriptor&) = delete;
    FileDescriptor& operator=(const FileDescriptor&) = delete;
    int get() const { return fd_; }

  private:
    int fd_;
};

BpfFilter compiled(const char* condition, const BpfLayout& layout) {
    StringAtoms atoms;
    return compile_bpf(Predicate::parse(condition).value(), layout, atoms);
}

// What lies in the per-CPU value; the offsets are odd on purpose.
struct Scratch {
    std::uint64_t before[3];
    SyscallEvent event;
    std::uint64_t between[5];
    filter_input input;
};

int create_scratch_map() {
    bpf_attr attr{};
    attr.map_type = BPF_MAP_TYPE_ARRAY;
    attr.key_size = 4;
    attr.value_size = sizeof(Scratch);
    attr.max_entries = 1;
    return bpf(BPF_MAP_CREATE, attr);
}

// The verifier's words are asked for only after a refusal: a log that is too small is one itself.
int load_program(const std::vector<bpf_insn>& code, std::string& log) {
    bpf_attr attr{};
    attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
    attr.insns = address_of(code.data());
    attr.insn_cnt = static_cast<std::uint32_t>(code.size());
    attr.license = address_of("GPL");
    const int program = bpf(BPF_PROG_LOAD, attr);
    if (program >= 0) {
        return program;
    }
    log.assign(std::size_t{1} << 22, '\0');
    attr.log_buf = address_of(log.data());
    attr.log_size = static_cast<std::uint32_t>(log.size());
    attr.log_level = 1;
    return bpf(BPF_PROG_LOAD, attr);
}

class Kernel {
  public:
    Kernel() : map_(create_scratch_map()) {}

    bool works() const { return map_.get() >= 0; }

    BpfLayout layout() const {
        BpfLayout layout;
        layout.scratch_map_fd = map_.get();
        layout.event_offset = offsetof(Scratch, event);
        layout.input_offset = offsetof(Scratch, input);
        layout.host_index = 3;
        layout.host = "node-3";
        return layout;
    }

    // Whether the program lets the event pass.
    bool passes(int program, Scratch scratch) const {
        const std::uint32_t key = 0;
        bpf_attr update{};
        update.map_fd = static_cast<std::uint32_t>(map_.get());
        update.key = address_of(&key);
        update.value = address_of(&scratch);
        EXPECT_EQ(bpf(BPF_MAP_UPDATE_ELEM, update), 0);
        bpf_attr run{};
        run.test.prog_fd = static_cast<std::uint32_t>(program);
        EXPECT_EQ(bpf(BPF_PROG_TEST_RUN, run), 0);
        return run.test.retval == 1;
    }

  private:
    FileDescriptor map_;
};

void add_text(filter_verdicts& verdicts,
              const std::vector<filter_atom>& atoms,
              filter_subject subject,
              std::string_view text) {
    std::vector<__u8> bytes(MATCH_TEXT_BYTES);
    std::memcpy(bytes.data(), text.data(), text.size());
    const auto length = static_cast<__u32>(text.size());
    match_position position{};
    const match_request request{.text = bytes.data(),
                                .position = &position,
                                .length = length,
                                .subject = static_cast<__u32>(subject),
                                .plain = static_cast<__u32>(match_is_plain(bytes.data(), length))};
    for (__u32 i = 0; i < atoms.size(); ++i) {
        match_add(&verdicts, &atoms[i], i, &request);
    }
}

void add_path(filter_verdicts& verdicts,
              const std::vector<filter_atom>& atoms,
              const std::string* path) {
    if (path != nullptr) {
        add_text(verdicts, atoms, FILTER_SUBJECT_PATH, *path);
    }
}

template <std::size_t Size>
void put_text(__u8 (&to)[Size], std::string_view text) {
    std::memcpy(to, text.data(), std::min(text.size(), Size));
}

void put_address(__u8 (&to)[16], std::uint16_t family, const std::string& text) {
    if (!text.empty()) {
        inet_pton(family, text.c_str(), to);
    }
}

void fill_task(filter_input& input,
               const schema::Task& task,
               const std::vector<filter_atom>& atoms) {
    input.known |= FILTER_KNOWS_TASK;
    input.task.thread_start_ns = task.thread_start_ns;
    input.task.process_start_ns = task.process_start_ns;
    input.task.cgroup_id = task.cgroup_id;
    input.task.pid = task.pid;
    input.task.tid = task.tid;
    input.task.ppid = task.ppid;
    input.task.pid_in_namespace = task.pid_in_namespace;
    input.task.uid = task.uid;
    input.task.network_namespace = task.network_namespace;
    put_text(input.task.comm, task.comm);
    add_text(input.task.atoms, atoms, FILTER_SUBJECT_COMM, task.comm);
    if (task.exe) {
        add_text(input.task.atoms, atoms, FILTER_SUBJECT_EXE, *task.exe);
    }
}

void fill_object(filter_input& input,
                 const schema::Object& object,
                 const std::vector<filter_atom>& atoms) {
    input.known |= FILTER_KNOWS_OBJECT;
    input.object.object_id = static_cast<std::uint32_t>(object.object_id);
    input.object.object_type = static_cast<std::uint16_t>(object.object_type);
    put_text(input.object.file_system, object.file_system);
    add_path(input.object.atoms, atoms, object.name());
    if (object.socket) {
        input.object.family = object.socket->family;
        input.object.local_port = object.socket->local_port;
        input.object.remote_port = object.socket->remote_port;
        input.object.connection_id = object.socket->connection_id;
        put_address(input.object.local_address, input.object.family, object.socket->local_address);
        put_address(
            input.object.remote_address, input.object.family, object.socket->remote_address);
    }
}

void fill_attachments(filter_input& input,
                      const SyscallEvent& event,
                      const std::vector<filter_atom>& atoms) {
    if (const auto path = schema::attachment(event, Attachment::kPath)) {
        input.known |= FILTER_HAS_PATH;
        add_text(input.path_atoms, atoms, FILTER_SUBJECT_PATH, *path);
    }
    if (const auto path = schema::attachment(event, Attachment::kPath2)) {
        input.known |= FILTER_HAS_PATH2;
        add_text(input.path2_atoms, atoms, FILTER_SUBJECT_PATH, *path);
    }
    const auto bytes = schema::attachment(event, Attachment::kAddress);
    if (!bytes) {
        return;
    }
    input.known |= FILTER_HAS_ADDRESS;
    const auto address = schema::parse_socket_address(*bytes);
    if (address && address->has_port) {
        input.known |= FILTER_KNOWS_ADDRESS;
        std::memcpy(&input.address_family, bytes->data(), sizeof(input.address_family));
        input.address_port = address->port;
        put_address(input.address, input.address_family, address->address);
    }
}

// What the kernel part would know of an event whose names are all announced.
Scratch scratch_of(const SyscallEvent& event,
                   const schema::Dictionary& dictionary,
                   const std::vector<filter_atom>& atoms) {
    Scratch scratch{};
    scratch.event = event;
    filter_input& input = scratch.input;
    input.cpu = 2;
    if (const auto* task = dictionary.task(event.context_id)) {
        fill_task(input, *task, atoms);
    }
    if (const auto* object = dictionary.object(event.handle_id)) {
        fill_object(input, *object, atoms);
    }
    if (const auto* object = dictionary.object(event.handle2_id)) {
        input.known |= FILTER_KNOWS_OBJECT2;
        input.object2_id = static_cast<std::uint32_t>(object->object_id);
        add_path(input.object2_atoms, atoms, object->name());
    }
    fill_attachments(input, event, atoms);
    return scratch;
}

bool is_plain(const std::string* text) {
    return text != nullptr && match_is_plain(reinterpret_cast<const __u8*>(text->data()),
                                             static_cast<__u32>(text->size()));
}

// Whether the kernel could know everything of the event.
bool is_clear(const SyscallEvent& event,
              const schema::Dictionary& dictionary,
              const Scratch& scratch) {
    const auto* task = dictionary.task(event.context_id);
    const auto* object = dictionary.object(event.handle_id);
    const auto* object2 = dictionary.object(event.handle2_id);
    if (task == nullptr || object == nullptr || object2 == nullptr || !task->exe) {
        return false;
    }
    if (object->socket && object->socket->family == AF_UNIX) {  // its address is a name
        return false;
    }
    const __u32 known = scratch.input.known;
    for (const auto kind : {Attachment::kPath, Attachment::kPath2}) {
        const auto given = schema::attachment(event, kind);
        const std::string text(given.value_or(""));
        if (!is_plain(&text)) {
            return false;
        }
    }
    return (event.present & (SyscallEvent::kHasNamesBase | SyscallEvent::kHasNamesBase2)) == 0 &&
           is_plain(&task->comm) && is_plain(&*task->exe) && is_plain(object->name()) &&
           is_plain(object2->name()) &&
           ((known & FILTER_HAS_ADDRESS) == 0 || (known & FILTER_KNOWS_ADDRESS) != 0);
}

TEST(BpfFilter, never_drops_what_is_selected_and_drops_all_else_that_it_can_know) {
    const Kernel kernel;
    ASSERT_TRUE(kernel.works()) << "bpf(): " << strerror(errno)
                                << "; this test needs CAP_BPF and CAP_PERFMON";
    constexpr std::uint64_t kSeed = 31;
    std::size_t selected = 0;
    std::size_t dropped = 0;
    std::size_t must_drop = 0;
    std::size_t largest = 0;
    for (std::uint64_t round = 0; round < 60; ++round) {
        RandomCases cases(kSeed + round);
        schema::Dictionary dictionary(3);
        for (const auto& record : cases.world()) {
            dictionary.add(record.bytes());
        }
        std::vector<schema::OwnedRecord> events;
        for (std::uint64_t i = 0; i < 100; ++i) {
            events.push_back(cases.syscall_event(i));
        }
        for (int i = 0; i < 60; ++i) {
            const std::string text = cases.condition();
            const auto predicate = Predicate::parse(text);
            if (!predicate.ok()) {
                continue;
            }
            StringAtoms atoms;
            const BpfFilter filter = compile_bpf(predicate.value(), kernel.layout(), atoms);
            std::string log;
            const FileDescriptor program(load_program(filter.instructions, log));
            ASSERT_GE(program.get(), 0) << "seed " << kSeed + round << ": " << text << "\n"
                                        << log.c_str();
            largest = std::max(largest, filter.instructions.size());
            const Evaluator evaluator(predicate.value(), "node-3");
            for (const auto& record : events) {
                const auto& event = *schema::as<SyscallEvent>(record.bytes());
                Scratch scratch = scratch_of(event, dictionary, atoms.atoms());
                const bool clear = filter.undecided.empty() &&
                                   is_clear(event, dictionary, scratch) &&
                                   !predicate.value().uses(schema::EventColumn::kConnectionId);
                const bool wanted = evaluator.matches(record.bytes(), 2, dictionary);
                if (!clear && cases.chance(30)) {  // something is not known yet
                    scratch.input.known &= ~(1u << cases.below(4));
                    scratch.input.object.atoms.is_known &= cases.below(16);
                }
                const bool passes = kernel.passes(program.get(), scratch);
                selected += wanted ? 1 : 0;
                dropped += passes ? 0 : 1;
                must_drop += clear && !wanted ? 1 : 0;
                ASSERT_FALSE(wanted && !passes) << "seed " << kSeed + round << ": dropped "
                                                << event.header.sequence << ": " << text;
                ASSERT_FALSE(clear && passes && !wanted) << "seed " << kSeed + round << ": kept "
                                                         << event.header.sequence << ": " << text;
            }
        }
    }
    EXPECT_GT(selected, 30'000u);
    EXPECT_GT(dropped, 100'000u);
    EXPECT_GT(must_drop, 5'000u);
    RecordProperty("largest_program", static_cast<int>(largest));
}

TEST(BpfFilter, goes_on_to_the_program_in_the_table) {
    const Kernel kernel;
    ASSERT_TRUE(kernel.works());
    bpf_attr attr{};
    attr.map_type = BPF_MAP_TYPE_PROG_ARRAY;
    attr.key_size = 4;
    attr.value_size = 4;
    attr.max_entries = 4;
    const FileDescriptor programs(bpf(BPF_MAP_CREATE, attr));
    ASSERT_GE(programs.get(), 0);
    std::string log;
    const FileDescriptor next(load_program(compiled("TRUE", kernel.layout()).instructions, log));
    ASSERT_GE(next.get(), 0) << log.c_str();
    const std::uint32_t key = 2;
    const int value = next.get();
    bpf_attr update{};
    update.map_fd = static_cast<std::uint32_t>(programs.get());
    update.key = address_of(&key);
    update.value = address_of(&value);
    ASSERT_EQ(bpf(BPF_MAP_UPDATE_ELEM, update), 0);
    BpfLayout layout = kernel.layout();
    layout.program_array_fd = programs.get();
    layout.passed_index = 2;
    const FileDescriptor filter(load_program(compiled("fd = 3", layout).instructions, log));
    ASSERT_GE(filter.get(), 0) << log.c_str();
    Scratch scratch{};
    scratch.event.present = SyscallEvent::kHasFd;
    scratch.event.fd = 3;
    EXPECT_TRUE(kernel.passes(filter.get(), scratch));
    scratch.event.fd = 4;
    EXPECT_FALSE(kernel.passes(filter.get(), scratch));
}

TEST(BpfFilter, judges_a_task_whatever_the_event_is) {
    const Kernel kernel;
    ASSERT_TRUE(kernel.works());
    BpfLayout layout = kernel.layout();
    layout.task_only = true;
    const auto passes = [&](const char* condition, const Scratch& scratch) {
        std::string log;
        const FileDescriptor program(load_program(compiled(condition, layout).instructions, log));
        EXPECT_GE(program.get(), 0) << log.c_str();
        return kernel.passes(program.get(), scratch);
    };
    Scratch scratch{};
    scratch.input.known = FILTER_KNOWS_TASK;
    scratch.input.task.pid = 7;
    put_text(scratch.input.task.comm, "cat");
    EXPECT_TRUE(passes("pid = 7 AND bytes > 5", scratch));
    EXPECT_FALSE(passes("pid = 8 AND bytes > 5", scratch));
    EXPECT_TRUE(passes("pid = 8 OR bytes > 5", scratch));
    EXPECT_FALSE(passes("comm = 'dog' AND kind = 'syscall'", scratch));
    EXPECT_FALSE(passes("NOT (comm = 'cat' OR fd = 1)", scratch));
    EXPECT_TRUE(passes("NOT (comm = 'cat' AND fd = 1)", scratch));
}

TEST(BpfFilter, passes_all_when_the_condition_is_too_large) {
    const Kernel kernel;
    ASSERT_TRUE(kernel.works());
    std::string list = "start_ns IN (1";
    for (int i = 0; i < 9000; ++i) {
        list += "," + std::to_string(2 * i);
    }
    const BpfFilter filter = compiled((list + ")").c_str(), kernel.layout());
    EXPECT_TRUE(filter.too_large);
    EXPECT_EQ(filter.undecided.size(), 1u);
    std::string log;
    const FileDescriptor program(load_program(filter.instructions, log));
    ASSERT_GE(program.get(), 0) << log.c_str();
    EXPECT_TRUE(kernel.passes(program.get(), {}));
    const BpfFilter fits =
        compiled((list.substr(0, list.find(",2000,")) + ")").c_str(), kernel.layout());
    EXPECT_FALSE(fits.too_large);
}

}  // namespace
}  // namespace dyetrace::filter
