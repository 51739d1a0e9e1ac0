#include <gtest/gtest.h>

#include "schema/record_builder.h"
#include "strace/trace_options.h"
#include "strace/trace_output.h"

namespace dyetrace::strace {
namespace {

std::uint16_t number_of(std::string_view name, schema::Abi abi = schema::Abi::kX8664) {
    for (const schema::SyscallInfo& call : schema::syscalls_of(abi)) {
        if (call.name == name) {
            return call.number;
        }
    }
    ADD_FAILURE() << name;
    return 0;
}

bool has(std::string_view list, std::string_view call) {
    auto set = CallSet::parse(list);
    EXPECT_TRUE(set.ok()) << list;
    return set.ok() && set.value().has(schema::Abi::kX8664, number_of(call));
}

TEST(CallSet, speaks_strace) {
    EXPECT_TRUE(has("openat,close", "close"));
    EXPECT_FALSE(has("openat,close", "read"));
    EXPECT_FALSE(has("!openat,close", "close"));
    EXPECT_TRUE(has("!openat,close", "read"));
    EXPECT_TRUE(has("/^sched_", "sched_yield"));
    EXPECT_TRUE(has("257", "openat"));
    EXPECT_TRUE(has("all", "read"));
    EXPECT_FALSE(has("none", "read"));
    EXPECT_FALSE(has("!all", "read"));
    EXPECT_FALSE(has("?notacall", "read"));
    EXPECT_FALSE(has("read@32", "read"));
    EXPECT_FALSE(CallSet::parse("opennat").ok());
    EXPECT_FALSE(CallSet::parse("%nogroup").ok());
    EXPECT_EQ(CallSet::parse("read,opennat").error().message(),
              "'opennat' is no system call or group of them");
}

TEST(CallSet, knows_the_groups) {
    EXPECT_TRUE(has("%file", "openat") && has("file", "execve") && has("%file", "rename") &&
                !has("%file", "read"));
    EXPECT_TRUE(has("%desc", "read") && has("%desc", "openat") && has("%desc", "epoll_wait") &&
                !has("%desc", "unlink"));
    EXPECT_TRUE(has("%network", "sendto") && has("%net", "socket") && !has("%network", "read"));
    EXPECT_TRUE(has("%memory", "mmap") && has("%memory", "brk") && !has("%memory", "read"));
    EXPECT_TRUE(has("%process", "clone") && has("process", "wait4") && !has("%process", "setuid"));
    EXPECT_TRUE(has("%signal", "rt_sigaction") && has("signal", "kill") == has("%signal", "kill"));
    EXPECT_TRUE(has("stat", "stat") && !has("stat", "lstat") && has("%%stat", "statx") &&
                !has("%stat", "statx"));
    EXPECT_TRUE(has("%creds", "setuid") && has("%creds", "getresgid") && !has("%creds", "getpid"));
}

TEST(TraceOptions, stop_at_the_command) {
    auto options = parse_trace_options(
        {"-fyy", "-T", "-ttt", "-s", "100", "-e", "status=failed", "ls", "-l", "-f"});
    ASSERT_TRUE(options.ok());
    EXPECT_EQ(options.value().command, (std::vector<std::string>{"ls", "-l", "-f"}));
    EXPECT_TRUE(options.value().follow);
    EXPECT_EQ(options.value().style.names, format::Names::kAll);
    EXPECT_EQ(options.value().style.time, format::TimeStyle::kUnix);
    EXPECT_EQ(options.value().style.duration_digits, 6);
    EXPECT_EQ(options.value().style.time_digits, 6);
    EXPECT_EQ(options.value().style.limits.text_max, 100u);
    EXPECT_FALSE(options.value().statuses.successful);
    EXPECT_TRUE(options.value().statuses.failed);
}

TEST(TraceOptions, take_processes_and_values_beside_their_letter) {
    auto options = parse_trace_options(
        {"-p", "1,2", "-p3", "-oout", "--json", "--color=never", "-P", "/etc/*"});
    ASSERT_TRUE(options.ok());
    EXPECT_EQ(options.value().processes, (std::vector<std::int32_t>{1, 2, 3}));
    EXPECT_EQ(options.value().output, "out");
    EXPECT_EQ(options.value().form, TraceForm::kJson);
    EXPECT_EQ(options.value().colour, format::ColourMode::kNever);
    EXPECT_EQ(options.value().paths, std::vector<std::string>{"/etc/*"});
}

TEST(TraceOptions, are_all_taken_or_refused_with_a_reason) {
    for (const TraceOption& option : trace_options()) {
        const std::string value = option.name == "attach"              ? "1"
                                  : option.value == "N"                ? "9"
                                  : option.value == "COLUMN"           ? "9"
                                  : option.name == "status"            ? "failed"
                                  : option.name == "signal"            ? "none"
                                  : option.name == "const-print-style" ? "raw"
                                  : option.name == "color"             ? "never"
                                  : option.name == "summary-sort-by"   ? "calls"
                                                                       : "all";
        std::vector<std::vector<std::string>> spellings;
        if (option.letter != 0) {
            spellings.push_back({std::string("-") + option.letter});
        }
        if (!option.name.empty()) {
            spellings.push_back({"--" + std::string(option.name)});
        }
        ASSERT_FALSE(spellings.empty());
        for (std::vector<std::string>& arguments : spellings) {
            const std::string spelling = arguments[0];
            if (!option.value.empty() && option.value.front() != '[') {
                arguments.push_back(value);
            }
            if (option.name == "summary-wall-clock") {
                arguments.push_back("-c");
            }
            if (option.name != "attach") {
                arguments.insert(arguments.end(), {"--", "ls"});
            }
            const auto options = parse_trace_options(arguments);
            EXPECT_EQ(options.ok(), !option.help.empty()) << spelling;
            if (!options.ok()) {
                const std::string& said = options.error().message();
                EXPECT_TRUE(said.starts_with(spelling + " "));
            }
        }
    }
}

TEST(TraceOptions, have_no_effect_in_silence) {
    const auto notes = [](const std::vector<std::string>& arguments) {
        return parse_trace_options(arguments).value().notes;
    };
    using Notes = std::vector<std::string>;
    EXPECT_EQ(notes({"-A", "ls"}), Notes{"-A has no effect without -o"});
    EXPECT_EQ(notes({"-ff", "ls"}), Notes{"-ff without -o is -f: there are no files to separate"});
    EXPECT_EQ(notes({"-c", "-T", "-e", "raw=read", "ls"}),
              (Notes{"-T has no effect with -c", "-e raw=… has no effect with -c"}));
    EXPECT_EQ(notes({"--json", "-y", "ls"}), Notes{"-y has no effect with --json"});
    EXPECT_EQ(notes({"-ff", "-A", "-o", "x", "-T", "ls"}).size(), 0u);
    EXPECT_EQ(notes({"-C", "-T", "ls"}).size(), 0u);
}

TEST(TraceOptions, write_where_strace_does) {
    const auto options = parse_trace_options({"-ffA", "-o", "x", "ls"}).value();
    EXPECT_TRUE(options.follow && options.separately && options.append);
    EXPECT_TRUE(parse_trace_options({"-f", "-f", "-ox", "ls"}).value().separately);
    EXPECT_FALSE(parse_trace_options({"--output-separately", "-ox", "ls"}).value().follow);
    EXPECT_FALSE(parse_trace_options({"-p", "1"}).value().follow);
}

TEST(TraceOptions, say_units_of_time) {
    const auto style = [](const std::vector<std::string>& arguments) {
        return parse_trace_options(arguments).value().style;
    };
    EXPECT_EQ(style({"--syscall-times=ns", "ls"}).duration_digits, 9);
    EXPECT_EQ(style({"-r", "ls"}).relative_digits, 6);
    EXPECT_EQ(style({"--relative-timestamps=s", "ls"}).relative_digits, 0);
    EXPECT_EQ(style({"-t", "ls"}).time_digits, 0);
    const auto unix = style({"--absolute-timestamps=format:unix,precision:ms", "ls"});
    EXPECT_EQ(unix.time, format::TimeStyle::kUnix);
    EXPECT_EQ(unix.time_digits, 3);
}

TEST(TraceOptions, choose_signals_and_messages) {
    const auto signals = parse_trace_options({"-e", "signal=TERM,SIGKILL,1", "ls"}).value().signals;
    EXPECT_EQ(signals.count(), 3u);
    EXPECT_TRUE(signals[15] && signals[9] && signals[1]);
    EXPECT_FALSE(parse_trace_options({"--signal=!HUP", "ls"}).value().signals[1]);
    EXPECT_FALSE(parse_trace_options({"--signal=!hup", "ls"}).value().signals[1]);
    EXPECT_TRUE(parse_trace_options({"-q", "ls"}).value().ends);
    EXPECT_FALSE(parse_trace_options({"-qq", "ls"}).value().ends);
    EXPECT_FALSE(parse_trace_options({"-e", "quiet=exit", "ls"}).value().ends);
}

TEST(TraceOptions, have_values_after_an_equals_sign_or_in_the_next_word) {
    EXPECT_EQ(parse_trace_options({"--output=a", "ls"}).value().output, "a");
    EXPECT_EQ(parse_trace_options({"--output", "a", "ls"}).value().output, "a");
    EXPECT_EQ(parse_trace_options({"--decode-fds=all", "ls"}).value().style.names,
              format::Names::kAll);
    EXPECT_TRUE(parse_trace_options({"-q", "-a", "40", "ls"}).ok());
}

TEST(TraceOptions, say_what_else_of_processes) {
    const auto pids = [](const std::vector<std::string>& arguments) {
        return parse_trace_options(arguments).value().style.pids;
    };
    EXPECT_FALSE(pids({"ls"}).names || pids({"ls"}).translation);
    EXPECT_TRUE(pids({"-Y", "ls"}).names && !pids({"-Y", "ls"}).translation);
    EXPECT_TRUE(pids({"--pidns-translation", "ls"}).translation);
    for (const std::string both : {"comm,pidns", "all"}) {
        EXPECT_TRUE(pids({"--decode-pids=" + both, "ls"}).names);
        EXPECT_TRUE(pids({"-e", "decode-pid=" + both, "ls"}).translation);
    }
    EXPECT_EQ(parse_trace_options({"--decode-pids=cmd", "ls"}).error().message(),
              "'cmd' is no value of --decode-pids: none, comm, pidns, all");
}

TEST(TraceOptions, say_how_constants_and_strings_look_and_what_is_dumped) {
    const auto limits = [](const std::vector<std::string>& arguments) {
        return parse_trace_options(arguments).value().style.limits;
    };
    EXPECT_EQ(limits({"-X", "raw", "ls"}).constants, format::Constants::kNumbers);
    EXPECT_EQ(limits({"-Xverbose", "ls"}).constants, format::Constants::kBoth);
    EXPECT_EQ(limits({"--const-print-style=abbrev", "ls"}).constants, format::Constants::kNames);
    EXPECT_EQ(limits({"-x", "ls"}).quotes, format::Quotes::kHexIfAny);
    EXPECT_EQ(limits({"-xx", "ls"}).quotes, format::Quotes::kHex);
    const auto options = parse_trace_options({"-e", "read=0,5", "-ewrite=!1", "-c", "ls"}).value();
    EXPECT_TRUE(options.dump_reads.has(5) && !options.dump_reads.has(1));
    EXPECT_TRUE(options.dump_writes.has(5) && !options.dump_writes.has(1));
    EXPECT_FALSE(parse_trace_options({"-e", "read=none", "ls"}).value().dump_reads.has(0));
    EXPECT_TRUE(parse_trace_options({"-e", "read=all", "ls"}).value().dump_reads.has(0));
    const auto twice = parse_trace_options({"-e", "read=!!0", "ls"}).value().dump_reads;
    EXPECT_TRUE(twice.has(0) && !twice.has(1));
}

TEST(TraceOptions, say_what_is_wrong) {
    const auto message = [](const std::vector<std::string>& arguments) {
        return parse_trace_options(arguments).error().message();
    };
    EXPECT_EQ(message({}), "say what to trace: a command, or processes with -p");
    EXPECT_EQ(message({"-p", "1", "ls"}), "a command and -p at once: take one of them");
    EXPECT_EQ(message({"-s"}), "-s wants a value");
    EXPECT_EQ(message({"--output"}), "--output wants a value");
    EXPECT_EQ(message({"--json=1", "ls"}), "--json takes no value");
    EXPECT_EQ(message({"--bogus", "ls"}), "--bogus is not known (dyetrace trace --help)");
    EXPECT_EQ(message({"-E", "A=1", "ls"}),
              "-E would need to stop or change the program; dyetrace only watches");
    EXPECT_EQ(message({"-X", "bold", "ls"}),
              "'bold' is no style of constants: abbrev, raw, verbose");
    EXPECT_EQ(message({"-e", "read=a", "ls"}), "'a' is no descriptor");
    EXPECT_EQ(message({"-w", "ls"}), "-w is about the table of -c or -C: give one of them");
    EXPECT_EQ(message({"-c", "-C", "ls"}),
              "-c, -C and --json are three forms of output: take one of them");
    EXPECT_EQ(message({"-ff", "-c", "-ox", "ls"}), "-ff cannot write one table to several files");
    EXPECT_EQ(message({"-ff", "-o|cat", "ls"}), "-ff cannot write several files into one command");
    EXPECT_EQ(message({"--syscall-times=m", "ls"}), "'m' is no precision: s, ms, us, ns");
    EXPECT_EQ(message({"-e", "signal=NONE", "ls"}), "'NONE' is no signal");
    EXPECT_EQ(message({"-e", "nothing=all", "ls"}),
              "-e nothing=… is not known (dyetrace trace --help)");
    EXPECT_EQ(message({"-s", "x", "ls"}), "'x' is no number of bytes");
    EXPECT_EQ(message({"-k", "ls"}), "-k is not known (dyetrace trace --help)");
    EXPECT_EQ(message({"-e", "inject=all:error=EIO", "ls"}),
              "-e inject=… would need to stop or change the program; dyetrace only watches");
    EXPECT_EQ(message({"-e", "status=bad", "ls"}),
              "'bad' is no status: successful, failed, unfinished");
}

schema::OwnedRecord call(std::string_view name,
                         std::uint64_t end_ns,
                         std::int64_t result,
                         std::string_view path = {}) {
    schema::SyscallEvent event{};
    event.syscall = number_of(name);
    event.start_ns = end_ns - 5;
    event.duration_ns = 5;
    event.result = result;
    event.present = schema::SyscallEvent::kHasDuration | schema::SyscallEvent::kHasResult;
    return path.empty() ? schema::build(event)
                        : schema::build(event, {{schema::Attachment::kPath, path}});
}

std::string output_of(const std::vector<std::string>& arguments,
                      const std::vector<schema::OwnedRecord>& events) {
    auto parsed = parse_trace_options(arguments);
    EXPECT_TRUE(parsed.ok());
    const TraceOptions options = std::move(parsed).value();
    schema::Dictionary dictionary;
    std::string out;
    TraceOutput output(options,
                       dictionary,
                       line_printer(options.style, dictionary),
                       [&](std::uint32_t tid, std::string_view text) {
                           out += tid == 0 ? "" : std::to_string(tid) + ": ";
                           out += text;
                       });
    std::uint32_t cpu = 0;
    for (const schema::OwnedRecord& event : events) {
        const bool is_event = schema::as<schema::ThreadEnd>(event.bytes()) == nullptr;
        output.take(
            cpu++, is_event ? schema::Stream::kEvents : schema::Stream::kFacts, event.bytes());
    }
    output.flush(TraceOutput::kLast);
    return out + (options.form == TraceForm::kSummary ? output.summary() : "");
}

TEST(TraceOutput, puts_calls_of_several_cpus_in_the_order_of_their_ends) {
    std::vector<schema::OwnedRecord> events;
    events.push_back(call("getuid", 30, 0));
    events.push_back(call("getpid", 20, 7));
    EXPECT_EQ(output_of({"x"}, events),
              "getpid()                                = 7\n"
              "getuid()                                = 0\n");
}

TEST(TraceOutput, shows_only_what_was_asked_for) {
    std::vector<schema::OwnedRecord> events;
    events.push_back(call("unlink", 10, -2, "/tmp/a"));
    events.push_back(call("unlink", 20, 0, "/tmp/b"));
    events.push_back(call("getpid", 30, 7));
    EXPECT_EQ(
        output_of({"-Z", "x"}, events),
        "unlink(\"/tmp/a\")                        = -1 ENOENT (No such file or directory)\n");
    EXPECT_EQ(output_of({"-z", "-e", "%file", "x"}, events),
              "unlink(\"/tmp/b\")                        = 0\n");
    EXPECT_EQ(output_of({"-P", "/tmp/b", "x"}, events),
              "unlink(\"/tmp/b\")                        = 0\n");
    EXPECT_EQ(output_of({"-P", "/var/*", "x"}, events), "");
    EXPECT_EQ(output_of({"-c", "-e", "unlink", "x"}, events),
              "% time     seconds  usecs/call     calls    errors syscall\n"
              "------ ----------- ----------- --------- --------- ----------------\n"
              "100.00    0.000000           0         2         1 unlink\n"
              "------ ----------- ----------- --------- --------- ----------------\n"
              "100.00    0.000000           0         2         1 total\n");
}

TEST(TraceOutput, shows_a_call_for_a_file_in_its_set) {
    const TraceOptions options = parse_trace_options({"-P", "/dev/full", "-a1", "x"}).value();
    const auto handle = [](std::uint32_t id, std::string_view path) {
        schema::Handle named{};
        named.handle_id = id;
        return schema::build(named, {{schema::Attachment::kPath, path}});
    };
    schema::Dictionary dictionary;
    dictionary.add(handle(1, "/dev/null").bytes());
    dictionary.add(handle(2, "/dev/full").bytes());
    std::string out;
    TraceOutput output(options,
                       dictionary,
                       line_printer(options.style, dictionary),
                       [&](std::uint32_t, std::string_view text) { out += text; });
    const auto take = [&](std::uint32_t cpu, std::uint64_t sequence, std::uint32_t touched) {
        schema::OwnedRecord poll = call("poll", 10 + sequence, 1);
        schema::SyscallEvent event = *schema::as<schema::SyscallEvent>(poll.bytes());
        event.header.sequence = sequence;
        event.arguments[1] = sequence;
        output.take(cpu, schema::Stream::kEvents, schema::build(event).bytes());
        schema::EventObject object{};
        object.parent_sequence = sequence;
        object.handle_id = touched;
        output.take(cpu, schema::Stream::kEvents, schema::build(object).bytes());
        output.take(cpu, schema::Stream::kEvents, schema::build(object).bytes());
    };
    take(0, 3, 1);
    take(0, 4, 2);
    take(1, 5, 0);
    output.flush(TraceOutput::kLast);
    EXPECT_EQ(out, "poll(NULL, 4, 0) = 1 ()\n");
    EXPECT_EQ(output.shown(), 1u);
    EXPECT_EQ(output.hidden(), 2u);
}

TEST(TraceOutput, puts_the_end_of_a_thread_after_its_calls) {
    schema::ThreadEnd end{};
    end.end_ns = 20;
    end.tid = 7;
    std::vector<schema::OwnedRecord> records;
    records.push_back(schema::build(end));
    records.push_back(call("getpid", 10, 7));
    EXPECT_EQ(output_of({"x"}, records),
              "getpid()                                = 7\n"
              "+++ exited with 0 +++\n");
    EXPECT_EQ(output_of({"-ff", "-ofile", "-qe", "!getpid", "x"}, records),
              "7: +++ exited with 0 +++\n");
    EXPECT_EQ(output_of({"-qq", "-e", "none", "x"}, records), "");
    end.exit_code = 15;
    records[0] = schema::build(end);
    EXPECT_EQ(output_of({"-e", "none", "-e", "signal=TERM", "x"}, records),
              "+++ killed by SIGTERM +++\n");
    EXPECT_EQ(output_of({"-e", "none", "-e", "signal=!TERM", "x"}, records), "");
}

TEST(TraceOutput, shows_the_signals_that_were_asked_for) {
    schema::SignalEvent term{}, last{};
    term.start_ns = 15;
    term.signal = 15;
    last.start_ns = 16;
    last.signal = 9;
    std::vector<schema::OwnedRecord> records;
    records.push_back(schema::build(last));
    records.push_back(schema::build(term));
    records.push_back(call("getpid", 10, 7));
    EXPECT_EQ(output_of({"x"}, records),
              "getpid()                                = 7\n"
              "--- SIGTERM {si_signo=SIGTERM} ---\n");
    EXPECT_EQ(output_of({"-e", "none", "-P", "/none", "-e", "signal=TERM", "x"}, records),
              "--- SIGTERM {si_signo=SIGTERM} ---\n");
    EXPECT_EQ(output_of({"-e", "none", "-e", "signal=!TERM", "x"}, records), "");
    EXPECT_EQ(output_of({"-e", "none", "-e", "signal=none", "x"}, records), "");
    EXPECT_EQ(output_of({"-c", "x"}, records).find("SIGTERM"), std::string::npos);
}

TEST(TraceOutput, adds_up_time_on_a_cpu_or_all_of_it) {
    schema::SyscallEvent event{};
    event.syscall = number_of("nanosleep");
    event.duration_ns = 9'000'000;
    event.off_cpu_ns = 8'000'000;
    event.present = schema::SyscallEvent::kHasDuration | schema::SyscallEvent::kHasResult;
    std::vector<schema::OwnedRecord> events;
    events.push_back(schema::build(event));
    EXPECT_NE(output_of({"-c", "x"}, events).find("    0.001000        1000"), std::string::npos);
    EXPECT_NE(output_of({"-cw", "x"}, events).find("    0.009000        9000"), std::string::npos);
}

}  // namespace
}  // namespace dyetrace::strace
