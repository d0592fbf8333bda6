// Combine's interface, implemented by others: https://github.com/OpenCombine/OpenCombine
@_exported public import OpenCombine
