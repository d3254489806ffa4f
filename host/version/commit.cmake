# Writes FILE, a header with what `davit --version` says of the source: the commit of SOURCE's work tree, or COMMIT, and
# the day of SOURCE_DATE_EPOCH. Without SOURCE_DATE_EPOCH there is no day, so that two builds are equal. The file is
# written when it changes, and only then.
if(NOT COMMIT AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
    OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
set(date "")
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  string(TIMESTAMP date "%Y-%m-%d" UTC)
endif()
set(text "#define DAVIT_COMMIT \"${COMMIT}\"\n#define DAVIT_DATE \"${date}\"\n")
set(before "")
if(EXISTS ${FILE})
  file(READ ${FILE} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${FILE} "${text}")
endif()
