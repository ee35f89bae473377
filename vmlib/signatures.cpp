// Compile-time check of mpi_functions.def against mpi.h: each entry exists, has so many arguments, and each of them
// travels in one register or one stack word, so that the wrappers may pass words. This file produces no code.
#include <mpi.h>

#include <cstddef>
#include <type_traits>

namespace {

template <class Argument>
constexpr bool is_word = (std::is_integral_v<Argument> || std::is_pointer_v<Argument>)&&sizeof(Argument) <= 8;

template <class Function, std::size_t Count>
constexpr bool passes_words = false;
template <class... Arguments, std::size_t Count>
constexpr bool passes_words<int(Arguments...), Count> = sizeof...(Arguments) == Count && (is_word<Arguments> && ...);

#define BLOCKING(name, count) \
  static_assert(passes_words<decltype(MPI_##name), count>, "MPI_" #name " differs from mpi_functions.def");
#include "vmlib/mpi_functions.def"
#undef BLOCKING

static_assert(passes_words<decltype(MPI_Init), 2> && passes_words<decltype(MPI_Init_thread), 4> &&
              passes_words<decltype(MPI_Finalize), 0>);

}  // namespace
