#include "filter/bpf_row.h"

#include <algorithm>
#include <cstring>

#include "filter/row.h"
#include "filter/string_atoms.h"

namespace dyetrace::filter {

void BpfRow::need_value(const Expression& leaf, Label null) {
    code_.load_frame(kScratch, row_at_, 8);
    code_.calculate(BPF_AND, kScratch, std::int32_t{1} << leaf.field->number);
    code_.jump_if(BPF_JNE, kScratch, 0, null);
}

bool BpfRow::load(const Expression& leaf, Register to, Exits exits) {
    need_value(leaf, exits.null);
    code_.load_frame(to, place_of(leaf), 8);
    return true;
}

std::size_t BpfRow::text_bytes(const Expression& leaf) const {
    return leaf.type == Type::kText && !leaf.field->is_stack ? leaf.field->bytes : 0;
}

bool BpfRow::copy_text(const Expression& leaf, std::ptrdiff_t frame_offset, Exits exits) {
    if (text_bytes(leaf) == 0) {
        return false;
    }
    need_value(leaf, exits.null);
    const auto bytes = static_cast<std::ptrdiff_t>(leaf.field->bytes);
    for (std::ptrdiff_t at = 0; at < bytes; at += 8) {
        code_.load_frame(kScratch, place_of(leaf) + at, 8);
        code_.store(Register::kFrame, frame_offset + at, kScratch, 8);
    }
    return true;
}

bool BpfRow::compare_text(
    const Expression& leaf, std::string_view text, Label same, Label different, Exits exits) {
    const std::size_t bytes = text_bytes(leaf);
    const auto shown = bytes_shown_as(text);
    if (bytes == 0) {
        return false;
    }
    need_value(leaf, exits.null);
    if (!shown || shown->size() >= bytes || shown->find('\0') != std::string::npos) {
        code_.jump(different);
        return true;
    }
    for (std::size_t at = 0; at < bytes; at += kWord) {
        std::uint64_t word = 0;
        if (at < shown->size()) {
            std::memcpy(&word, shown->data() + at, std::min<std::size_t>(8, shown->size() - at));
        }
        code_.load_frame(kScratch, place_of(leaf) + static_cast<std::ptrdiff_t>(at), 8);
        code_.set_wide(kScratch2, word);
        code_.jump_if(BPF_JNE, kScratch, kScratch2, different);
    }
    code_.jump(same);
    return true;
}

}  // namespace dyetrace::filter
