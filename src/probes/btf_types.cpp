#include "probes/btf_types.h"

#include <fmt/format.h>

#include <span>
#include <utility>

namespace dyetrace::probes {
namespace {

// typedef of const of tag of typedef ...: kernels have 6.
constexpr int kCoversMax = 64;
// Types in one declaration: a function with 12 arguments, each a pointer to a constant structure, has 60.
constexpr int kDeclarationTypesMax = 500;
constexpr int kNestedMax = 30;

bool is_cover(const btf_type& type) {
    return btf_is_mod(&type) || btf_is_typedef(&type) || btf_is_type_tag(&type);
}

// Writes one declaration from its name outwards, as C's are read.
class Declaration {
  public:
    explicit Declaration(const btf& types) : types_(types) {}

    std::string of(std::uint32_t id, std::string inner, int nested = 0) {
        const btf_type* type = btf__type_by_id(&types_, id);
        if (++written_ > kDeclarationTypesMax || nested > kNestedMax) {
            return joined("...", inner);
        }
        if (type == nullptr || id == 0) {
            return joined("void", inner);
        }
        switch (btf_kind(type)) {
            case BTF_KIND_PTR: {
                const unsigned target = plain_kind(type->type);
                const bool binds_weaker = target == BTF_KIND_ARRAY || target == BTF_KIND_FUNC_PROTO;
                return of(type->type,
                          (binds_weaker ? "(*" : "*") + inner + (binds_weaker ? ")" : ""),
                          nested + 1);
            }
            case BTF_KIND_CONST:
                return qualified("const", type->type, std::move(inner), nested);
            case BTF_KIND_VOLATILE:
                return qualified("volatile", type->type, std::move(inner), nested);
            case BTF_KIND_RESTRICT:
            case BTF_KIND_TYPE_TAG:
                return of(type->type, std::move(inner), nested + 1);
            case BTF_KIND_ARRAY:
                return of(btf_array(type)->type,
                          fmt::format("{}[{}]", inner, btf_array(type)->nelems),
                          nested + 1);
            case BTF_KIND_FUNC_PROTO: {
                const std::string parameters = parameters_of(*type, nested);
                return of(type->type, fmt::format("{}({})", inner, parameters), nested + 1);
            }
            default:
                return joined(named(*type), inner);
        }
    }

  private:
    static std::string joined(std::string base, const std::string& inner) {
        return base + (inner.empty() || inner[0] == '[' ? "" : " ") + inner;
    }

    std::string qualified(const std::string& word,
                          std::uint32_t id,
                          std::string inner,
                          int nested) {
        if (plain_kind(id) == BTF_KIND_PTR) {
            return of(id, joined(word, inner), nested + 1);
        }
        const std::string text = of(id, std::move(inner), nested + 1);
        return text.starts_with(word + " ") ? text : word + " " + text;  // an array's elements too
    }

    std::string parameters_of(const btf_type& prototype, int nested) {
        std::string text;
        const std::span parameters(btf_params(&prototype), btf_vlen(&prototype));
        for (const btf_param& each : parameters) {
            if (written_ > kDeclarationTypesMax) {
                return text + ", ...";
            }
            text += text.empty() ? "" : ", ";
            const bool is_rest = each.type == 0 && &each == &parameters.back();
            text += is_rest
                        ? "..."
                        : of(each.type, std::string(btf_name(types_, each.name_off)), nested + 1);
        }
        return text.empty() ? "void" : text;
    }

    // Without const, volatile, restrict and tags.
    unsigned plain_kind(std::uint32_t id) const {
        const btf_type* type = btf__type_by_id(&types_, id);
        for (int i = 0;
             i < kCoversMax && type != nullptr && (btf_is_mod(type) || btf_is_type_tag(type));
             ++i) {
            type = btf__type_by_id(&types_, type->type);
        }
        return type != nullptr ? btf_kind(type) : 0u;
    }

    std::string named(const btf_type& type) const {
        const std::string name(btf_name(types_, type.name_off));
        const char* word = "";
        switch (btf_kind(&type)) {
            case BTF_KIND_STRUCT:
                word = "struct";
                break;
            case BTF_KIND_UNION:
                word = "union";
                break;
            case BTF_KIND_ENUM:
            case BTF_KIND_ENUM64:
                word = "enum";
                break;
            case BTF_KIND_FWD:
                word = btf_kflag(&type) ? "union" : "struct";
                break;
            default:
                return name;
        }
        return fmt::format("{} {}", word, name.empty() ? "{...}" : name);
    }

    const btf& types_;
    int written_ = 0;
};

}  // namespace

std::string_view btf_name(const btf& types, std::uint32_t name_offset) {
    const char* name = btf__name_by_offset(&types, name_offset);
    return name != nullptr ? name : "";
}

PlainType plain_type(const btf& types, std::uint32_t id) {
    PlainType plain;
    for (int i = 0; i < kCoversMax; ++i) {
        const btf_type* type = id != 0 ? btf__type_by_id(&types, id) : nullptr;
        if (type == nullptr || !is_cover(*type)) {
            plain.id = type != nullptr ? id : 0;
            plain.type = type;
            return plain;
        }
        if (btf_is_type_tag(type)) {
            const std::string_view tag = btf_name(types, type->name_off);
            plain.is_in_user_memory = plain.is_in_user_memory || tag == "user";
            plain.is_per_cpu = plain.is_per_cpu || tag == "percpu";
        }
        id = type->type;
    }
    return plain;
}

bool is_character(const btf& types, const PlainType& plain) {
    return plain.is_kind(BTF_KIND_INT) && plain.type->size == 1 &&
           btf_name(types, plain.type->name_off) == "char";
}

bool points_to_text(const btf& types, const PlainType& pointer) {
    if (!pointer.is_kind(BTF_KIND_PTR)) {
        return false;
    }
    const std::uint32_t target = pointer.type->type;
    return is_character(types, plain_type(types, target)) ||
           c_declaration(types, target, "") == "const unsigned char";
}

std::string c_declaration(const btf& types, std::uint32_t id, std::string name) {
    return Declaration(types).of(id, std::move(name));
}

}  // namespace dyetrace::probes
