# LibTorch out of the Python package `torch`, 2.11 to 2.15.
#
# Not find_package(Torch): on a CUDA wheel that demands a full CUDA toolkit of one exact version, which
# host-only C++ code does not need. The Python to ask is Python3_EXECUTABLE, else `python3`.
#
# Sets LibTorch_VERSION (2.15.0), LibTorch_FULL_VERSION (2.15.0+cu132), LibTorch_CUDA_VERSION (empty for a
# CPU build), LibTorch_CUDA_ARCHS, the versions of the packages it runs on, LibTorch_CUDART_VERSION,
# LibTorch_CUBLAS_VERSION, LibTorch_CUDNN_VERSION and LibTorch_NCCL_VERSION, LibTorch_GLOO (1 or 0: whether
# it has it), LibTorch_LIBRARY_DIR and the targets LibTorch::cpu (torch_cpu and c10) and LibTorch::python (for
# Python modules). libtorch_cuda is not linked: the library loads it when a driver is there
# (libtrain/runtime/cuda_library.cpp).
if(NOT Python3_EXECUTABLE)
  find_program(Python3_EXECUTABLE NAMES python3 REQUIRED)
endif()
set(_probe [[
import importlib.metadata as m, os, re, sys
def version(*names):
    for name in names:
        try:
            return m.version(name)
        except m.PackageNotFoundError:
            pass
    return ""
try:
    import torch
except Exception as error:
    print(f"import torch failed: {error}", file=sys.stderr)
    sys.exit(1)
flags = torch._C._cuda_getArchFlags() if torch.version.cuda else ""
cuda = re.match(r"\d+", torch.version.cuda or "")
def package(name):  # of CUDA 13 some have no suffix
    return version(f"{name}-cu{cuda.group(0)}", name) if cuda else ""
gloo = torch.distributed.is_available() and torch.distributed.is_gloo_available()
print("|".join([
    os.path.dirname(torch.__file__), torch.__version__, torch.version.cuda or "", flags or "",
    package("nvidia-cuda-runtime"), package("nvidia-cublas"), package("nvidia-cudnn"), package("nvidia-nccl"),
    str(int(gloo)), str(int(torch._C._GLIBCXX_USE_CXX11_ABI))]))
]])
execute_process(COMMAND ${Python3_EXECUTABLE} -c "${_probe}"
  OUTPUT_VARIABLE _facts ERROR_VARIABLE _error RESULT_VARIABLE _result OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT _result EQUAL 0)
  string(STRIP "${_error}" _error)
  set(_reason "${Python3_EXECUTABLE}: ${_error}: pip install 'torch>=2.11,<2.16' there, or name another with -DPython3_EXECUTABLE=")
else()
  string(REPLACE ";" "," _facts "${_facts}")
  string(REPLACE "|" ";" _facts "${_facts}")
  list(GET _facts 0 LibTorch_DIR_FOUND)
  list(GET _facts 1 LibTorch_FULL_VERSION)
  list(GET _facts 2 LibTorch_CUDA_VERSION)
  list(GET _facts 3 LibTorch_CUDA_ARCHS)
  list(GET _facts 4 LibTorch_CUDART_VERSION)
  list(GET _facts 5 LibTorch_CUBLAS_VERSION)
  list(GET _facts 6 LibTorch_CUDNN_VERSION)
  list(GET _facts 7 LibTorch_NCCL_VERSION)
  list(GET _facts 8 LibTorch_GLOO)
  list(GET _facts 9 LibTorch_CXX11_ABI)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+\\.[0-9]+" LibTorch_VERSION "${LibTorch_FULL_VERSION}")
  set(LibTorch_LIBRARY_DIR ${LibTorch_DIR_FOUND}/lib)
  if(LibTorch_VERSION VERSION_LESS 2.11 OR LibTorch_VERSION VERSION_GREATER_EQUAL 2.16)
    set(_reason "${Python3_EXECUTABLE} has torch ${LibTorch_FULL_VERSION}, expected 2.11 to 2.15: pip install torch==2.15.0")
    set(LibTorch_LIBRARY_DIR "")
  elseif(NOT LibTorch_CXX11_ABI EQUAL 1)
    set(_reason "torch ${LibTorch_FULL_VERSION} was built with the old C++ ABI: use a wheel from PyPI")
    set(LibTorch_LIBRARY_DIR "")
  endif()
endif()
string(REPLACE ";" "," _reason "${_reason}")  # a semicolon would split the message into arguments
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch
  REQUIRED_VARS LibTorch_LIBRARY_DIR VERSION_VAR LibTorch_VERSION REASON_FAILURE_MESSAGE "${_reason}")
if(LibTorch_FOUND AND NOT TARGET LibTorch::cpu)
  add_library(LibTorch::c10 SHARED IMPORTED)
  set_target_properties(LibTorch::c10 PROPERTIES IMPORTED_LOCATION ${LibTorch_LIBRARY_DIR}/libc10.so)
  add_library(LibTorch::cpu SHARED IMPORTED)
  set_target_properties(LibTorch::cpu PROPERTIES
    IMPORTED_LOCATION ${LibTorch_LIBRARY_DIR}/libtorch_cpu.so
    INTERFACE_INCLUDE_DIRECTORIES
      "${LibTorch_DIR_FOUND}/include;${LibTorch_DIR_FOUND}/include/torch/csrc/api/include"
    INTERFACE_LINK_LIBRARIES LibTorch::c10
    # The wheel finds its own CUDA folders by its RPATH when it is loaded, not when we link.
    INTERFACE_LINK_OPTIONS -Wl,--allow-shlib-undefined)
  add_library(LibTorch::python SHARED IMPORTED)
  set_target_properties(LibTorch::python PROPERTIES
    IMPORTED_LOCATION ${LibTorch_LIBRARY_DIR}/libtorch_python.so
    INTERFACE_LINK_LIBRARIES LibTorch::cpu)
  # c10's class layouts must not depend on -mtune.
  target_compile_options(LibTorch::cpu INTERFACE
    "$<$<CXX_COMPILER_ID:GNU>:SHELL:--param destructive-interference-size=64>")
endif()
