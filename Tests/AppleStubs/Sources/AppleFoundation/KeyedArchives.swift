/// https://developer.apple.com/documentation/foundation/nskeyedarchiver
public enum NSKeyedArchiver {
    // https://developer.apple.com/documentation/foundation/nskeyedarchiver/archiveddata(withrootobject:requiringsecurecoding:)
    public static func archivedData(withRootObject object: Any, requiringSecureCoding: Bool) throws -> Data {
        let archiver = Foundation.NSKeyedArchiver(requiringSecureCoding: requiringSecureCoding)
        // On Linux, binary archives of equal objects differ, because their entries have no order.
        archiver.outputFormat = .xml
        archiver.encode(object, forKey: NSKeyedArchiveRootObjectKey)
        archiver.finishEncoding()
        return archiver.encodedData
    }
}

/// https://developer.apple.com/documentation/foundation/nskeyedunarchiver
public enum NSKeyedUnarchiver {
    // https://developer.apple.com/documentation/foundation/nskeyedunarchiver/unarchivedobject(ofclass:from:)
    public static func unarchivedObject<Object: Foundation.NSObject & NSCoding>(
        ofClass type: Object.Type, from data: Data
    ) throws -> Object? {
        let unarchiver = try Foundation.NSKeyedUnarchiver(forReadingFrom: data)
        // On Linux, a class that is not allowed ends the process. So this checks the class of the
        // root object only, and after the object was created.
        unarchiver.requiresSecureCoding = false
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        let root = unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey)
        if let error = unarchiver.error { throw error }
        guard let root else { return nil }
        guard let object = root as? Object else {
            throw NSError(domain: NSCocoaErrorDomain, code: CocoaError.coderReadCorrupt.rawValue)
        }
        return object
    }
}
