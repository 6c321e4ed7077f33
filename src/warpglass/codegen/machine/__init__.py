"""From LLVM IR to machine code that can be called: the target, LLVM's passes, loading."""
