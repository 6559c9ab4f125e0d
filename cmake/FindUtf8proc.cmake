# utf8proc: Unicode normalisation and categories for the WordPiece tokenizer.
find_path(Utf8proc_INCLUDE_DIR utf8proc.h)
find_library(Utf8proc_LIBRARY utf8proc)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Utf8proc
  REQUIRED_VARS Utf8proc_LIBRARY Utf8proc_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install libutf8proc-dev (Debian, Ubuntu) or utf8proc-devel (Fedora)")
if(Utf8proc_FOUND AND NOT TARGET Utf8proc::utf8proc)
  add_library(Utf8proc::utf8proc UNKNOWN IMPORTED)
  set_target_properties(Utf8proc::utf8proc PROPERTIES
    IMPORTED_LOCATION ${Utf8proc_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${Utf8proc_INCLUDE_DIR})
endif()
