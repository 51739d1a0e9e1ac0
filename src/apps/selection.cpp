#include "apps/selection.h"

#include <CLI/CLI.hpp>

#include "apps/amounts.h"

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
        TRY(const std::chrono::nanoseconds duration, parse_duration(longer));
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
    verb.add_flag("--errors", options.errors, "Keep only calls that failed");
    verb.add_option("--longer", options.longer, "Keep only calls that took longer: 1ms, 2s")
        ->type_name("TIME");
}

void Selection::learn(std::span<const std::byte> facts) {
    while (!facts.empty()) {
        const schema::RecordBytes record = schema::first_record(facts);
        if (record.empty()) {
            return;
        }
        dictionary_.add(record);
        facts = facts.subspan(record.size());
    }
}

void Selection::decide(std::uint32_t cpu, schema::RecordBytes record) {
    const schema::RecordId type = schema::header_of(record).type;
    const bool is_event =
        type == schema::RecordId::kSyscallEvent || type == schema::RecordId::kPartEvent ||
        type == schema::RecordId::kLogEvent || type == schema::RecordId::kSignalEvent;
    if (is_event) {
        kept_ = evaluator_.matches(record, static_cast<std::uint16_t>(cpu), dictionary_);
    }
}

}  // namespace dyetrace::apps
