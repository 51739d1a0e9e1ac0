// What a verb says of events that are missing, and of what helps.
#pragma once

#include <string>

#include "base/log.h"
#include "capture/accounting.h"
#include "recorder/recording.h"

namespace dyetrace::apps {

// For the line that sums a recording up: "nothing lost".
std::string losses_text(const recorder::Summary& summary);

// A line for each cause.
void warn_of_losses(const base::Log& log, const recorder::Summary& summary);
void warn_of_losses(const base::Log& log, const capture::Accounting& accounting);

// For the line that sums up what was counted: ", 12 not counted (table full)", or nothing.
std::string not_counted_text(const capture::Accounting& accounting);

}  // namespace dyetrace::apps
