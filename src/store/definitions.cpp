#include "store/definitions.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/text.h"
#include "store/catalog_entries.h"
#include "store/interrupt_watch.h"

namespace dyetrace::store {
namespace {

bool is_in_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Each once, in lower case, as SQL compares names. What lines of comment name is not wanted.
std::vector<std::string> words_of(std::string_view sql) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at < sql.size();) {
        if ((at == 0 || sql[at - 1] == '\n') && sql.substr(at).starts_with("--")) {
            at = std::min(sql.find('\n', at), sql.size());
            continue;
        }
        const std::size_t begin = at;
        while (at < sql.size() && is_in_name(sql[at])) {
            ++at;
        }
        if (at == begin) {
            ++at;
            continue;
        }
        words.push_back(base::lower(sql.substr(begin, at - begin)));
    }
    std::ranges::sort(words);
    words.erase(std::unique(words.begin(), words.end()), words.end());
    return words;
}

constexpr std::string_view kCreate = "CREATE OR REPLACE ";

// "events" of "CREATE OR REPLACE VIEW events AS …", "half" of "… MACRO half(n) AS …", "kernels" of "… TABLE internal.kernels AS …"
std::string name_in(std::string_view create) {
    std::string_view rest = create.substr(kCreate.size());
    rest.remove_prefix(rest.find(' ') + 1);
    rest = rest.substr(0, rest.find_first_of(" (\n"));
    return base::lower(rest.substr(rest.find('.') + 1));
}

// Statements one after another that are made in the same way.
struct Run {
    bool is_bound;
    std::string sql;
};

bool may_list_names(const std::vector<std::string>& words) {
    return std::ranges::any_of(words, [](const std::string& word) {
        return word == "show" || word == "pragma" || word == "information_schema" ||
               word.starts_with("duckdb_") || word.starts_with("sqlite_") ||
               word.starts_with("pg_");
    });
}

}  // namespace

void Definitions::add(std::string_view statements) {
    const std::string next = std::string("\n").append(kCreate);
    std::vector<Definition> batch;
    std::size_t place = definitions_.size();
    for (std::size_t begin = statements.find(kCreate); begin < statements.size();) {
        const std::size_t end = std::min(statements.find(next, begin), statements.size());
        const std::string_view sql = statements.substr(begin, end - begin);
        batch.push_back({.name = name_in(sql),
                         .sql = std::string(sql) + "\n;\n",
                         .is_table = sql.substr(kCreate.size()).starts_with("TABLE")});
        const auto known = places_.find(batch.back().name);
        place = known == places_.end() ? place : std::min(place, known->second);
        begin = end + 1;
    }
    for (Definition& definition : batch) {
        const auto known = places_.find(definition.name);
        if (known != places_.end()) {
            Definition& other = definitions_[known->second];
            definition.is_outdated = other.is_made || other.is_outdated;
            other = std::move(definition);
            continue;
        }
        definitions_.insert(definitions_.begin() + static_cast<std::ptrdiff_t>(place++),
                            std::move(definition));
        for (std::size_t i = place - 1; i < definitions_.size(); ++i) {
            places_[definitions_[i].name] = i;
        }
    }
}

Result<void> Definitions::make_for(const Engine& engine,
                                   std::string_view sql,
                                   const std::atomic<bool>* cancelled) {
    const std::vector<std::string> words = words_of(sql);
    if (may_list_names(words)) {
        TRY(make(engine, std::vector<bool>(definitions_.size(), true), true, cancelled));
        return {};
    }
    std::vector<bool> is_wanted(definitions_.size());
    for (std::size_t i = 0; i < definitions_.size(); ++i) {
        is_wanted[i] = definitions_[i].is_outdated;
    }
    want(words, definitions_.size(), is_wanted);
    for (std::size_t i = definitions_.size(); i-- > 0;) {
        if (is_wanted[i]) {
            Definition& definition = definitions_[i];
            if (definition.words.empty()) {
                definition.words = words_of(definition.sql);
            }
            want(definition.words, i, is_wanted);
        }
    }
    TRY(make(engine, is_wanted, false, cancelled));
    return {};
}

Result<bool> Definitions::make_all(const Engine& engine) {
    return make(engine, std::vector<bool>(definitions_.size(), true), false, nullptr);
}

void Definitions::want(const std::vector<std::string>& words,
                       std::size_t before,
                       std::vector<bool>& is_wanted) const {
    for (const std::string& word : words) {
        const auto known = places_.find(word);
        if (known != places_.end() && known->second < before) {
            is_wanted[known->second] = true;
        }
    }
}

Result<bool> Definitions::make(const Engine& engine,
                               const std::vector<bool>& is_wanted,
                               bool is_listed,
                               const std::atomic<bool>* cancelled) {
    std::vector<Run> runs;
    for (std::size_t i = 0; i < definitions_.size(); ++i) {
        const Definition& definition = definitions_[i];
        const bool is_there = definition.is_made && (definition.is_bound || !is_listed);
        if (is_wanted[i] && !is_there) {
            const bool is_bound = definition.is_table || is_listed;
            if (runs.empty() || runs.back().is_bound != is_bound) {
                runs.push_back({.is_bound = is_bound, .sql = {}});
            }
            runs.back().sql += definition.sql;
        }
    }
    if (runs.empty()) {
        return false;
    }
    if (connection_.get() == nullptr) {
        TRY(connection_, engine.connect());
    }
    const InterruptWatch watch(connection_.get(), cancelled);
    for (const Run& run : runs) {
        TRY((run.is_bound ? run_on : add_catalog_entries)(connection_.get(), run.sql));
    }
    for (std::size_t i = 0; i < definitions_.size(); ++i) {
        Definition& definition = definitions_[i];
        if (is_wanted[i]) {
            definition.is_bound =
                is_listed || definition.is_table || (definition.is_made && definition.is_bound);
            definition.is_made = true;
            definition.is_outdated = false;
        }
    }
    return true;
}

}  // namespace dyetrace::store
