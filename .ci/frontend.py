"""Runs the compiler's frontend on the modules of the library, without building them."""
import pathlib, re, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# In the order in which they are compiled, so that none knows a later one.
MODULES = ["SettingsFile", "TypedDefaults", "TypedDefaultsTesting", "TypedDefaultsRecipes"]
TOOLCHAIN = pathlib.Path(
    subprocess.run(
        ["xcrun", "--find", "swiftc"] if sys.platform == "darwin" else ["which", "swiftc"],
        check=True, capture_output=True, text=True).stdout.strip()).resolve().parent.parent


def sources(root, module):
    return sorted((root / "Sources" / module).rglob("*.swift"))


def flags(folder):
    """The flags of the package, for modules that are found in `folder`."""
    features = re.findall(r'enableUpcomingFeature\("(\w+)"\)', (ROOT / "Package.swift").read_text())
    flags = ["-swift-version", "6", "-package-name", "typeddefaults", "-parse-as-library", "-I", folder]
    flags += ["-I", ROOT / "Sources/CChecksum"]
    flags += ["-plugin-path", TOOLCHAIN / "lib/swift/host/plugins"]
    for feature in features:
        flags += ["-enable-upcoming-feature", feature]
    return flags


def frontend(folder, module, *arguments):
    """Runs the frontend for a module, which finds the modules that it imports in `folder`."""
    command = ["swiftc", "-frontend", "-module-name", module, *flags(folder), *arguments]
    if subprocess.run(command).returncode:
        sys.exit(f"{module} does not compile")


def emit_module(root, folder, module, *arguments):
    """Writes the interface of a module, whose sources are below `root`, to `folder`."""
    frontend(
        folder, module, "-emit-module", "-o", f"{folder}/{module}.swiftmodule", *arguments,
        *sources(root, module))
