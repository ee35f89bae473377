// The program's operator new: blocks of 2 MB or more, such as the table of a trace's jobs, are aligned to a large page
// and ask the system for large pages. The first touch of a 4 KB page costs a page fault of a microsecond or more; a
// simulation touches all of its tables once, which took a seventh of its time. Without large pages this changes
// nothing.
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they replace operator new themselves

namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20;

void* allocate(std::size_t size) {
  if (size < kLargePage) [[likely]]
    return std::malloc(size == 0 ? 1 : size);
  if (size > PTRDIFF_MAX - kLargePage) return nullptr;
  const std::size_t whole = (size + kLargePage - 1) / kLargePage * kLargePage;
  void* const block = std::aligned_alloc(kLargePage, whole);
  if (block != nullptr) ::madvise(block, whole, MADV_HUGEPAGE);
  return block;
}

}  // namespace

void* operator new(std::size_t size) {
  for (;;) {
    if (void* const block = allocate(size); block != nullptr) [[likely]]
      return block;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc{};
    handler();
  }
}

void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t /*size*/) noexcept { std::free(block); }

#endif
