// Says in the file which version of the wire this vmlib speaks, so that the launcher can tell before it preloads it.
#include "scheduler/protocol/wire.h"

#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)

extern "C" {
extern __attribute__((visibility("default"))) const char replay_vm_wire_version[];
const char replay_vm_wire_version[] = REPLAY_VM_FILE_MARK TEXT_OF(REPLAY_VM_VERSION);
}
