// Tests and benches make records here as a busy database does, from a seed.
//
//   SyntheticRecords records(SyntheticOptions{.seed = 1, .cpus = 2});
//   records.facts(cpu)          one task_context per backend, one handle per file, sockets: append them first
//   records.append_event(cpu, bytes)   the next system call of a backend on that CPU
//
// A backend repeats: wait for a request, receive it, look up the size of a table, read pages at random, append to the log
// and flush it, answer, and now and then open a file. Times, pointers and offsets vary
// more than in a real recording: 34 bytes an event in segments and 20.8 in Parquet, against 25 and 13.8 of PostgreSQL under
// pgbench.
#pragma once

#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "schema/generated/records.h"
#include "schema/record_info.h"

namespace dyetrace::trace {

struct SyntheticOptions {
    std::uint64_t seed = 1;
    std::uint16_t cpus = 2;
    std::uint32_t backends = 16;
    std::uint32_t files = 40;
};

class SyntheticRecords {
  public:
    explicit SyntheticRecords(SyntheticOptions options = {})
        : options_(options),
          random_(options.seed),
          clock_ns_(options.cpus, 3'600'000'000'000),
          sequences_(options.cpus * 2u) {
        for (std::uint32_t i = 0; i < options.backends; ++i) {
            backends_.push_back({.context_id = i + 1,
                                 .buffer = 0x7f0000000000 + (random_() & 0xfffffff000),
                                 .step = random_() % 9});
        }
    }

    std::vector<std::byte> facts(std::uint16_t cpu) {
        std::vector<std::byte> bytes;
        for (std::uint32_t i = cpu; i < options_.backends; i += options_.cpus) {
            add_context(cpu, bytes, i);
        }
        for (std::uint32_t i = cpu; i < options_.files + options_.backends; i += options_.cpus) {
            add_handle(cpu, bytes, i);
        }
        return bytes;
    }

    void append_event(std::uint16_t cpu, std::vector<std::byte>& bytes) {
        schema::SyscallEvent event{};
        Backend& backend =
            backends_[cpu + options_.cpus * (random_() % (options_.backends / options_.cpus))];
        std::string path;
        fill(event, backend, path);
        const std::uint64_t start = clock_ns_[cpu] += 800 + random_() % 4000;
        event.start_ns = start - event.duration_ns;
        add(cpu, schema::Stream::kEvents, bytes, event, path);
    }

    std::vector<std::byte> events(std::uint16_t cpu, std::size_t count) {
        std::vector<std::byte> bytes;
        for (std::size_t i = 0; i < count; ++i) {
            append_event(cpu, bytes);
        }
        return bytes;
    }

    // Any record, with its header filled in and up to one attachment of kind `path`.
    template <typename Record>
    void add(std::uint16_t cpu,
             schema::Stream stream,
             std::vector<std::byte>& bytes,
             Record record,
             std::string_view path = {}) {
        const std::size_t attached =
            path.empty() ? 0
                         : sizeof(schema::AttachmentHeader) + ((path.size() + 7) & ~std::size_t{7});
        record.header.size = static_cast<std::uint32_t>(sizeof(Record) + attached);
        record.header.type = Record::kId;
        record.header.sequence = sequences_[cpu * 2u + static_cast<unsigned>(stream)]++;
        if constexpr (requires { record.attachments; }) {
            record.attachments = static_cast<std::uint16_t>(attached);
        }
        const std::size_t at = bytes.size();
        bytes.resize(at + record.header.size);
        std::memcpy(bytes.data() + at, &record, sizeof(record));
        if (attached > 0) {
            const schema::AttachmentHeader header{
                static_cast<std::uint16_t>(schema::Attachment::kPath),
                static_cast<std::uint16_t>(path.size()),
                0};
            std::memcpy(bytes.data() + at + sizeof(record), &header, sizeof(header));
            std::memcpy(
                bytes.data() + at + sizeof(record) + sizeof(header), path.data(), path.size());
        }
    }

  private:
    struct Backend {
        std::uint32_t context_id;
        std::uint64_t buffer;
        std::uint64_t step;
    };

    void add_context(std::uint16_t cpu, std::vector<std::byte>& bytes, std::uint32_t index) {
        schema::TaskContext context{};
        context.valid_from_ns = clock_ns_[cpu];
        context.context_id = index + 1;
        context.pid = context.tid = 1000 + index;
        context.ppid = 999;
        context.thread_start_ns = context.process_start_ns =
            1'000'000'000 + index * 1'000'000'000ull;
        std::memcpy(context.comm, "postgres", 8);
        add(cpu, schema::Stream::kFacts, bytes, context);
    }

    // Handles 1…files are files, those after them the backends' sockets.
    void add_handle(std::uint16_t cpu, std::vector<std::byte>& bytes, std::uint32_t index) {
        const bool is_file = index < options_.files;
        schema::Handle handle{};
        handle.valid_from_ns = clock_ns_[cpu];
        handle.handle_id = handle.object_id = index + 1;
        handle.inode = 500'000 + index;
        handle.device = 0x800001;
        handle.object_type = static_cast<std::uint8_t>(is_file ? schema::ObjectType::kFile
                                                               : schema::ObjectType::kSocket);
        std::memcpy(handle.file_system, is_file ? "ext4" : "sockfs", is_file ? 4 : 6);
        add(cpu,
            schema::Stream::kFacts,
            bytes,
            handle,
            is_file ? "/var/lib/postgresql/15/main/base/5/" + std::to_string(16000 + index) : "");
        if (!is_file) {
            schema::Socket socket{};
            socket.valid_from_ns = clock_ns_[cpu];
            socket.handle_id = socket.object_id = index + 1;
            socket.family = 2;
            socket.socket_type = 1;
            socket.protocol = 6;
            socket.local_port = 5432;
            socket.remote_port = static_cast<std::uint16_t>(40000 + index);
            socket.local_address[0] = socket.remote_address[0] = 127;
            socket.local_address[3] = socket.remote_address[3] = 1;
            add(cpu, schema::Stream::kFacts, bytes, socket);
        }
    }

