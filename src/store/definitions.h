// What SQL can name besides files: macros, views, and tables that are made of them. There are hundreds, and to make a table takes up to 15 ms;
// so each is made when a statement first names it, with all that it names itself.
//
//   Definitions definitions;
//   definitions.add("CREATE OR REPLACE MACRO half(n) AS n / 2;\n"
//                   "CREATE OR REPLACE VIEW halves AS SELECT half(a) FROM numbers;\n");
//   TRY(definitions.make_for(engine, "SELECT * FROM halves"));       // half, then halves
//
// A name is looked for anywhere in the text, also where it is that of a column or stands between quotes: what is made in vain costs time only.
// Nobody sees by which names information_schema and the like will be asked, so statements that may list them have all made, and bound,
// as they list columns too.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/duckdb_engine.h"

namespace dyetrace::store {

class Definitions {
  public:
    // Statements CREATE OR REPLACE MACRO, TABLE or VIEW, each of which begins a line and names none that comes later; what follows up to the next of them
    // (an INSERT) belongs to it. A definition of a name that is known takes its place; what is new among those that replace others comes before
    // these.
    void add(std::string_view statements);

    // Makes also what others have taken the place of: what was made with it by others (a macro of a verb) need not be named in the statement.
    Result<void> make_for(const Engine& engine,
                          std::string_view sql,
                          const std::atomic<bool>* cancelled = nullptr);
    // Makes them without binding them; false: all were there before.
    Result<bool> make_all(const Engine& engine);

  private:
    struct Definition {
        std::string name;  // in lower case, without its schema
        std::string sql;
        std::vector<std::string> words = {};  // that may be names; none before it is first wanted
        bool is_table = false;
        bool is_made = false;
        bool is_bound = false;     // a view whose columns DuckDB can list
        bool is_outdated = false;  // another one of this name was made
    };

    // Adds those that the words name, if they stand before a place.
    void want(const std::vector<std::string>& words,
              std::size_t before,
              std::vector<bool>& is_wanted) const;
    Result<bool> make(const Engine& engine,
                      const std::vector<bool>& is_wanted,
                      bool is_listed,
                      const std::atomic<bool>* cancelled);

    // Its own: a statement that runs may need a table that nobody has named before (a function's), and on its connection nothing else can.
    OwnedConnection connection_;
    std::vector<Definition> definitions_;  // each names only what stands before it
    std::map<std::string, std::size_t, std::less<>> places_;  // where, by name
};

}  // namespace dyetrace::store
