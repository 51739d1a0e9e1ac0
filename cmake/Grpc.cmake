# The protocol of agents and collector, compiled once: target dyetrace_fleet_proto, headers
# <build>/generated/transport/fleet.pb.h and fleet.grpc.pb.h. Generated code is a system include: our warnings do not reach it.

find_package(Protobuf REQUIRED)
find_package(OpenSSL REQUIRED)
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)

function(add_fleet_proto)
    set(folder "${PROJECT_BINARY_DIR}/generated/transport")
    set(proto "${CMAKE_CURRENT_SOURCE_DIR}/fleet.proto")
    set(made "${folder}/fleet.pb.cc" "${folder}/fleet.grpc.pb.cc")
    file(MAKE_DIRECTORY "${folder}")
    add_custom_command(
        OUTPUT ${made} "${folder}/fleet.pb.h" "${folder}/fleet.grpc.pb.h"
        COMMAND protobuf::protoc --cpp_out=${folder} --grpc_out=${folder} "--plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN}"
            -I "${CMAKE_CURRENT_SOURCE_DIR}" "${proto}"
        DEPENDS "${proto}"
        COMMENT "gRPC transport/fleet.proto"
        VERBATIM)
    add_library(dyetrace_fleet_proto STATIC ${made})
    target_compile_options(dyetrace_fleet_proto PRIVATE ${DYETRACE_COLD_OPTIONS})
    target_include_directories(dyetrace_fleet_proto SYSTEM PUBLIC "${folder}" "${PROJECT_BINARY_DIR}/generated")
    target_link_libraries(dyetrace_fleet_proto PUBLIC grpc++ grpc gpr absl_synchronization protobuf::libprotobuf)
endfunction()
