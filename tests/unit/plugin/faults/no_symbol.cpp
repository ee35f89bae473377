// A shared object that is no policy.
extern "C" __attribute__((visibility("default"))) int answer_to_everything() { return 42; }
