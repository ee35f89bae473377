#include "traces/swf_record.hpp"

namespace replay {

const std::array<std::string_view, kSwfFields> kSwfFieldNames = {"job number",
                                                                 "submit time",
                                                                 "wait time",
                                                                 "run time",
                                                                 "allocated processors",
                                                                 "average CPU time",
                                                                 "used memory",
                                                                 "requested processors",
                                                                 "requested time",
                                                                 "requested memory",
                                                                 "status",
                                                                 "user",
                                                                 "group",
                                                                 "executable",
                                                                 "queue",
                                                                 "partition",
                                                                 "preceding job number",
                                                                 "think time"};

}  // namespace replay
