#include "apps/cli/selection_options.h"

#include <CLI/CLI.hpp>

#include "base/amounts.h"
#include "filter/short_forms.h"

namespace dyetrace::apps {

Result<filter::Predicate> SelectionOptions::predicate() const {
    filter::ShortForms forms;
    forms.comms = comms;
    for (const std::string& path : paths) {
        for (std::string& meaning : filter::path_meanings(path)) {
            forms.paths.push_back(std::move(meaning));
        }
    }
    forms.ports = ports;
    forms.errors = errors;
    forms.where = where;
    if (!longer.empty()) {
        TRY(const std::chrono::nanoseconds duration, base::parse_duration(longer));
        forms.longer_ns = static_cast<std::uint64_t>(duration.count());
    }
    return filter::predicate_of(forms);
}

void add_selection_options(CLI::App& verb, SelectionOptions& options) {
    verb.add_option(
            "--where",
            options.where,
            "Keep only events for which this SQL condition over the columns of `events` is true")
        ->type_name("SQL");
    verb.add_option("--comm", options.comms, "Keep only events of threads with this name or glob")
        ->type_name("NAME")
        ->allow_extra_args(false);
    verb.add_option("-P,--path", options.paths, "Keep only events on this path or glob")
        ->type_name("PATH")
        ->allow_extra_args(false);
    verb.add_option(
            "--port", options.ports, "Keep only events on sockets with this port, on either end")
        ->type_name("PORT")
        ->allow_extra_args(false);
    verb.add_flag("--errors",
                  options.errors,
                  "Keep only calls that failed, not those that would only have to wait");
    verb.add_option("--longer", options.longer, "Keep only calls that took longer: 1ms, 2s")
        ->type_name("TIME");
}

}  // namespace dyetrace::apps
