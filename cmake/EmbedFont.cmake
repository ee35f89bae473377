# cmake -DFONT=FILE.ttf -DOUT=FILE.cpp -P EmbedFont.cmake: makes the font's file a part of the program, so that drawings do not depend
# on the fonts of the machine that makes them.
cmake_policy(VERSION 3.25)
file(READ "${FONT}" hex HEX)
string(REGEX REPLACE "(..)" "\\\\x\\1" text "${hex}")
string(LENGTH "${hex}" digits)
math(EXPR size "${digits} / 2")
# Lines of 64 bytes; each byte is four characters.
string(REPEAT "." 256 line)
string(REGEX REPLACE "(${line})" "\\1\"\n\"" text "${text}")
file(WRITE "${OUT}" "// Generated from ${FONT} by cmake/EmbedFont.cmake. Its licence is in the font, and in /usr/share/doc of its package.
#include \"scheduler/report/draw/font_file.hpp\"

namespace replay::report {
namespace {

constexpr char kFontFile[] =
\"${text}\";

}  // namespace

std::string_view font_file() { return {kFontFile, ${size}}; }

}  // namespace replay::report
")
