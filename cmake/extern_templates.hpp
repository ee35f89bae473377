// The last of the precompiled headers (cmake/Precompiled.cmake): templates that a library has compiled already. fmt 9
// does not declare this one, to which each fmt::format_to() comes, so that every source with one compiled all of fmt's
// formatting anew: a sixth of the object code of our libraries, 1.2 to 1.8 s of CPU time a compiler run.
#pragma once
#include <fmt/format.h>

extern template void fmt::detail::vformat_to<char>(buffer<char>&, basic_string_view<char>,
                                                   basic_format_args<buffer_context<char>>, locale_ref);
