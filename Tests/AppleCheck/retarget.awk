# Rewrites a Swift interface of the Linux toolchain for an Apple platform.
# usage: awk -v target=TRIPLE -v bits=64|32 -f retarget.awk
# The result is only for type checking and code generation. Nothing is linked or run.

function net(line) { gsub(/"(\\.|[^"\\])*"/, "", line); sub(/\/\/.*/, "", line); return gsub(/{/, "", line) - gsub(/}/, "", line) }
function isInlined() { return simd || !/@_transparent/ }
function declare(  i) {
    gsub(/@_transparent /, "")
    if (/ internal /) sub(/@(inlinable|_alwaysEmitIntoClient) /, "@usableFromInline "); else sub(/@(inlinable|_alwaysEmitIntoClient) /, "")
    if (/@usableFromInline/) for (i = 0; i < held; i++) sub(/@usableFromInline/, "", hold[i])
    for (i = 0; i < held; i++) sub(/@backDeployed\([^)]*\)/, "", hold[i])
}
function flush(  i) { for (i = 0; i < held; i++) print hold[i]; held = 0 }

# Module flags.
/^\/\/ swift-module-flags:/ {
    gsub(/x86_64-unknown-linux-gnu/, target); gsub(/-disable-objc-interop/, "-enable-objc-interop"); gsub(/-static /, ""); gsub(/ -O /, " -Onone ")
}

# Skip the body of a declaration that is dropped.
skipping { depth += net($0); if (depth <= 0) skipping = 0; next }

# Drop the 80-bit floating point of x86: no Apple device has it.
/^#if.*arch\(x86_64\)/ { intel = 1 }
intel { if (/^#endif/) intel = 0; next }
/^@?[a-z]*.*typealias CLongDouble/ { held = 0; print "public typealias CLongDouble = Swift.Double"; next }
/typealias _MaxBuiltinFloatType/ { held = 0; print "public typealias _MaxBuiltinFloatType = Builtin.FPIEEE64"; next }
/init\(_builtinFloatLiteral value: Builtin.FPIEEE80\)/ {
    held = 0; depth = net($0); skipping = depth > 0
    print "  public init(_builtinFloatLiteral value: Builtin.FPIEEE64)"; next
}
/Float80|FPIEEE80/ { held = 0; depth = net($0); skipping = depth > 0; next }

# The C library. Mutexes on Linux also call gettid.
{ gsub(/_swift_stdlib_gettid\(\)/, "(0 as Swift.UInt32)") }
{ sub(/^import Glibc/, "import Darwin"); sub(/^public import Glibc/, "public import Darwin") }

# A back-deployed function without a body is an error.
/(func|init)[^a-zA-Z].*[^{]$/ { for (i = 0; i < held; i++) sub(/@backDeployed\([^)]*\)/, "", hold[i]) }

# The 32-bit words of Apple Watch.
bits == 32 && /^@frozen public struct U?Int : / { word = 1 }
word {
    gsub(/Int64/, "Int32"); gsub(/rhs & 63/, "rhs \\& 31"); gsub(/return 64 /, "return 32 ")
    gsub(/-9223373136366403584\.0/, "-2147483904.0"); gsub(/-922337203685477[0-9]*\.0/, "-2147483649.0")
    gsub(/9223372036854775808\.0/, "2147483648.0"); gsub(/18446744073709551616\.0/, "4294967296.0")
    sub(/[zs]extOrBitCast_Word/, "truncOrBitCast_Word"); sub(/truncOrBitCast_Int32_Word/, "sextOrBitCast_Int32_Word")
    if (/^}/) word = 0
}
bits == 32 && !word {
    if (/var _lowWord: |init\(_truncatingBits |init\(_ v: Swift.Int\)|func _assumeNonNegative\(_ x: Swift.Int\)/) near = 1
    if (/^}|^  }/) near = 0
    if (near) {
        sub(/[zs]extOrBitCast_Int64_Int64\(_value/, "truncOrBitCast_Int64_Int32(_value"); sub(/_Int64\(_value/, "_Int32(_value")
        sub(/truncOrBitCast_Int64_Int64\(bits/, "zextOrBitCast_Int32_Int64(bits"); if (/\(bits/) sub(/OrBitCast_Int64_Int/, "OrBitCast_Int32_Int")
        sub(/sitofp_Int64_/, "sitofp_Int32_"); sub(/assumeNonNegative_Int64/, "assumeNonNegative_Int32")
    }
}

/^(extension|@frozen public struct|public protocol) .*SIMD/ { simd = 1 }
/^}/ { simd = 0 }

# Drop the bodies of inlinable functions, which makes compiling three times faster. Transparent
# functions keep theirs: the compiler needs them to diagnose literals that overflow.
/^ *.*@(inlinable|_alwaysEmitIntoClient) .*(func|init)[^a-zA-Z].* {$/ && isInlined() {
    depth = net($0); skipping = 1; declare(); sub(/ {$/, ""); flush(); print; next
}
/^ *.*@(inlinable|_alwaysEmitIntoClient) .*(var|subscript)[^a-zA-Z].* {$/ && isInlined() {
    declare(); accessors = 1; level = net($0); flush(); print; next
}
simd && !accessors && /(var|subscript)[^a-zA-Z].* {$/ { declare(); accessors = 1; level = net($0); flush(); print; next }
accessors {
    if (level == 1 && /^ *((@[a-z_]+(\([^)]*\))?|mutating|nonmutating|__consuming) )*(get|set|_read|_modify|unsafeAddress|unsafeMutableAddress)(\([a-zA-Z]+\))? .*{$|^ *(@[a-z_]+(\([^)]*\))? |mutating |nonmutating )*(get|set|_read|_modify|unsafeAddress|unsafeMutableAddress)(\([a-zA-Z]+\))? {$/ && isInlined()) {
        depth = net($0); skipping = 1; sub(/@inlinable /, ""); sub(/@_transparent /, ""); sub(/ {$/, ""); flush(); print; next
    }
    level += net($0); flush(); print
    if (level <= 0) accessors = 0
    next
}

# Exit tests start processes, which only macOS allows. The declaration matches swift-testing's own.
/macro (expect|require)\(processExitsWith/ && target !~ /macos/ {
    print "@available(*, unavailable, message: \"Exit tests are not available on this platform.\")"
}

# Hold attributes until the declaration they belong to.
/^ *(@[A-Za-z_:]+(\([^)]*\))? *)+$/ { hold[held++] = $0; next }
{ flush(); print }
