// What network namespaces are called: `ip netns add web` binds the namespace to /run/netns/web.
//
//   task contexts of a drain ─► look(): the inode is new or still nameless ─► /run/netns/* has it ─► each(inode, "web")
//
// A namespace gets its name after its first task was seen in it, so a nameless one is looked for again whenever a task in it
// is announced, and at each call with `now`. Nothing of this is on the way of an event.
//
// Limits: a namespace that lost its name again before the next look (a tenth of a second) keeps its number. kNamespacesMax
// are remembered, kNamesMax names are read; a look of 20 µs at most every kLookAgainNs. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dyetrace::recorder {

class NamespaceNames {
  public:
    using Each = std::function<Result<void>(std::uint32_t inode, std::string_view name)>;

    // `own`: the host's own namespace, which is not looked for. `folders`: where names are.
    explicit NamespaceNames(std::uint32_t own,
                            std::vector<std::string> folders = {"/run/netns", "/var/run/netns"})
        : own_(own), folders_(std::move(folders)) {}

    // Takes note of the namespaces that these facts speak of.
    void learn(std::span<const std::byte> facts);

    // Calls `each` for namespaces that have a name now and had none before. `now` looks even if it did a moment ago.
    Result<void> look(bool now, const Each& each);

  private:
    std::map<std::uint32_t, std::string> read_names() const;

    std::uint32_t own_;
    std::vector<std::string> folders_;
    std::map<std::uint32_t, bool> has_name_;  // by inode, what was seen
    bool asked_ = false;  // a task in a nameless one was announced since the last look
    std::int64_t looked_ns_ = 0;
};

}  // namespace dyetrace::recorder
