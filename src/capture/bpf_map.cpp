#include "capture/bpf_map.h"

#include <fmt/format.h>

#include <cerrno>

namespace dyetrace::capture {

Result<base::Fd> make_map(bpf_map_type type,
                          const char* name,
                          std::uint32_t key_bytes,
                          std::uint32_t value_bytes,
                          std::uint32_t entries,
                          std::uint32_t flags,
                          int inner) {
    LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = flags);
    if (inner >= 0) {
        options.inner_map_fd = static_cast<std::uint32_t>(inner);
    }
    base::Fd map(bpf_map_create(type, name, key_bytes, value_bytes, entries, &options));
    return map.valid() ? Result<base::Fd>(std::move(map))
                       : Error::from_errno(errno, fmt::format("the kernel gives no {}", name));
}

}  // namespace dyetrace::capture
