// Any bytes as the first lines of a request: what is let in begins with the token, and asks a loopback name once.

#include <cstdint>
#include <string>

#include "api/request_head.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string head = std::string(reinterpret_cast<const char*>(data), size) + "\r\n\r\n";
    const int refusal = dyetrace::api::refusal_of(head, "/secret/");
    CHECK(refusal == 0 || refusal == 400 || refusal == 403 || refusal == 404);
    if (refusal == 0) {
        CHECK(head.find(" /secret/") < head.find("\r\n"));
        CHECK(head.find("127.0.0.1") != head.npos || head.find("localhost") != head.npos ||
              head.find("[::1]") != head.npos);
    }
    return 0;
}
