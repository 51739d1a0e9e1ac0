// The generated programs, loaded and run by the kernel, against the Evaluator.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "filter/bpf_compiler.h"
#include "filter/bpf_fixture.h"
#include "filter/evaluator.h"
#include "filter/random_cases.h"

namespace dyetrace::filter {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace): it is for these tests
using schema::Attachment;
using schema::SyscallEvent;

BpfFilter compiled(const char* condition, const BpfLayout& layout) {
    StringAtoms atoms;
    return compile_bpf(Predicate::parse(condition).value(), layout, atoms);
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
