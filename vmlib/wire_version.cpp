// The version of the wire that this vmlib speaks, as text in the library, so that the launcher can read it before the
// preload.
#include "scheduler/protocol/wire.h"

#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)

extern "C" {
extern __attribute__((visibility("default"))) const char replay_vm_wire_version[];
const char replay_vm_wire_version[] = REPLAY_VM_FILE_MARK TEXT_OF(REPLAY_VM_VERSION);
}
