# The toolchain of wheels for any Linux with glibc 2.28 or newer: Debian's g++ for PM_MACHINE (x86_64, aarch64), linked with the
# libraries in PM_SYSROOT, which sysroot.py makes. The C++ standard library is linked statically and stays hidden: an old system has
# an older one.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PM_MACHINE PM_SYSROOT)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${PM_MACHINE})
set(CMAKE_C_COMPILER ${PM_MACHINE}-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER ${PM_MACHINE}-linux-gnu-g++)

# The linker drops functions that nothing calls.
set(CMAKE_C_FLAGS_INIT "-ffunction-sections -fdata-sections")
set(CMAKE_CXX_FLAGS_INIT "-ffunction-sections -fdata-sections")
# -B: the start of executables; -L: the libraries.
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT
      "-B${PM_SYSROOT} -L${PM_SYSROOT} -static-libstdc++ -Wl,--exclude-libs,ALL -Wl,--gc-sections -Wl,-O1 -s")
endforeach()
# A function that glibc 2.28 lacks is an error of the linker; in the module, where Python's functions are undefined, one of
# checks.py. An executable may load this machine's libgcc_s, which is newer, but not ours.
string(APPEND CMAKE_SHARED_LINKER_FLAGS_INIT " -Wl,-z,defs")
string(APPEND CMAKE_EXE_LINKER_FLAGS_INIT " -Wl,--allow-shlib-undefined")
