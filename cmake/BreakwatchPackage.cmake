# The Debian package: `cpack --config build/release/CPackConfig.cmake -B build/deb`, or `make deb`.
set(BREAKWATCH_PACKAGE_VERSION "${PROJECT_VERSION}-1" CACHE STRING "Version of the Debian package")
set(BREAKWATCH_PACKAGE_MAINTAINER "breakwatch authors <breakwatch@example.org>" CACHE STRING "Maintainer of the Debian package")

set(debian ${CMAKE_SOURCE_DIR}/config/debian)
string(TIMESTAMP BREAKWATCH_PACKAGE_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(${debian}/changelog.in ${CMAKE_BINARY_DIR}/debian/changelog @ONLY)

# What only the package has; `cmake --install` leaves it out.
function(install_in_package file destination)
  cmake_parse_arguments(IN "" "RENAME" "" ${ARGN})
  if(NOT IN_RENAME)
    cmake_path(GET file FILENAME IN_RENAME)
  endif()
  install(FILES ${file} DESTINATION ${destination} RENAME ${IN_RENAME} COMPONENT debian EXCLUDE_FROM_ALL)
endfunction()
install_in_package(${debian}/breakwatch.yaml /etc/breakwatch)
install_in_package(${debian}/breakwatch.default /etc/default RENAME breakwatch)
install_in_package(${debian}/copyright /usr/share/doc/breakwatch)
install_in_package(${debian}/lintian-overrides /usr/share/lintian/overrides RENAME breakwatch)
install_in_package(${CMAKE_BINARY_DIR}/debian/changelog /usr/share/doc/breakwatch RENAME changelog.Debian)
install_in_package(${CMAKE_SOURCE_DIR}/CHANGELOG.md /usr/share/doc/breakwatch RENAME changelog)
# Debian's places for completions and licences, and its compression of documents.
install(CODE [[
  set(share "$ENV{DESTDIR}/usr/share")
  file(MAKE_DIRECTORY "${share}/zsh/vendor-completions")
  file(RENAME "${share}/zsh/site-functions/_breakwatch" "${share}/zsh/vendor-completions/_breakwatch")
  file(REMOVE_RECURSE "${share}/zsh/site-functions" "${share}/doc/breakwatch/LICENSE" "${share}/doc/breakwatch/CHANGELOG.md")
  file(GLOB pages "${share}/man/man1/*.1" "${share}/man/man5/*.5")
  execute_process(COMMAND gzip -9nf ${pages} "${share}/doc/breakwatch/changelog" "${share}/doc/breakwatch/changelog.Debian"
    COMMAND_ERROR_IS_FATAL ANY)
]] COMPONENT debian EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_INSTALL_CMAKE_PROJECTS "${CMAKE_BINARY_DIR};breakwatch;ALL;/;${CMAKE_BINARY_DIR};breakwatch;debian;/")
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_NAME breakwatch)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "${BREAKWATCH_PACKAGE_MAINTAINER}")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "python3, ca-certificates")
# Of `breakwatch setup`, and of the sandbox of captures.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3-venv, bubblewrap")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "prometheus-pushgateway")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "finds the graph breaks of torch.compile
breakwatch takes a ranked list of models from the Hugging Face Hub, captures
the graphs of each in an isolated process, from its config.json alone, and
tells in which model, at which line, for which reason and since which commit
torch.compile breaks. It publishes the results as Prometheus metrics and as
logs for Loki.")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
file(WRITE ${CMAKE_BINARY_DIR}/debian/conffiles "/etc/breakwatch/breakwatch.yaml\n/etc/default/breakwatch\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  ${debian}/postinst ${debian}/prerm ${debian}/postrm ${CMAKE_BINARY_DIR}/debian/conffiles)
include(CPack)
