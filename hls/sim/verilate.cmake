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
set(clarion_packages ${PROJECT_SOURCE_DIR}/nic/rtl/clarion_registers_pkg.sv ${CLARION_RTL}/clarion_sizes_pkg.sv
  ${CLARION_RTL}/clarion_block_pkg.sv)
set(clarion_functions_sv ${CMAKE_CURRENT_SOURCE_DIR}/functions/clarion_functions_dpi.sv)

# add_verilated(LIBRARY TOP FILE [PARAMETER=VALUE...]): the class V<LIBRARY> of a top module.
function(add_verilated library top file)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${library})
  set(archive ${folder}/V${library}__ALL.a)
  list(TRANSFORM ARGN PREPEND -G OUTPUT_VARIABLE parameters)
  set(flags -O2)
  if(CLARION_SANITIZE)
    set(flags "-O1 -fsanitize=address,undefined -fno-sanitize=alignment,shift")
  endif()
  add_custom_command(
    OUTPUT ${archive} ${folder}/V${library}.h
    COMMAND ${VERILATOR} --cc --assert -O3 --x-assign fast --x-initial fast -Wno-PINCONNECTEMPTY --top-module ${top}
      --prefix V${library} --Mdir ${folder} ${parameters} ${clarion_packages} ${file} -y ${CLARION_RTL}
      -y ${PROJECT_SOURCE_DIR}/nic/rtl -v ${clarion_functions_sv}
    COMMAND make -s -C ${folder} -f V${library}.mk CXX=${CMAKE_CXX_COMPILER} OBJCACHE=${CMAKE_CXX_COMPILER_LAUNCHER}
      OPT_FAST=${flags} OPT_SLOW=${flags} V${library}__ALL.a
    DEPENDS ${clarion_rtl} ${clarion_packages} ${clarion_functions_sv} ${file}
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
