# cmake -DASSETS=FOLDER -DOUT=FILE.cpp -P EmbedPage.cmake: makes one template of page.html and the files that order.txt names, as a
# C++ source. `lib:dygraphs` stands for Debian's library, its style sheet and its licence. Placeholders for the data stay.
cmake_policy(VERSION 3.25)
set(dygraphs /usr/share/javascript/dygraphs)
set(dygraphs_licence /usr/share/doc/libjs-dygraphs/copyright)

# Appends a file's text to `to`; `forbidden` would end the element in which it stands.
function(append_file file forbidden to)
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "${file}: is named in ${ASSETS}/order.txt, and is not there (apt: libjs-dygraphs)")
  endif()
  file(READ "${file}" text)
  string(TOLOWER "${text}" lower)
  foreach(word IN ITEMS "${forbidden}" ")asset\"")
    string(FIND "${lower}" "${word}" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${file}: expected no '${word}' in it, found one")
    endif()
  endforeach()
  set(${to} "${${to}}${text}" PARENT_SCOPE)
endfunction()

set(style "")
set(script "")
file(STRINGS "${ASSETS}/order.txt" names)
foreach(name IN LISTS names)
  if(name STREQUAL "lib:dygraphs")
    append_file("${dygraphs_licence}" "*/" licence)
    set(script "${script}/*\n${licence}*/\n")
    append_file("${dygraphs}/dygraph.min.css" "</style" style)
    append_file("${dygraphs}/dygraph.min.js" "</script" script)
    set(script "${script}\n")
  elseif(name MATCHES "[.]css$")
    append_file("${ASSETS}/${name}" "</style" style)
  elseif(name MATCHES "[.]js$")
    append_file("${ASSETS}/${name}" "</script" script)
  else()
    message(FATAL_ERROR "${ASSETS}/order.txt: expected names of .css and .js files or lib:dygraphs, found '${name}'")
  endif()
endforeach()
# A source map that is not there would be looked for in the developer's tools.
string(REGEX REPLACE "\n//# sourceMappingURL=[^\n]*" "" script "${script}")
string(REGEX REPLACE "/[*]# sourceMappingURL=[^\n]*[*]/" "" style "${style}")

file(READ "${ASSETS}/page.html" page)
foreach(word IN ITEMS TITLE STYLE DATA SCRIPT CONNECT)
  string(REGEX MATCHALL "@${word}@" found "${page}")
  list(LENGTH found count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "${ASSETS}/page.html: expected @${word}@ once, found it ${count} times")
  endif()
endforeach()
string(REPLACE "@STYLE@" "${style}" page "${page}")
# The script is kept apart: it may hold any text, also that of a placeholder.
string(FIND "${page}" "@SCRIPT@" at)
string(SUBSTRING "${page}" 0 ${at} before)
math(EXPR at "${at} + 8")
string(SUBSTRING "${page}" ${at} -1 after)
file(WRITE "${OUT}" "// Generated from scheduler/report/page/assets by cmake/EmbedPage.cmake.
#include \"scheduler/report/page/assets.hpp\"

namespace replay::report {

const PageAssets kPageAssets{
R\"asset(${before})asset\",
R\"asset(${script})asset\",
R\"asset(${after})asset\"};

}  // namespace replay::report
")
