// Combine's interface, implemented by https://github.com/OpenCombine/OpenCombine
@_exported public import OpenCombine
