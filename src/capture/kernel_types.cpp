#include "capture/kernel_types.h"

#include <bpf/btf.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/file.h"

namespace dyetrace::capture {
namespace {

constexpr std::string_view kFlavor = "___";

bool has_members(const btf_type& type) {
    return btf_is_struct(&type) || btf_is_union(&type);
}

bool can_be_named(const btf_type& type) {
    return has_members(type) || btf_is_any_enum(&type);
}

std::string_view name_of(const btf& types, const btf_type& type) {
    const char* name = btf__name_by_offset(&types, type.name_off);
    return name != nullptr ? name : "";
}

std::unordered_set<std::string_view> names_of(const btf& programs) {
    std::unordered_set<std::string_view> names;
    for (std::uint32_t id = 1; id < btf__type_cnt(&programs); ++id) {
        const btf_type& type = *btf__type_by_id(&programs, id);
        const std::string_view name = name_of(programs, type);
        if (can_be_named(type) && !name.empty()) {
            names.insert(name.substr(0, name.find(kFlavor)));
        }
    }
    return names;
}

// Which of the kernel's types are kept.
class Kept {
  public:
    explicit Kept(const btf& kernel) : kernel_(kernel), kept_(btf__type_cnt(&kernel)) {}

    bool has(std::uint32_t id) const { return kept_[id]; }
    // The last number that a kept type mentions.
    std::uint32_t last() const { return last_; }

    // Keeps a type, and what lies in it.
    void keep(std::uint32_t id) {
        last_ = std::max(last_, id);
        if (id == 0 || kept_[id]) {
            return;
        }
        const btf_type& type = *btf__type_by_id(&kernel_, id);
        if (btf_is_ptr(&type)) {
            return;
        }
        kept_[id] = true;
        if (has_members(type)) {
            for (const btf_member& member : std::span(btf_members(&type), btf_vlen(&type))) {
                keep(member.type);
            }
        } else if (btf_is_array(&type)) {
            keep(btf_array(&type)->type);
            keep(btf_array(&type)->index_type);
        } else if (btf_is_mod(&type) || btf_is_typedef(&type) || btf_is_type_tag(&type)) {
            keep(type.type);
        }
    }

  private:
    const btf& kernel_;
    std::vector<bool> kept_;
    std::uint32_t last_ = 0;
};

base::Fd file_of(const btf& types) {
    std::uint32_t size = 0;
    const auto* bytes = static_cast<const std::byte*>(btf__raw_data(&types, &size));
    base::Fd file(memfd_create("kernel-types", MFD_CLOEXEC));
    if (bytes == nullptr || !file.valid() || !base::write_all(file, {bytes, size}).ok()) {
        return {};
    }
    return file;
}

}  // namespace

base::Fd named_types(const btf& kernel, const btf& programs) {
    const std::unordered_set<std::string_view> names = names_of(programs);
    Kept kept(kernel);
    for (std::uint32_t id = 1; id < btf__type_cnt(&kernel); ++id) {
        const btf_type& type = *btf__type_by_id(&kernel, id);
        if (can_be_named(type) && names.contains(name_of(kernel, type))) {
            kept.keep(id);
        }
    }
    const std::unique_ptr<btf, decltype(&btf__free)> copy(btf__new_empty(), &btf__free);
    for (std::uint32_t id = 1; copy && id <= kept.last(); ++id) {
        const int added = kept.has(id)
                              ? btf__add_type(copy.get(), &kernel, btf__type_by_id(&kernel, id))
                              : btf__add_ptr(copy.get(), 0);
        if (added != static_cast<int>(id)) {
            return {};
        }
    }
    return copy ? file_of(*copy) : base::Fd();
}

}  // namespace dyetrace::capture
