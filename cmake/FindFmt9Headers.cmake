# The system's fmt, header-only, ahead of every other include folder.
#
# LibTorch's include folder holds a newer fmt of its own. Which of the two a file sees would depend on
# the order of the folders; a folder that holds nothing but a link to the system's copy, searched
# first, gives all files the same one. tests/torch checks it.
find_path(Fmt9Headers_DIR_WITH_FMT fmt/format.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Fmt9Headers
  REQUIRED_VARS Fmt9Headers_DIR_WITH_FMT
  REASON_FAILURE_MESSAGE "install libfmt-dev (Debian, Ubuntu) or fmt-devel (Fedora)")
if(Fmt9Headers_FOUND AND NOT TARGET Fmt9::headers)
  set(_folder ${CMAKE_CURRENT_BINARY_DIR}/fmt_first)
  file(MAKE_DIRECTORY ${_folder})
  file(CREATE_LINK ${Fmt9Headers_DIR_WITH_FMT}/fmt ${_folder}/fmt SYMBOLIC)
  add_library(Fmt9::headers INTERFACE IMPORTED)
  target_compile_options(Fmt9::headers INTERFACE "SHELL:-isystem ${_folder}")
  target_compile_definitions(Fmt9::headers INTERFACE FMT_HEADER_ONLY)
endif()
