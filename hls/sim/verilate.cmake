# SPDX-License-Identifier: Apache-2.0
# Verilator's C++ of a unit of the shell (hls/rtl) with the functions behind it, as a library.
execute_process(COMMAND ${VERILATOR} --getenv VERILATOR_ROOT OUTPUT_VARIABLE verilator_root OUTPUT_STRIP_TRAILING_WHITESPACE)
find_package(Threads REQUIRED)

add_library(verilated STATIC ${verilator_root}/include/verilated.cpp ${verilator_root}/include/verilated_dpi.cpp
  ${verilator_root}/include/verilated_threads.cpp)
target_include_directories(verilated SYSTEM PUBLIC ${verilator_root}/include ${verilator_root}/include/vltstd)
target_compile_options(verilated PRIVATE -w)
target_link_libraries(verilated PUBLIC Threads::Threads)

add_library(block_functions STATIC functions/functions_dpi.cpp)
target_link_libraries(block_functions PUBLIC clarion_functions verilated)

set(CLARION_RTL ${PROJECT_SOURCE_DIR}/hls/rtl)
file(GLOB clarion_rtl CONFIGURE_DEPENDS ${CLARION_RTL}/*.sv)
file(GLOB front_end_rtl CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/nic/rtl/*.sv)
set(clarion_packages ${PROJECT_SOURCE_DIR}/nic/rtl/clarion_registers_pkg.sv ${CLARION_RTL}/clarion_sizes_pkg.sv
  ${CLARION_RTL}/clarion_block_pkg.sv)
# Modules of the block's functions: in C++, or what a tool has made of it, with more modules below. That is not ours, so
# nothing is said about its style; files of numbers that it reads are looked for where the program runs.
set(CLARION_FUNCTION_RTL "" CACHE STRING "Verilog of the block's functions in the place of C++, for its test bench")
set(clarion_functions_sv ${CLARION_FUNCTION_RTL})
# Expanded in words, the wide expressions of a sequence of states would be a hundred megabytes of C++.
set(function_options -Wno-lint -Wno-style -Wno-TIMESCALEMOD -Wno-fatal -fno-expand)
if(NOT CLARION_FUNCTION_RTL)
  set(clarion_functions_sv ${CMAKE_CURRENT_SOURCE_DIR}/functions/clarion_functions_dpi.sv)
  set(function_options)
endif()

# add_verilated(LIBRARY TOP FILE [PARAMETER=VALUE...] [PREFIX CLASS] [FIRST FOLDER]): the class of a top module,
# V<LIBRARY> if not said otherwise. Modules that a file in FOLDER has are not taken from anywhere else.
function(add_verilated library top file)
  cmake_parse_arguments(given "" "PREFIX;FIRST" "" ${ARGN})
  set(prefix V${library})
  if(given_PREFIX)
    set(prefix ${given_PREFIX})
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${library})
  set(function_modules ${clarion_functions_sv})
  list(REMOVE_ITEM function_modules ${file})
  list(TRANSFORM function_modules PREPEND "-v;")
  set(archive ${folder}/${prefix}__ALL.a)
  list(TRANSFORM given_UNPARSED_ARGUMENTS PREPEND -G OUTPUT_VARIABLE parameters)
  set(first_modules)
  set(first_files)
  if(given_FIRST)
    set(first_modules -y ${given_FIRST})
    file(GLOB first_files CONFIGURE_DEPENDS ${given_FIRST}/*.sv)
  endif()
  # Without sanitisers: they make it several times slower, and what is ours of it is checked otherwise, the functions
  # by sanitisers of their own and the RTL by its assertions.
  set(flags -O2)
  add_custom_command(
    OUTPUT ${archive} ${folder}/${prefix}.h
    COMMAND ${VERILATOR} --cc --assert -O3 --x-assign fast --x-initial fast -Wno-PINCONNECTEMPTY --top-module ${top}
      --prefix ${prefix} --Mdir ${folder} ${parameters} ${clarion_packages} ${file} ${first_modules}
      -y ${CLARION_RTL} -y ${PROJECT_SOURCE_DIR}/nic/rtl ${function_modules} ${function_options}
    COMMAND make -s -C ${folder} -f ${prefix}.mk CXX=${CMAKE_CXX_COMPILER} OBJCACHE=${CMAKE_CXX_COMPILER_LAUNCHER}
      OPT_FAST=${flags} OPT_SLOW=${flags} ${prefix}__ALL.a
    DEPENDS ${clarion_rtl} ${clarion_packages} ${clarion_functions_sv} ${front_end_rtl} ${first_files} ${file}
    COMMENT "Verilating ${library}"
    VERBATIM)
  add_custom_target(${library}-archive DEPENDS ${archive})
  add_library(${library} STATIC IMPORTED GLOBAL)
  add_dependencies(${library} ${library}-archive)
  file(MAKE_DIRECTORY ${folder})
  set_target_properties(${library} PROPERTIES IMPORTED_LOCATION ${archive})
  target_include_directories(${library} SYSTEM INTERFACE ${folder})
  target_link_libraries(${library} INTERFACE block_functions verilated)
endfunction()
