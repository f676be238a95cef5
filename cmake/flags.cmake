# Compiler flags shared by everything that we write.
set(TAILRACE_SANITIZE "" CACHE STRING "address,undefined or thread; empty for none")

add_compile_options(-Wall -Wextra -Werror -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes -Wconversion -Wno-sign-conversion
                    -Wpointer-arith -Wundef -Wwrite-strings -fno-common -fno-strict-aliasing -fstack-protector-strong -g)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  add_compile_options(-msse4.2)
endif()
add_compile_definitions(_GNU_SOURCE TAILRACE_VERSION="${PROJECT_VERSION}")
if(TAILRACE_SANITIZE)
  add_compile_options(-fsanitize=${TAILRACE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TAILRACE_SANITIZE})
  if(TAILRACE_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()
