#include "store/row_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/harmless.h"
#include "base/json.h"
#include "base/json_string.h"
#include "base/text.h"
#include "store/cell_text.h"

namespace dyetrace::store {
namespace {

using Line = std::vector<std::string>;

constexpr std::size_t kSpaceBetween = 2;
// Below this a cut cell says nothing, and a row is better shown as a block.
constexpr std::size_t kColumnWidthMin = 8;
constexpr std::size_t kSinkBytes = 64 * 1024;

// Collects small pieces; what is left goes out with finish().
class Output {
  public:
    explicit Output(const TextSink& sink) : sink_(&sink) {}
    std::string& text() { return text_; }
    Result<void> line_done() { return text_.size() < kSinkBytes ? Result<void>() : finish(); }
    Result<void> finish() {
        Result<void> written = (*sink_)(text_);
        text_.clear();
        return written;
    }

  private:
    const TextSink* sink_;
    std::string text_;
};

void append_csv(std::string& out, std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
        out.append(text);
        return;
    }
    out.push_back('"');
    for (const char c : text) {
        out.append(c == '"' ? 2 : 1, c);
    }
    out.push_back('"');
}

Result<void> write_csv(Rows& rows, Output& out) {
    for (std::size_t i = 0; i < rows.columns().size(); ++i) {
        out.text().append(i == 0 ? "" : ",");
        append_csv(out.text(), rows.columns()[i].name);
    }
    out.text().push_back('\n');
    for (;;) {
        TRY(const std::span<const Cell> row, rows.next());
        if (row.empty()) {
            return out.finish();
        }
        for (std::size_t i = 0; i < row.size(); ++i) {
            out.text().append(i == 0 ? "" : ",");
            // NULL is nothing, empty text is "".
            row[i].kind == CellKind::kText&& row[i].text.empty()
                ? static_cast<void>(out.text().append("\"\""))
                : append_csv(out.text(), row[i].text);
        }
        out.text().push_back('\n');
        TRY(out.line_done());
    }
}

bool is_id(const ResultColumn& column) {
    return column.is_64_bit && (column.name.ends_with("_id") || column.name == "fingerprint" ||
                                column.name.ends_with("_sum"));
}

// The decoded arguments of a call are JSON as text, and everything else that claims to be must prove it.
bool is_object(const ResultColumn& column, const Cell& cell) {
    return cell.kind == CellKind::kText && column.name == "arguments" &&
           cell.text.starts_with('{') && base::Json::is_valid(cell.text);
}

void append_json(std::string& out, const ResultColumn& column, const Cell& cell) {
    const bool is_word = cell.text == "nan" || cell.text.ends_with("inf");
    if (cell.kind == CellKind::kNull || (cell.kind == CellKind::kNumber && is_word)) {
        out.append("null");
    } else if ((cell.kind == CellKind::kText || is_id(column)) && !column.is_json &&
               !is_object(column, cell)) {
        base::append_json_string(out, cell.text);
    } else {
        base::append_harmless_json(out, cell.text);
    }
}

Result<void> write_json(Rows& rows, Output& out) {
    std::vector<std::string> names;
    const std::vector<ResultColumn> columns = rows.columns();
    for (const ResultColumn& column : columns) {
        std::string name(names.empty() ? "" : ",");
        base::append_json_string(name, column.name);
        names.push_back(name + ":");
    }
    for (;;) {
        TRY(const std::span<const Cell> row, rows.next());
        if (row.empty()) {
            return out.finish();
        }
        out.text().push_back('{');
        for (std::size_t i = 0; i < row.size(); ++i) {
            out.text().append(names[i]);
            append_json(out.text(), columns[i], row[i]);
        }
        out.text().append("}\n");
        TRY(out.line_done());
    }
}

// How the columns of a table share a line.
struct TableLayout {
    std::vector<std::size_t> widths;
    std::vector<bool> to_the_right;
    bool as_blocks = false;
};

std::size_t total_width(const std::vector<std::size_t>& widths) {
    std::size_t total = 0;
    for (const std::size_t width : widths) {
        total += width + kSpaceBetween;
    }
    return total - std::min(total, kSpaceBetween);
}

// Takes from the widest column until the line fits, or no column can give any more.
void shrink(TableLayout& layout, std::size_t width) {
    while (total_width(layout.widths) > width) {
        const auto widest = std::max_element(layout.widths.begin(), layout.widths.end());
        if (*widest <= kColumnWidthMin) {
            layout.as_blocks = true;
            return;
        }
        --*widest;
    }
}

TableLayout lay_out(const std::vector<ResultColumn>& columns,
                    const std::vector<Line>& lines,
                    std::size_t width) {
    TableLayout layout;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        std::size_t needed = base::display_width(base::make_harmless(columns[i].name));
        for (const Line& line : lines) {
            needed = std::max(needed, base::display_width(line[i]));
        }
        layout.widths.push_back(needed);
        layout.to_the_right.push_back(columns[i].kind == CellKind::kNumber);
    }
    if (width > 0) {
        const std::vector<std::size_t> wanted = layout.widths;
        shrink(layout, width);
        layout.widths = layout.as_blocks ? wanted : layout.widths;
    }
    return layout;
}

