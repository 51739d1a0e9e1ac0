#include "transport/session_file.h"

#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "transport/limits.h"

namespace dyetrace::transport {
namespace {

constexpr std::size_t kSessionFileBytesMax =
    1024 * 1024;  // 1,024 hosts and the longest command line

std::string path_of(const std::string& folder) {
    return folder + "/session.json";
}

base::Json json_of(const Part& part) {
    return base::Json::object()
        .set("host", part.host)
        .set("index", part.index)
        .set("phase", static_cast<int>(part.phase))
        .set("has_trace", part.has_trace)
        .set("text", part.text);
}

Result<Part> part_of(const base::Json& json) {
    Part part;
    TRY(const std::uint64_t index, json.get<std::uint64_t>("index"));
    TRY(const std::uint64_t phase, json.get<std::uint64_t>("phase"));
    TRY(json.read("host", part.host, "text", part.text, "has_trace", part.has_trace));
    if (index >= kAgentsMax || !fleet::Phase_IsValid(static_cast<int>(phase)) ||
        !is_plain_name(part.host)) {
        return Error(ErrorCode::kCorrupt, "a host of it makes no sense");
    }
    part.index = static_cast<std::uint16_t>(index);
    part.phase = static_cast<fleet::Phase>(phase);
    return part;
}

Result<Session> session_of(const base::Json& json) {
    Session session;
    TRY(session.id, json.get<std::string>("session"));
    TRY(const std::uint64_t phase, json.get<std::uint64_t>("phase"));
    TRY(session.all_hosts, json.get<bool>("all_hosts"));
    TRY(session.duration_ns, json.get<std::uint64_t>("duration_ns"));
    TRY(session.failure, json.get<std::string>("failure"));
    if (phase > static_cast<std::uint64_t>(SessionPhase::kEnded) || !is_plain_name(session.id)) {
        return Error(ErrorCode::kCorrupt, "its state makes no sense");
    }
    session.phase = static_cast<SessionPhase>(phase);
    for (const base::Json& argument : json.items_at("arguments")) {
        session.arguments.push_back(argument.as<std::string>().value_or(""));
    }
    for (const base::Json& host : json.items_at("hosts")) {
        TRY(Part part, part_of(host));
        const std::string name = part.host;
        session.parts.emplace(name, std::move(part));
    }
    return session;
}

}  // namespace

Result<void> write_session(const Session& session) {
    base::Json arguments = base::Json::array();
    for (const std::string& argument : session.arguments) {
        arguments.append(argument);
    }
    base::Json hosts = base::Json::array();
    for (const auto& [name, part] : session.parts) {
        hosts.append(json_of(part));
    }
    return base::write_file_atomically(path_of(session.path),
                                       base::Json::object()
                                           .set("session", session.id)
                                           .set("phase", static_cast<int>(session.phase))
                                           .set("all_hosts", session.all_hosts)
                                           .set("duration_ns", session.duration_ns)
                                           .set("failure", session.failure)
                                           .set("arguments", std::move(arguments))
                                           .set("hosts", std::move(hosts))
                                           .pretty_text());
}

Result<Session> read_session(const std::string& path) {
    TRY(const std::string text, base::read_file(path_of(path), kSessionFileBytesMax));
    TRY(const base::Json json, base::Json::parse(text));
    TRY(Session session, session_of(json));
    session.path = path;
    return session;
}

}  // namespace dyetrace::transport
