#include "query/payload/payload_search.h"

#include <cstring>
#include <unordered_map>

#include "query/payload/trace_payload.h"
#include "schema/dictionary.h"

namespace dyetrace::query {
namespace {

// The end of what was last seen of an event: its payload comes in pieces, in order, between those of other CPUs.
struct Tail {
    std::uint64_t end = 0;  // position after it in what the event moved
    std::string bytes;      // fewer than the text has
};

void find_all(std::string_view in,
              std::string_view text,
              const std::function<void(std::size_t)>& at) {
    std::size_t from = 0;
    while (const void* hit = memmem(in.data() + from, in.size() - from, text.data(), text.size())) {
        from = static_cast<std::size_t>(static_cast<const char*>(hit) - in.data());
        at(from++);
    }
}

class Search {
  public:
    Search(std::string_view text, const std::function<void(std::uint64_t, std::uint64_t)>& found)
        : text_(text), found_(found) {}

    void take(std::uint64_t event, std::uint64_t position, std::string_view bytes) {
        Tail& tail = tail_of(event);
        if (tail.end != position) {
            tail.bytes.clear();
        }
        // what begins in the tail, then what begins here
        const std::size_t before = tail.bytes.size();
        tail.bytes += bytes.substr(0, text_.size() - 1);
        find_all(tail.bytes, text_, [&](std::size_t at) {
            if (at < before) {
                found_(event, position - before + at);
            }
        });
        find_all(bytes, text_, [&](std::size_t at) { found_(event, position + at); });
        if (bytes.size() >= text_.size() - 1) {
            tail.bytes = bytes.substr(bytes.size() - (text_.size() - 1));
        } else if (tail.bytes.size() >= text_.size()) {
            tail.bytes.erase(0, tail.bytes.size() - (text_.size() - 1));
        }
        tail.end = position + bytes.size();
    }

  private:
    Tail& tail_of(std::uint64_t event) {
        OfCpu& last = tails_[event / schema::event_id(0, 1, 0)];
        if (last.event != event) {
            last = {event, {}};
        }
        return last.tail;
    }

    struct OfCpu {
        std::uint64_t event = 0;
        Tail tail;
    };

    std::string_view text_;
    const std::function<void(std::uint64_t, std::uint64_t)>& found_;
    std::unordered_map<std::uint64_t, OfCpu> tails_;  // by host and CPU
};

}  // namespace

Result<void> search_payload(const std::string& trace_path,
                            std::string_view text,
                            const std::function<void(std::uint64_t, std::uint64_t)>& found) {
    auto opened = TracePayload::open(trace_path);
    if (!opened.ok() && opened.error().code() == ErrorCode::kNotFound) {
        return {};
    }
    TRY(TracePayload payload, std::move(opened));
    Search search(text, found);
    Result<void> read;
    TRY(payload.scan([&](std::uint64_t event, const PayloadPart& part) {
        if (!read.ok()) {
            return;
        }
        const auto bytes = payload.bytes_at(part);
        if (!bytes.ok()) {
            read = bytes.error();
            return;
        }
        search.take(event,
                    part.position,
                    {reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size()});
    }));
    return read;
}

}  // namespace dyetrace::query
