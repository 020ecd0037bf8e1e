# SPDX-License-Identifier: Apache-2.0
# The libraries that watch the calls of an MPI, with hooks made from calls.txt, the one table of names.
set(watch ${CMAKE_CURRENT_SOURCE_DIR}/watch)
set(made ${CMAKE_CURRENT_BINARY_DIR}/watch)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/missing/calls.txt ${watch}/hook.c.in
             ${watch}/fortran.c.in ${watch}/hooks.c.in)
set(licence 42)  # the first line of a template
file(STRINGS ${PROJECT_SOURCE_DIR}/src/missing/calls.txt calls REGEX "^[A-Z]")

# tollbar_arguments(3): sets parameters, types and arguments to "word a1, word a2, word a3", "word, word, word" and
# "a1, a2, a3".
function(tollbar_arguments count)
    set(arguments "")
    set(parameters void)
    if(count GREATER 0)
        foreach(place RANGE 1 ${count})
            list(APPEND arguments a${place})
        endforeach()
        list(JOIN arguments ", " arguments)
        string(REPLACE a "word a" parameters "${arguments}")
    endif()
    string(REGEX REPLACE " a[0-9]+" "" types "${parameters}")
    foreach(text IN ITEMS parameters types arguments)
        set(${text} "${${text}}" PARENT_SCOPE)
    endforeach()
endfunction()

# tollbar_hook(line MPI_Bcast_c 5 1): appends the hook of C to `hooks`, and that of Fortran, whose large counts have
# other arguments.
function(tollbar_hook line name count large)
    tollbar_arguments(${count})
    file(READ ${watch}/hook.c.in template OFFSET ${licence})
    string(CONFIGURE "${template}" hook @ONLY)
    string(APPEND hooks "${hook}")
    if(NOT large)
        string(TOLOWER ${name} call)
        string(REGEX REPLACE "^mpi_?" "" call ${call})
        list(GET next 0 first)
        list(GET next -1 second)
        tollbar_spelled(first ${first} ${call})
        tollbar_spelled(second ${second} ${call})
        math(EXPR error "${count} + 1")
        math(EXPR all "${count} + 2")  # the length of a text, of which there is never more than one
        tollbar_arguments(${all})
        set(error a${error})
        if(name MATCHES "^MPI_Init")
            set(error 0)  # those of Fortran have one argument or two less
        endif()
        file(READ ${watch}/fortran.c.in template OFFSET ${licence})
        string(CONFIGURE "${template}" hook @ONLY)
        string(APPEND hooks "${hook}")
        set(fortran_calls ${fortran_calls} ${call} PARENT_SCOPE)
    endif()
    set(hooks "${hooks}" PARENT_SCOPE)
endfunction()

# tollbar_watch(openmpi), with the preload_... of its preload.
function(tollbar_watch family)
    set(known "")
    foreach(folder IN LISTS preload_INCLUDES)
        file(GLOB headers ${folder}/mpi*.h ${folder}/openmpi/mpiext/*_c.h)
        foreach(header IN LISTS headers)
            file(STRINGS ${header} found REGEX "MPIX?_[A-Z][a-z_]+ *\\(")
            string(APPEND known "${found}")
        endforeach()
    endforeach()
    set(spellings mpi_@call@_f08_ mpi_@call@_f08ts_)
    set(next ${spellings})
    if("${family}" STREQUAL "openmpi")  # a variable of that name is there
        set(spellings mpi_@call@ mpi_@call@_ mpi_@call@__ MPI_@CALL@ ompi_@call@_f)
        set(next mpi_@call@_)
    endif()
    set(line 0)
    set(hooks "")
    set(fortran_calls "")
    foreach(call IN LISTS calls)
        string(REGEX REPLACE " +" ";" fields ${call})
        list(POP_FRONT fields name arguments kind)
        foreach(name IN ITEMS MPI_${name} MPIX_${name})
            if(known MATCHES "[^A-Z]${name} *\\(")
                tollbar_hook(${line} ${name} ${arguments} 0)
            endif()
            if(known MATCHES "[^A-Z]${name}_c *\\(")
                tollbar_hook(${line} ${name}_c ${arguments} 1)
            endif()
        endforeach()
        math(EXPR line "${line} + 1")
    endforeach()
    configure_file(${watch}/hooks.c.in ${made}/hooks_${family}.c @ONLY)

    set(names "")
    tollbar_fortran_names(names "${fortran_calls}" ${spellings})
    string(REPLACE LINKER: "" names "${names}")
    list(JOIN names "\n" names)
    file(CONFIGURE OUTPUT ${made}/names_${family} CONTENT "${names}\n" @ONLY)

    set(target tollbar_mpi_watch_${family})
    add_library(${target} SHARED ${made}/hooks_${family}.c ${watch}/gathered.cpp ${watch}/known.cpp
                                 ${watch}/threads.cpp everybody.c ${preload_SOURCES}
                                 ${PROJECT_SOURCE_DIR}/src/transports/mpi/host_mpi.c
                                 ${PROJECT_SOURCE_DIR}/src/base/sanitizers.c)
    set_target_properties(${target} PROPERTIES C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden
                          LINKER_LANGUAGE CXX LINK_DEPENDS "${watch}/exports.map;${made}/names_${family}")
    tollbar_compile_preload(${target} tollbar_mpi_watch_ "its calls are not watched")
    target_include_directories(${target} PRIVATE ${watch})
    target_link_libraries(${target} PRIVATE tollbar_watch tollbar_static tollbar_warnings)
    target_link_options(${target} PRIVATE LINKER:@${made}/names_${family} LINKER:--version-script=${watch}/exports.map
                        LINKER:-z,lazy LINKER:--exclude-libs,ALL -static-libstdc++ -static-libgcc)
    set_source_files_properties(${made}/hooks_${family}.c PROPERTIES COMPILE_OPTIONS -fvisibility=default)
    if(TOLLBAR_INSTALL)
        install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    endif()
endfunction()
