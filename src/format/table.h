// Columns for a terminal: they line up in 80 columns, and use more when the terminal has more.
//
//   Table table({{"process", Align::kLeft}, {"calls", Align::kRight}, {"path", Align::kLeft, kGrows}});
//   table.add({"git[4699]", "1,204", "/home/x/.git/config"});
//   out += table.text(terminal_width(STDOUT_FILENO));
//
//   process      calls  path
//   git[4699]    1,204  /home/x/.git/config
//
// When the whole is too wide the growing columns are cut (a path in its middle: /home/…/config), never the others. Cells
// are made harmless here. Limits: kRowsMax rows; what comes after them is counted and said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dyetrace::format {

enum class Align : std::uint8_t { kLeft, kRight };

// What happens to a column when the table is too wide for the terminal.
enum class Fit : std::uint8_t { kKeeps, kCutsEnd, kCutsMiddle };

struct TableColumn {
    std::string title;
    Align align = Align::kLeft;
    Fit fit = Fit::kKeeps;
};

class Table {
  public:
    static constexpr std::size_t kRowsMax =
        1'000'000;  // 100 MB of cells; `sql` writes csv for more
    static constexpr std::size_t kWidthDefault =
        80;  // columns of a terminal that does not say, or of a file

    explicit Table(std::vector<TableColumn> columns, std::size_t indent = 0);

    // There are at most as many cells as columns; missing ones are empty.
    void add(std::vector<std::string> cells);
    std::size_t rows() const { return rows_.size(); }

    // Lines with their ends. `title_line`: the titles first, dim if `colour`.
    std::string text(std::size_t width, bool title_line = true, bool colour = false) const;

  private:
    std::vector<std::size_t> widths(std::size_t width, bool title_line) const;
    void append_row(std::string& out,
                    const std::vector<std::string>& cells,
                    const std::vector<std::size_t>& widths) const;

    std::vector<TableColumn> columns_;
    std::size_t indent_;
    std::vector<std::vector<std::string>> rows_;
    std::size_t left_out_ = 0;
};

// What COLUMNS says, or as many as the terminal has that a descriptor refers to; kWidthDefault if it is none.
std::size_t terminal_width(int file_descriptor);

// "/home/a/very/long/name" in 15 columns: "/home/…ong/name".
std::string cut_middle(std::string_view text, std::size_t width);

}  // namespace dyetrace::format
