// Lists that calls are given by address: the arguments of programs, sets of poll and of epoll.
#include <algorithm>
#include <cstdint>

#include "format/bytes.h"
#include "format/quote.h"
#include "format/structure.h"

namespace dyetrace::format {

bool append_texts(std::string& out, std::string_view bytes, const Limits& limits) {
    const auto count = read_at<std::uint64_t>(bytes, 0);
    if (!count) {
        return false;
    }
    std::string_view rest = bytes.substr(sizeof(*count));
    out.push_back('[');
    std::uint64_t shown = 0;
    for (; shown < std::min<std::uint64_t>(*count, limits.items_max) && !rest.empty(); ++shown) {
        const std::size_t end = std::min(rest.find('\0'), rest.size());
        out.append(shown > 0 ? ", " : "");
        append_quoted(out, rest.substr(0, end), limits.text_max, false, limits.quotes);
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    end_array(out, shown > 0, shown < *count);
    return true;
}

bool append_variable_count(std::string& out, std::string_view bytes) {
    const auto count = read_at<std::uint64_t>(bytes, 0);
    if (count) {
        print(out, " /* {} var{} */", *count, *count == 1 ? "" : "s");
    }
    return count.has_value();
}

bool append_pollfds(std::string& out,
                    std::string_view bytes,
                    std::uint64_t address,
                    std::size_t count,
                    bool returned,
                    const Limits& limits) {
    constexpr std::size_t kSize = 8;      // struct pollfd: int fd, short events, short revents
    constexpr std::size_t kSeenMax = 32;  // of src/kernel/helpers/preview.h
    if (bytes.size() < kSize && count > 0) {
        return false;
    }
    out.push_back('[');
    std::size_t shown = 0, seen = 0;
    bool more = false;
    for (; (seen + 1) * kSize <= bytes.size(); ++seen) {
        const int fd = *read_at<int>(bytes, seen * kSize);
        const auto events = *read_at<std::uint16_t>(bytes, seen * kSize + 4);
        const auto ready = *read_at<std::uint16_t>(bytes, seen * kSize + 6);
        if (returned && ready == 0) {
            continue;
        }
        if (shown >= limits.items_max) {
            more = true;
            break;
        }
        print(out, "{}{{fd={}", shown > 0 ? ", " : "", fd);
        if (fd >= 0) {
            print(out,
                  ", {}={}",
                  returned ? "revents" : "events",
                  constant_text("poll_events", returned ? ready : events, limits.constants));
        }
        out.push_back('}');
        ++shown;
    }
    const bool ends = seen == bytes.size() / kSize && seen < std::min(count, kSeenMax);
    if (!returned && ends && seen > 0) {
        end_array_at(out, address + seen * kSize);
        return true;
    }
    end_array(out, shown > 0, more || seen < count);
    return true;
}

bool append_epoll_event(std::string& out, std::string_view bytes, const Limits& limits) {
    const auto events = read_at<std::uint32_t>(bytes);
    const auto data = read_at<std::uint64_t>(bytes, 4);  // packed
    if (!events || !data) {
        return false;
    }
    print(out,
          "{{events={}, data={{u32={}, u64={}}}}}",
          constant_text("epoll_mask", *events, limits.constants),
          static_cast<std::uint32_t>(*data),
          *data);
    return true;
}

bool append_epoll_events(std::string& out,
                         std::string_view bytes,
                         std::size_t count,
                         const Limits& limits) {
    constexpr std::size_t kSize = 12;
    const std::size_t shown = std::min({count, limits.items_max, bytes.size() / kSize});
    out.push_back('[');
    for (std::size_t i = 0; i < shown; ++i) {
        out.append(i > 0 ? ", " : "");
        append_epoll_event(out, bytes.substr(i * kSize, kSize), limits);
    }
    end_array(out, shown > 0, count > shown);
    return true;
}

}  // namespace dyetrace::format
