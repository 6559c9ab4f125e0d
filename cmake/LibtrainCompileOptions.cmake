# What every target of this project is compiled with, and the sanitizers that were asked for.
add_library(libtrain_options INTERFACE)
# Options are given by designated initialisers, which leave out what keeps its default.
target_compile_options(libtrain_options INTERFACE -Wall -Wextra -Wno-missing-field-initializers
  $<$<CXX_COMPILER_ID:Clang>:-Wreserved-identifier>
  $<$<BOOL:${LIBTRAIN_WERROR}>:-Werror>)
# One fmt for all files: see cmake/FindFmt9Headers.cmake.
target_compile_definitions(libtrain_options INTERFACE FMT_HEADER_ONLY)

if(LIBTRAIN_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=address,undefined)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # Clang compares the C++ types of both sides of a call. A driver's library is C, declared anew on each side,
    # so a handle's struct has another name there.
    add_compile_options(-fno-sanitize=function)
  endif()
elseif(LIBTRAIN_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
elseif(NOT LIBTRAIN_SANITIZE STREQUAL "")
  message(FATAL_ERROR "LIBTRAIN_SANITIZE=${LIBTRAIN_SANITIZE}, expected empty, address or thread")
endif()

# For every file that calls at::parallel_for: without it the loop runs on one thread, silently. By flag and not
# by OpenMP::OpenMP_CXX, whose path to the compiler's libgomp would stand before LibTorch's own copy.
add_library(libtrain_openmp INTERFACE)
target_compile_options(libtrain_openmp INTERFACE -fopenmp)
target_link_options(libtrain_openmp INTERFACE -fopenmp)