    void fill(schema::SyscallEvent& event, Backend& backend, std::string& path) {
        using E = schema::SyscallEvent;
        event.context_id = backend.context_id;
        event.duration_ns = 300 + (random_() % 700) * (1 + random_() % 4);
        event.present = E::kHasDuration | E::kHasResult;
        switch (backend.step++ % 9) {
            case 0:
                return wait(event, backend);
            case 1:
                return socket_call(
                    event, backend, 45, 20 + static_cast<std::int64_t>(random_() % 60));
            case 2:
                return seek(event);
            case 3:
            case 4:
            case 5:
                return page(event, backend, 17);
            case 6:
                return page(event, backend, 18);
            case 7:
                return random_() % 4 == 0 ? open(event, path) : flush(event);
            default:
                return socket_call(
                    event, backend, 44, 30 + static_cast<std::int64_t>(random_() % 200));
        }
    }

    void on_file(schema::SyscallEvent& event) {
        const auto handle =
            static_cast<std::uint32_t>(random_() % (1 + random_() % options_.files));
        event.handle_id = handle + 1;
        event.fd = static_cast<std::int32_t>(handle + 5);
        event.arguments[0] = static_cast<std::uint64_t>(event.fd);
        event.open_flags = 02;
        event.event_class = static_cast<std::uint8_t>(schema::Class::kFile);
        event.object_size = 8192 * (1000 + handle * 531);
        using E = schema::SyscallEvent;
        event.present |= E::kHasFd | E::kHasHandle | E::kHasOpenFlags | E::kHasObjectSize;
    }

    void wait(schema::SyscallEvent& event, const Backend& backend) {
        event.syscall = 232;
        event.fd = 3;
        event.arguments[0] = 3;
        event.arguments[1] = backend.buffer + 0x900;
        event.arguments[2] = 1;
        event.arguments[3] = UINT32_MAX;
        event.arguments[4] = 8;
        event.duration_ns = 2000 + random_() % 500'000;
        event.off_cpu_ns = event.duration_ns - 1500;
        event.result = 1;
        event.event_class = static_cast<std::uint8_t>(schema::Class::kWait);
        event.present |= schema::SyscallEvent::kHasFd;
    }

    void socket_call(schema::SyscallEvent& event,
                     Backend& backend,
                     std::uint16_t number,
                     std::int64_t bytes) {
        using E = schema::SyscallEvent;
        event.syscall = number;
        event.handle_id = options_.files + backend.context_id;
        event.fd = 9;
        event.arguments[0] = 9;
        event.arguments[1] = backend.buffer;
        event.requested = number == 45 ? 8192 : static_cast<std::uint64_t>(bytes);
        event.arguments[2] = event.requested;
        event.result = event.bytes = bytes;
        event.stream_offset = backend.step * 67 + backend.context_id * 100'000;
        event.open_flags = 04002;
        event.event_class = static_cast<std::uint8_t>(schema::Class::kNetwork);
        event.present |= E::kHasFd | E::kHasHandle | E::kHasOpenFlags | E::kHasRequested |
                         E::kHasBytes | E::kHasStreamOffset;
    }

    void seek(schema::SyscallEvent& event) {
        on_file(event);
        event.syscall = 8;
        event.arguments[2] = 2;
        event.result = event.object_size;
    }

    void page(schema::SyscallEvent& event, const Backend& backend, std::uint16_t number) {
        using E = schema::SyscallEvent;
        on_file(event);
        event.syscall = number;
        event.arguments[1] = backend.buffer + 0x100000 + 8192 * (random_() % 4096);
        event.arguments[2] = event.requested = 8192;
        event.result = event.bytes = 8192;
        event.file_offset =
            8192 * static_cast<std::int64_t>(random_() %
                                             static_cast<std::uint64_t>(event.object_size / 8192));
        event.arguments[3] = static_cast<std::uint64_t>(event.file_offset);
        event.present |= E::kHasRequested | E::kHasBytes | E::kHasFileOffset | E::kHasOffsetCertain;
    }

    void flush(schema::SyscallEvent& event) {
        on_file(event);
        event.syscall = 75;
        event.duration_ns = 100'000 + random_() % 900'000;
        event.off_cpu_ns = event.duration_ns - 20'000;
    }

    void open(schema::SyscallEvent& event, std::string& path) {
        on_file(event);
        event.syscall = 257;
        path = "base/5/" + std::to_string(16000 + event.handle_id);
        event.arguments[0] = 0xffffff9c;
        event.arguments[1] = 0x55d000001000 + random_() % 4096;
        event.arguments[2] = 02000002;
        event.result = event.fd;
    }

    SyntheticOptions options_;
    std::mt19937_64 random_;
    std::vector<std::uint64_t> clock_ns_;
    std::vector<std::uint64_t> sequences_;
    std::vector<Backend> backends_;
};

}  // namespace dyetrace::trace
