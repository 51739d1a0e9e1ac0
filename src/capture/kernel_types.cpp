#include "capture/kernel_types.h"

#include <bpf/btf.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/file.h"

namespace dyetrace::capture {
namespace {

using base::Error;
using base::ErrorCode;

constexpr std::string_view kFlavor = "___";
constexpr const char* kNumbers = "kernel_type_id";  // src/kernel/read.h
constexpr std::string_view kNumberPrefix = "id_of_";

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

// The numbers of types that lie in a type.
template <typename Each>
void each_inside(btf_type& type, Each each) {
    if (has_members(type)) {
        for (btf_member& member : std::span(btf_members(&type), btf_vlen(&type))) {
            each(member.type);
        }
    } else if (btf_is_array(&type)) {
        each(btf_array(&type)->type);
        each(btf_array(&type)->index_type);
    } else if (btf_is_mod(&type) || btf_is_typedef(&type) || btf_is_type_tag(&type)) {
        each(type.type);
    }
}

// libbpf's functions hand out what may be written as if it might not.
btf_type& type_of(const btf& types, std::uint32_t id) {
    return const_cast<btf_type&>(*btf__type_by_id(&types, id));
}

// A part of the kernel's types, under other numbers.
class Part {
  public:
    explicit Part(const btf& kernel)
        : of_(&kernel), numbers_(btf__type_cnt(&kernel)), types_(btf__new_empty(), &btf__free) {
        pointer_ = types_ ? number_of(btf__add_ptr(types_.get(), 0)) : 0;
    }

    // What is taken from now on is of a module, whose types come after the kernel's.
    void turn_to(const btf& kernel, const btf& module) {
        settle();
        of_ = &module;
        numbers_.resize(btf__type_cnt(&kernel));
        numbers_.resize(btf__type_cnt(&module));
    }

    // Takes a type, and what lies in it.
    void take(std::uint32_t id) {
        if (id == 0 || numbers_[id] != 0 || !is_whole()) {
            return;
        }
        btf_type& type = type_of(*of_, id);
        if (btf_is_ptr(&type)) {
            numbers_[id] = pointer_;
            return;
        }
        numbers_[id] = number_of(btf__add_type(types_.get(), of_, &type));
        each_inside(type, [&](std::uint32_t inside) { take(inside); });
    }

    // Once all is taken: null if memory did not suffice.
    btf* finish() {
        settle();
        return is_whole() ? types_.get() : nullptr;
    }

  private:
    // What lies in those that were taken gets its number here.
    void settle() {
        for (; is_whole() && settled_ < btf__type_cnt(types_.get()); ++settled_) {
            each_inside(type_of(*types_, settled_),
                        [&](std::uint32_t& inside) { inside = numbers_[inside]; });
        }
    }
    bool is_whole() const { return pointer_ != 0 && !has_failed_; }
    std::uint32_t number_of(int added) {
        has_failed_ = has_failed_ || added < 0;
        return has_failed_ ? 0 : static_cast<std::uint32_t>(added);
    }

    const btf* of_;                       // what is taken of
    std::vector<std::uint32_t> numbers_;  // of its types in this part; 0: not taken
    std::uint32_t settled_ = 1;
    std::unique_ptr<btf, decltype(&btf__free)> types_;
    std::uint32_t pointer_ = 0;
    bool has_failed_ = false;
};

// The values of the programs' enum that ask for a number, each with the name of the structure.
std::unordered_map<std::string_view, const char*> asked_by(const btf& programs) {
    std::unordered_map<std::string_view, const char*> asked;
    const int id = btf__find_by_name_kind(&programs, kNumbers, BTF_KIND_ENUM);
    if (id > 0) {
        const btf_type& numbers = type_of(programs, static_cast<std::uint32_t>(id));
        for (const struct btf_enum& value : std::span(btf_enum(&numbers), btf_vlen(&numbers))) {
            const char* name = btf__name_by_offset(&programs, value.name_off);
            asked.emplace(std::string_view(name).substr(kNumberPrefix.size()), name);
        }
    }
    return asked;
}

}  // namespace

Result<NamedTypes> NamedTypes::of(const btf& kernel,
                                  std::span<const btf* const> modules,
                                  const btf& programs) {
    const std::unordered_set<std::string_view> names = names_of(programs);
    std::unordered_map<std::string_view, const char*> asked = asked_by(programs);
    std::vector<std::pair<const char*, std::uint32_t>> answers;
    Part part(kernel);
    for (std::uint32_t id = 1; id < btf__type_cnt(&kernel); ++id) {
        const btf_type& type = type_of(kernel, id);
        if (!can_be_named(type)) {
            continue;
        }
        const std::string_view name = name_of(kernel, type);
        if (names.contains(name)) {
            part.take(id);
        }
        if (const auto found = asked.find(name); found != asked.end() && btf_is_struct(&type)) {
            answers.emplace_back(found->second, id);
            asked.erase(found);
        }
    }
    for (const btf* module : modules) {
        part.turn_to(kernel, *module);
        for (std::uint32_t id = btf__type_cnt(&kernel); id < btf__type_cnt(module); ++id) {
            const btf_type& type = type_of(*module, id);
            if (can_be_named(type) && names.contains(name_of(*module, type))) {
                part.take(id);
            }
        }
    }
    btf* const types = part.finish();
    bool is_whole = types != nullptr && btf__add_enum(types, kNumbers, sizeof(std::uint32_t)) > 0;
    for (const auto& [name, id] : answers) {
        is_whole = is_whole && btf__add_enum_value(types, name, id) == 0;
    }
    std::uint32_t size = 0;
    const auto* bytes =
        is_whole ? static_cast<const std::byte*>(btf__raw_data(types, &size)) : nullptr;
    if (bytes == nullptr) {
        return Error(ErrorCode::kLimitReached, "not enough memory for the kernel's types");
    }
    NamedTypes named(base::Fd(memfd_create("kernel-types", MFD_CLOEXEC)));
    if (access(named.path().c_str(), R_OK) == 0) {
        TRY(base::write_all(named.memory_, {bytes, size})
                .with_context("handing the kernel's types to libbpf"));
        return named;
    }
    TRY(base::TemporaryFolder folder, base::TemporaryFolder::make());
    named.folder_ = std::make_unique<base::TemporaryFolder>(std::move(folder));
    TRY(base::write_file_atomically(named.path(),
                                    std::string_view(reinterpret_cast<const char*>(bytes), size)));
    return named;
}

std::string NamedTypes::path() const {
    return folder_ ? folder_->path() + "/kernel_types"
                   : fmt::format("/proc/self/fd/{}", memory_.get());
}

}  // namespace dyetrace::capture
