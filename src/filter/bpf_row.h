// Loads the values of a probe's row (row.h) that a generated program has put on its stack.
#pragma once

#include "filter/bpf_source.h"

namespace dyetrace::filter {

class BpfRow : public BpfSource {
  public:
    // The row begins at so many bytes, below 0, from the frame's end.
    BpfRow(Assembler& code, std::ptrdiff_t row_at) : code_(code), row_at_(row_at) {}

    bool load(const Expression& leaf, Register to, Exits exits) override;
    std::vector<NamedNumber> names_of(const Expression&) const override { return {}; }
    bool load_named(const Expression&, Register, Exits) override { return false; }
    std::size_t text_bytes(const Expression& leaf) const override;
    bool copy_text(const Expression& leaf, std::ptrdiff_t frame_offset, Exits exits) override;
    bool compare_text(const Expression& leaf,
                      std::string_view text,
                      Label same,
                      Label different,
                      Exits exits) override;
    std::optional<filter_subject> subject_of(const Expression&) const override {
        return std::nullopt;
    }
    void verdict(const Expression&, unsigned, Label, Label, Exits) override {}

  private:
    void need_value(const Expression& leaf, Label null);
    std::ptrdiff_t place_of(const Expression& leaf) const {
        return row_at_ + static_cast<std::ptrdiff_t>(leaf.field->offset);
    }

    Assembler& code_;
    std::ptrdiff_t row_at_;
};

}  // namespace dyetrace::filter
