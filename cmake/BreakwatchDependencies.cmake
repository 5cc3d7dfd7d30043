# Finds every third-party package once; each library links the ones that it names.
find_package(Threads REQUIRED)
find_package(CURL REQUIRED)
find_package(ZLIB REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(spdlog REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(pugixml REQUIRED)
find_package(simdjson REQUIRED)
find_package(Snappy REQUIRED)
find_package(prometheus-cpp REQUIRED COMPONENTS core)
if(BREAKWATCH_TESTS)
  find_package(GTest REQUIRED)
endif()
if(BREAKWATCH_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()

# SOCI of Debian ships no CMake package.
find_library(SOCI_CORE soci_core REQUIRED)
find_library(SOCI_SQLITE3 soci_sqlite3 REQUIRED)
find_library(SOCI_POSTGRESQL soci_postgresql REQUIRED)
find_path(SOCI_INCLUDE soci/soci.h REQUIRED)
add_library(breakwatch_soci INTERFACE)
target_include_directories(breakwatch_soci SYSTEM INTERFACE ${SOCI_INCLUDE} /usr/include/postgresql)
# It removes type information that the sanitizer's check of virtual tables needs.
if(BREAKWATCH_SANITIZER)
  target_compile_options(breakwatch_soci INTERFACE -fno-sanitize=vptr)
endif()
target_link_libraries(breakwatch_soci INTERFACE ${SOCI_CORE} ${SOCI_SQLITE3} ${SOCI_POSTGRESQL} sqlite3 pq)

# Nor does cpp-httplib, which is a shared library there.
find_library(HTTPLIB cpp-httplib REQUIRED)
add_library(breakwatch_httplib INTERFACE)
target_link_libraries(breakwatch_httplib INTERFACE ${HTTPLIB} OpenSSL::SSL OpenSSL::Crypto Threads::Threads)
# The library was built with these definitions, which change the layout of its classes.
target_compile_definitions(breakwatch_httplib INTERFACE CPPHTTPLIB_OPENSSL_SUPPORT CPPHTTPLIB_ZLIB_SUPPORT
                                                        CPPHTTPLIB_BROTLI_SUPPORT)
# Only headers.
find_path(PROTOZERO_INCLUDE protozero/pbf_writer.hpp REQUIRED)
add_library(breakwatch_protozero INTERFACE)
target_include_directories(breakwatch_protozero SYSTEM INTERFACE ${PROTOZERO_INCLUDE})