void append_line(std::string& out, const TableLayout& layout, const Line& line) {
    const std::size_t begin = out.size();
    for (std::size_t i = 0; i < line.size(); ++i) {
        out.append(i == 0 ? 0 : kSpaceBetween, ' ');
        out.append(layout.to_the_right[i] ? base::right_aligned(line[i], layout.widths[i])
                                          : base::left_aligned(line[i], layout.widths[i]));
    }
    out.erase(std::max(begin, out.find_last_not_of(' ') + 1));
    out.push_back('\n');
}

void append_block(std::string& out, const Line& names, const Line& line, std::size_t number) {
    std::size_t widest = 0;
    for (const std::string& name : names) {
        widest = std::max(widest, base::display_width(name));
    }
    fmt::format_to(std::back_inserter(out), "row {}\n", number);
    for (std::size_t i = 0; i < line.size(); ++i) {
        out.append("  ")
            .append(base::left_aligned(names[i], widest))
            .append("  ")
            .append(line[i])
            .append("\n");
    }
}

Line as_line(std::span<const Cell> row) {
    Line line;
    for (const Cell& cell : row) {
        line.push_back(cell.kind == CellKind::kNull ? "NULL" : base::make_harmless(cell.text));
    }
    return line;
}

Line header_of(const std::vector<ResultColumn>& columns) {
    Line line;
    for (const ResultColumn& column : columns) {
        line.push_back(base::make_harmless(column.name));
    }
    return line;
}

// The rows that decide about the widths; the last one that was asked for may be missing.
Result<std::vector<Line>> measured_lines(Rows& rows) {
    std::vector<Line> lines;
    while (lines.size() < kTableRowsMeasured) {
        TRY(const std::span<const Cell> row, rows.next());
        if (row.empty()) {
            break;
        }
        lines.push_back(as_line(row));
    }
    return lines;
}

// EXPLAIN answers with a drawing of many lines.
bool is_explanation(const std::vector<ResultColumn>& columns) {
    return columns.size() == 2 && columns[0].name == "explain_key" &&
           columns[1].name == "explain_value";
}

Result<void> write_explanation(Rows& rows, Output& out) {
    for (;;) {
        TRY(const std::span<const Cell> row, rows.next());
        if (row.empty()) {
            return out.finish();
        }
        for (std::string_view rest = row[1].text; !rest.empty();) {
            const std::size_t end = std::min(rest.find('\n'), rest.size());
            out.text().append(base::make_harmless(rest.substr(0, end))).append("\n");
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    }
}

Result<void> write_table(Rows& rows, std::size_t width, Output& out) {
    const std::vector<ResultColumn> columns = rows.columns();
    if (is_explanation(columns)) {
        return write_explanation(rows, out);
    }
    const Line names = header_of(columns);
    TRY(const std::vector<Line> first, measured_lines(rows));
    const TableLayout layout = lay_out(columns, first, width);
    if (!layout.as_blocks) {
        append_line(out.text(), layout, names);
        Line rule;
        for (const std::size_t column : layout.widths) {
            rule.emplace_back(column, '-');
        }
        append_line(out.text(), layout, rule);
    }
    std::size_t number = 0;
    const auto append = [&](const Line& line) -> Result<void> {
        ++number;
        layout.as_blocks ? append_block(out.text(), names, line, number)
                         : append_line(out.text(), layout, line);
        return out.line_done();
    };
    for (const Line& line : first) {
        TRY(append(line));
    }
    while (number >= kTableRowsMeasured) {
        TRY(const std::span<const Cell> row, rows.next());
        if (row.empty()) {
            break;
        }
        TRY(append(as_line(row)));
    }
    return out.finish();
}

}  // namespace

Result<void> write_rows(Rows& rows, RowFormat format, std::size_t width, const TextSink& sink) {
    if (rows.columns().empty()) {
        return {};
    }
    Output out(sink);
    switch (format) {
        case RowFormat::kTable:
            return write_table(rows, width, out);
        case RowFormat::kCsv:
            return write_csv(rows, out);
        case RowFormat::kJson:
            return write_json(rows, out);
    }
    return {};
}

}  // namespace dyetrace::store
