#include "format/table.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/harmless.h"
#include "base/text.h"
#include "format/colour.h"

namespace dyetrace::format {
namespace {

constexpr std::size_t kGap = 2;                            // columns between two of the table
constexpr std::size_t kCutMin = 12;                        // a column is not cut to less
constexpr std::size_t kWidthMin = 20, kWidthMax = 10'000;  // of a terminal that COLUMNS tells of

// The end of `text` that fits into `width` columns.
std::string_view tail(std::string_view text, std::size_t width) {
    while (base::display_width(text) > width) {
        std::size_t step = 1;
        while (step < text.size() && (static_cast<unsigned char>(text[step]) & 0xc0) == 0x80) {
            ++step;
        }
        text.remove_prefix(step);
    }
    return text;
}

}  // namespace

std::string cut_middle(std::string_view text, std::size_t width) {
    if (base::display_width(text) <= width) {
        return std::string(text);
    }
    // The last name of a path stays whole where it can.
    const std::size_t slash = text.rfind('/');
    const std::size_t last =
        slash == std::string_view::npos ? 0 : base::display_width(text.substr(slash));
    const std::size_t part = (width - 1) * 2 / 3;
    const std::size_t tail_width = last > part && last < width ? last : part;
    return base::truncated(text, width - tail_width).append(tail(text, tail_width));
}

std::size_t terminal_width(int file_descriptor) {
    if (const char* const columns = std::getenv("COLUMNS"); columns != nullptr) {  // as for `ls`
        const std::string_view text = columns;
        std::size_t width = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), width);
        if (error == std::errc() && end == text.data() + text.size() && width >= kWidthMin &&
            width <= kWidthMax) {
            return width;
        }
    }
    winsize size{};
    const bool known = ioctl(file_descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : Table::kWidthDefault;
}

Table::Table(std::vector<TableColumn> columns, std::size_t indent)
    : columns_(std::move(columns)), indent_(indent) {}

void Table::add(std::vector<std::string> cells) {
    CHECK(cells.size() <= columns_.size());
    if (rows_.size() == kRowsMax) {
        left_out_ += 1;
        return;
    }
    cells.resize(columns_.size());
    for (std::string& cell : cells) {
        cell = base::make_harmless(cell);
    }
    rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::widths(std::size_t width, bool title_line) const {
    std::vector<std::size_t> wanted(columns_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        wanted[i] = title_line ? base::display_width(columns_[i].title) : 0;
        for (const auto& row : rows_) {
            wanted[i] = std::max(wanted[i], base::display_width(row[i]));
        }
    }
    const std::size_t gaps = columns_.empty() ? 0 : kGap * (columns_.size() - 1);
    std::size_t total = std::accumulate(wanted.begin(), wanted.end(), indent_ + gaps);
    while (total > width) {  // the widest column that may be cut gives one column at a time
        std::size_t widest = columns_.size();
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            const bool may = columns_[i].fit != Fit::kKeeps && wanted[i] > kCutMin;
            if (may && (widest == columns_.size() || wanted[i] > wanted[widest])) {
                widest = i;
            }
        }
        if (widest == columns_.size()) {
            break;
        }
        const std::size_t over = total - width;
        const std::size_t step =
            std::min(std::max<std::size_t>(over / 2, 1), wanted[widest] - kCutMin);
        wanted[widest] -= step;
        total -= step;
    }
    return wanted;
}

void Table::append_row(std::string& out,
                       const std::vector<std::string>& cells,
                       const std::vector<std::size_t>& widths) const {
    out.append(indent_, ' ');
    const std::size_t begin = out.size();
    for (std::size_t i = 0; i < cells.size(); ++i) {
        out.append(i > 0 ? kGap : 0, ' ');
        const std::string cell =
            columns_[i].fit == Fit::kCutsMiddle ? cut_middle(cells[i], widths[i]) : cells[i];
        out += columns_[i].align == Align::kRight ? base::right_aligned(cell, widths[i])
                                                  : base::left_aligned(cell, widths[i]);
    }
    out.resize(std::max(begin, out.find_last_not_of(' ') + 1));
    out.push_back('\n');
}

std::string Table::text(std::size_t width, bool title_line, bool colour) const {
    const std::vector<std::size_t> fitted = widths(width, title_line);
    std::string out;
    if (title_line) {
        std::vector<std::string> titles;
        for (const TableColumn& column : columns_) {
            titles.push_back(column.title);
        }
        const Painted painted(out, colour, Colour::kDim);
        append_row(out, titles, fitted);
    }
    for (const auto& row : rows_) {
        append_row(out, row, fitted);
    }
    if (left_out_ > 0) {
        out.append(indent_, ' ')
            .append("… and ")
            .append(base::with_separators(left_out_))
            .append(" more rows\n");
    }
    return out;
}

}  // namespace dyetrace::format
