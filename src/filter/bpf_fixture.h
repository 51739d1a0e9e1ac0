// Runs generated programs in the kernel, on events that tests make up. Needs CAP_BPF and CAP_PERFMON.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "filter/bpf_compiler.h"
#include "filter/random_cases.h"
#include "schema/dictionary.h"
#include "schema/record.h"
#include "schema/shared/filter_match.h"
#include "schema/text.h"

namespace dyetrace::filter::fixture {

using schema::Attachment;
using schema::SyscallEvent;

inline int bpf(int command, bpf_attr& attr) {
    return static_cast<int>(syscall(SYS_bpf, command, &attr, sizeof(attr)));
}

inline std::uint64_t address_of(const void* p) {
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

// What lies in the per-CPU value; the offsets are odd on purpose.
struct Scratch {
    std::uint64_t before[3];
    SyscallEvent event;
    std::uint64_t between[5];
    filter_input input;
};

inline int create_scratch_map() {
    bpf_attr attr{};
    attr.map_type = BPF_MAP_TYPE_ARRAY;
    attr.key_size = 4;
    attr.value_size = sizeof(Scratch);
    attr.max_entries = 1;
    return bpf(BPF_MAP_CREATE, attr);
}

// The verifier's words are asked for only after a refusal: a log that is too small is one itself.
inline int load_program(const std::vector<bpf_insn>& code, std::string& log) {
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
    bool passes(int program, const Scratch& scratch) const { return run(program, scratch) == 1; }

    // What the program returns.
    std::uint32_t run(int program, Scratch scratch) const {
        const std::uint32_t key = 0;
        bpf_attr update{};
        update.map_fd = static_cast<std::uint32_t>(map_.get());
        update.key = address_of(&key);
        update.value = address_of(&scratch);
        EXPECT_EQ(bpf(BPF_MAP_UPDATE_ELEM, update), 0);
        bpf_attr trial{};
        trial.test.prog_fd = static_cast<std::uint32_t>(program);
        EXPECT_EQ(bpf(BPF_PROG_TEST_RUN, trial), 0);
        return trial.test.retval;
    }

  private:
    FileDescriptor map_;
};

inline void add_text(filter_verdicts& verdicts,
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

inline void add_path(filter_verdicts& verdicts,
                     const std::vector<filter_atom>& atoms,
                     const std::string* path) {
    if (path != nullptr) {
        add_text(verdicts, atoms, FILTER_SUBJECT_PATH, *path);
    }
}

inline void put_address(__u8 (&to)[16], std::uint16_t family, const std::string& text) {
    if (!text.empty()) {
        inet_pton(family, text.c_str(), to);
    }
}

inline void fill_task(filter_input& input,
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

inline void fill_ends(filter_ends& ends, const schema::SocketEnds& socket) {
    ends.family = socket.family;
    ends.local_port = socket.local_port;
    ends.remote_port = socket.remote_port;
    ends.connection_id = socket.connection_id;
    put_address(ends.local_address, ends.family, socket.local_address);
    put_address(ends.remote_address, ends.family, socket.remote_address);
}

inline void fill_object(filter_input& input,
                        const schema::Object& object,
                        const std::vector<filter_atom>& atoms) {
    input.known |= FILTER_KNOWS_OBJECT;
    input.object.object_id = static_cast<std::uint32_t>(object.object_id);
    input.object.object_type = static_cast<std::uint16_t>(object.object_type);
    put_text(input.object.file_system, object.file_system);
    add_path(input.object.atoms, atoms, object.name());
    if (object.socket) {
        fill_ends(input.object.ends, *object.socket);
    }
}

inline void fill_attachments(filter_input& input,
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
inline Scratch scratch_of(const SyscallEvent& event,
                          const schema::Dictionary& dictionary,
                          const std::vector<filter_atom>& atoms) {
    Scratch scratch{};
    scratch.event = event;
    filter_input& input = scratch.input;
    input.cpu = 2;
    if (const auto* task = dictionary.task(event.context_id)) {
        fill_task(input, *task, atoms);
    }
    const auto object_of = [&](std::uint32_t present, std::uint32_t handle) {
        return (event.present & present) != 0 ? dictionary.object(handle) : nullptr;
    };
    if (const auto* object = object_of(SyscallEvent::kHasHandle, event.handle_id)) {
        fill_object(input, *object, atoms);
    }
    if (const auto* object = object_of(SyscallEvent::kHasHandle2, event.handle2_id)) {
        input.known |= FILTER_KNOWS_OBJECT2;
        input.object2_id = static_cast<std::uint32_t>(object->object_id);
        add_path(input.object2_atoms, atoms, object->name());
        if (object->socket && input.object.ends.family == 0) {
            fill_ends(input.object.ends, *object->socket);
        }
    }
    fill_attachments(input, event, atoms);
    return scratch;
}

}  // namespace dyetrace::filter::fixture
