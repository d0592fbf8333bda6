// Measures the library, the lower limits and other stores in one run, in turn.
// usage: Benchmarks [--short] [--json FILE] [TITLE]
//        Benchmarks --count TITLE SUBJECT CALLS
//   --short  measures each row briefly, to show that it works
//   --json   writes the figures of all subjects to a file
//   TITLE    only the rows whose titles begin with this
//   --count  only performs calls of one subject; `measure` counts their instructions

import Foundation

if try Child.runMode() { exit(0) }
var arguments = CommandLine.arguments.dropFirst()
var output: String?
while let argument = arguments.popFirst() {
    switch argument {
    case "--short": Run.isShort = true
    case "--count":
        Run.counted = (arguments.removeFirst(), arguments.removeFirst(), Int(arguments.removeFirst())!)
    case "--json": output = arguments.popFirst()
    default: Run.prefix = argument
    }
}
try compareReading()
try compareReadingMany()
try compareReadingExternalChanges()
try compareWriting()
compareCommitting()
try compareWritingDurably()
try compareTails()
try compareOpening()
try compareCoding()
try compareObservers()
try compareObservingProcesses()
Files.removeAll()
if let output {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try encoder.encode(Run.rows).write(to: URL(filePath: output))
}
