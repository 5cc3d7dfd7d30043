# `cmake --install build/release --prefix DIR`: the program in bin/, its data in share/breakwatch with the layout of the
# source tree, where the program finds them relative to itself.
include(GNUInstallDirs)

set(data ${CMAKE_INSTALL_DATADIR}/breakwatch)
install(TARGETS breakwatch RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

# libtorch is not part of the installation: `breakwatch setup` puts a copy of the runner beside the toolchain that it
# makes, with a link lib/libtorch to the libraries.
if(TARGET breakwatch-runner)
  set_target_properties(breakwatch-runner PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/libtorch")
  install(TARGETS breakwatch-runner RUNTIME DESTINATION lib/breakwatch)
endif()

# What the program reads.
install(DIRECTORY collectors/capture/worker/breakwatch_worker DESTINATION ${data}/collectors/capture/worker
  PATTERN __pycache__ EXCLUDE)
install(FILES collectors/capture/worker/requirements.lock DESTINATION ${data}/collectors/capture/worker)
install(FILES collectors/capture/structure_ignored.yaml DESTINATION ${data}/collectors/capture)
install(DIRECTORY collectors/hub/snapshot DESTINATION ${data}/collectors/hub)

# What its users read, copy or load into other programs.
install(FILES config/breakwatch.example.yaml config/families.yaml config/prices.example.yaml DESTINATION ${data}/config)
install(DIRECTORY config/ci DESTINATION ${data}/config PATTERN *.md EXCLUDE)
install(DIRECTORY dashboards/rules dashboards/alloy DESTINATION ${data}/dashboards PATTERN *.md EXCLUDE)
install(DIRECTORY dashboards/grafana DESTINATION ${data}/dashboards FILES_MATCHING PATTERN *.json
  PATTERN __pycache__ EXCLUDE)

# The documents, in folders as in the source tree, so that their links work.
install(FILES README.md SECURITY.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
file(GLOB_RECURSE documents RELATIVE ${CMAKE_SOURCE_DIR} CONFIGURE_DEPENDS
  config/*.md collectors/*.md daemon/*.md exporters/*.md dashboards/*.md docker/*.md dashboards/page/*.png)
foreach(document ${documents})
  cmake_path(GET document PARENT_PATH folder)
  install(FILES ${document} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
endforeach()

# Man pages and completions, which the program makes from its own tables.
set(docs ${CMAKE_BINARY_DIR}/docs)
add_custom_command(OUTPUT ${docs}/man/breakwatch.yaml.5 ${docs}/breakwatch.bash ${docs}/_breakwatch ${docs}/breakwatch.fish
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${docs}/man
  COMMAND breakwatch docs man ${docs}/man
  COMMAND breakwatch docs completion bash >${docs}/breakwatch.bash
  COMMAND breakwatch docs completion zsh >${docs}/_breakwatch
  COMMAND breakwatch docs completion fish >${docs}/breakwatch.fish
  DEPENDS breakwatch)
add_custom_target(breakwatch_docs ALL DEPENDS ${docs}/man/breakwatch.yaml.5)
install(DIRECTORY ${docs}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN *.1)
install(FILES ${docs}/man/breakwatch.yaml.5 DESTINATION ${CMAKE_INSTALL_MANDIR}/man5)
install(FILES ${docs}/breakwatch.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME breakwatch)
install(FILES ${docs}/_breakwatch DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${docs}/breakwatch.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# The units name the program by its path, which the prefix decides.
install(CODE "set(units ${CMAKE_SOURCE_DIR}/config/systemd)")
install(CODE [[
  foreach(name breakwatch.service breakwatch-sweep.service breakwatch-sweep.timer)
    file(READ "${units}/${name}" unit)
    string(REPLACE "=/usr/" "=${CMAKE_INSTALL_PREFIX}/" unit "${unit}")
    string(REPLACE "file:///usr/" "file://${CMAKE_INSTALL_PREFIX}/" unit "${unit}")
    set(installed "${CMAKE_INSTALL_PREFIX}/lib/systemd/system/${name}")
    message(STATUS "Installing: $ENV{DESTDIR}${installed}")
    file(WRITE "$ENV{DESTDIR}${installed}" "${unit}")
    list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${installed}")
  endforeach()
]])
