# What cpack makes of a build that was configured with the preset `packages`; `packaging/make` calls it.
#
#   DEB    dyetrace            programs + shared        needs the libraries that they are linked with, as dpkg-shlibdeps finds them
#          dyetrace-agent      its unit, agent.conf     needs dyetrace
#          dyetrace-collector  its unit                 needs dyetrace
#   RPM    the same three packages, with portable instead of programs, so that they need no library
#   TGZ    one folder          portable + shared        needs nothing

set(CPACK_PACKAGE_NAME dyetrace)
set(CPACK_PACKAGE_FILE_NAME "dyetrace-${PROJECT_VERSION}-linux-x86_64")
set(CPACK_PACKAGE_VENDOR dyetrace)
set(CPACK_PACKAGE_CONTACT "The maintainers of dyetrace <maintainers@dyetrace.invalid>") # SECURITY.md says how to reach them
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_PROJECT_CONFIG_FILE "${CMAKE_CURRENT_SOURCE_DIR}/package_kinds.cmake")
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(dyetrace_summary "records every I/O of every process, and answers questions about it")
set(dyetrace_description "From the kernel (BPF), without touching the applications: calls, paths, bytes, requests, flows.
Traces are asked in SQL, read as reports, or looked at in a browser.")
set(agent_summary "records the I/O of this host when a dyetrace collector asks for it")
set(agent_description "The service dyetrace-agent. Say in /etc/dyetrace/agent.conf where the collector is, put this host's
certificates beside it, then: systemctl enable --now dyetrace-agent")
set(collector_summary "brings the traces of many hosts together")
set(collector_description "The service dyetrace-collector. Put its certificates into /etc/dyetrace, readable by the group dyetrace,
then: systemctl enable --now dyetrace-collector")

# Not among what `cmake --install` installs: it would write to /etc, whatever the prefix is.
install(FILES agent.conf DESTINATION /etc/dyetrace COMPONENT agent EXCLUDE_FROM_ALL)
foreach(package dyetrace dyetrace-agent dyetrace-collector)
    string(REPLACE "dyetrace-" "" component ${package})
    string(REPLACE "dyetrace" "programs" component ${component})
    install(FILES debian/copyright DESTINATION share/doc/${package} COMPONENT ${component})
endforeach()

# deb
file(STRINGS /etc/os-release release REGEX "^VERSION_ID=") # VERSION_ID="12"
string(REGEX REPLACE "[^0-9.]" "" release "${release}")
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE "1~deb${release}")
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_DYETRACE_PACKAGE_NAME dyetrace)
set(CPACK_DEBIAN_DYETRACE_DESCRIPTION "${dyetrace_summary}\n${dyetrace_description}")
set(CPACK_DEBIAN_DYETRACE_PACKAGE_SHLIBDEPS ON)
foreach(service agent collector)
    string(TOUPPER ${service} component)
    set(CPACK_DEBIAN_${component}_PACKAGE_NAME dyetrace-${service})
    set(CPACK_DEBIAN_${component}_PACKAGE_ARCHITECTURE all)
    set(CPACK_DEBIAN_${component}_PACKAGE_DEPENDS "dyetrace (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
    set(CPACK_DEBIAN_${component}_DESCRIPTION "${${service}_summary}\n${${service}_description}")
    file(GLOB control CONFIGURE_DEPENDS debian/${service}/*)
    set(CPACK_DEBIAN_${component}_PACKAGE_CONTROL_EXTRA ${control})
endforeach()
set(CPACK_DEBIAN_COLLECTOR_PACKAGE_DEPENDS "${CPACK_DEBIAN_COLLECTOR_PACKAGE_DEPENDS}, passwd")

# rpm
set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_MAIN_COMPONENT dyetrace)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_RELEASE 1)
set(CPACK_RPM_PACKAGE_LICENSE "Apache-2.0 AND GPL-2.0-only")
set(CPACK_RPM_PACKAGE_AUTOREQPROV no) # its libraries are its own, and nobody else's
set(CPACK_RPM_COMPRESSION_TYPE xz)
set(CPACK_RPM_SPEC_MORE_DEFINE "%define __os_install_post %{nil}\n%define _build_id_links none") # stripped it is before
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/lib/systemd /usr/lib/systemd/system /usr/share/man /usr/share/man/man1)
set(CPACK_RPM_DYETRACE_PACKAGE_SUMMARY "${dyetrace_summary}")
set(CPACK_RPM_DYETRACE_PACKAGE_DESCRIPTION "${dyetrace_description}")
foreach(service agent collector)
    string(TOUPPER ${service} component)
    set(CPACK_RPM_${component}_PACKAGE_NAME dyetrace-${service})
    set(CPACK_RPM_${component}_PACKAGE_ARCHITECTURE noarch)
    set(CPACK_RPM_${component}_PACKAGE_REQUIRES "dyetrace = ${PROJECT_VERSION}-${CPACK_RPM_PACKAGE_RELEASE}")
    set(CPACK_RPM_${component}_PACKAGE_SUMMARY "${${service}_summary}")
    set(CPACK_RPM_${component}_PACKAGE_DESCRIPTION "${${service}_description}")
    set(CPACK_RPM_${component}_POST_INSTALL_SCRIPT_FILE "${CMAKE_CURRENT_SOURCE_DIR}/rpm/${service}/post")
    set(CPACK_RPM_${component}_PRE_UNINSTALL_SCRIPT_FILE "${CMAKE_CURRENT_SOURCE_DIR}/rpm/${service}/preun")
    set(CPACK_RPM_${component}_POST_UNINSTALL_SCRIPT_FILE "${CMAKE_CURRENT_SOURCE_DIR}/rpm/${service}/postun")
endforeach()
set(CPACK_RPM_COLLECTOR_PACKAGE_REQUIRES "${CPACK_RPM_COLLECTOR_PACKAGE_REQUIRES}, /usr/sbin/groupadd")
set(CPACK_RPM_AGENT_USER_FILELIST "%config(noreplace) /etc/dyetrace/agent.conf")

include(CPack)
cpack_add_component_group(dyetrace)
cpack_add_component(programs GROUP dyetrace)
cpack_add_component(portable GROUP dyetrace)
cpack_add_component(shared GROUP dyetrace)
foreach(service agent collector)
    cpack_add_component_group(${service})
    cpack_add_component(${service} GROUP ${service})
endforeach()
