// <sys/pidfd.h> for C++: glibc 2.36 forgot the `extern "C"` (2.37 has it, and then this file can go).
#pragma once

extern "C" {
#include <sys/pidfd.h>
}
