# Fails when an object file made for one instruction set defines a weak function: the code of an inline function
# or template that other object files may define as well. NM: the tool; OBJECTS: object files separated by "|".
string(REPLACE "|" ";" OBJECTS "${OBJECTS}")
if(NOT OBJECTS)
  message(FATAL_ERROR "no object files to check")
endif()
foreach(OBJECT IN LISTS OBJECTS)
  execute_process(COMMAND "${NM}" --demangle --defined-only "${OBJECT}"
                  OUTPUT_VARIABLE SYMBOLS COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[0-9a-fA-F]+ W [^\n]+" SHARED "${SYMBOLS}")
  if(SHARED)
    string(REPLACE ";" "\n  " SHARED "${SHARED}")
    get_filename_component(NAME "${OBJECT}" NAME)
    message(FATAL_ERROR "${NAME} defines code that other files may share; put it in an anonymous namespace "
                        "or mark it always_inline:\n  ${SHARED}")
  endif()
endforeach()
