// The page as it is carried in the program; build.mjs makes it.
#pragma once

#include <span>

#include "api/http_server.h"

namespace dyetrace::ui {

std::span<const api::PageFile> page_files();

}  // namespace dyetrace::ui
