// https://developer.apple.com/documentation/foundation; the page of a group stands above it.
// A declaration without a version exists in the first versions of the systems: macOS 10.0, iOS 2.0,
// watchOS 2.0, tvOS 9.0 and visionOS 1.0.
#include "../ObjectiveC/ObjectiveC.h"

#define SWIFT(name) __attribute__((swift_name(name)))
#define BRIDGED(type) __attribute__((swift_bridge(type)))
#define SENDABLE __attribute__((swift_attr("@Sendable")))
// Explicitly not `Sendable`: the conformance is unavailable.
#define NONSENDABLE __attribute__((swift_attr("@_nonSendable")))
#define ENUM(name) enum __attribute__((enum_extensibility(open))) name : NSUInteger name; enum name : NSUInteger
#define OPTIONS(name) enum __attribute__((flag_enum, enum_extensibility(open))) name : NSUInteger name; enum name : NSUInteger
#define MAC_ONLY __attribute__((availability(ios, unavailable), availability(watchos, unavailable), availability(tvos, unavailable)))
#pragma clang assume_nonnull begin
#pragma clang attribute push(API(10.0, 2.0, 2.0, 9.0), apply_to = any(objc_interface, objc_protocol, objc_property, enum, variable(is_global)))

// https://developer.apple.com/documentation/foundation/nsstring, …/nsarray, …/nsdictionary, …/nsset, …/nsdate, …/nsurl, …/nserror

BRIDGED("Swift.String") @interface NSString : NSObject
- (instancetype)initWithString:(NSString *)string SWIFT("init(string:)");
@property(readonly, copy) NSString *precomposedStringWithCanonicalMapping;
@property(readonly, copy) NSString *lastPathComponent;
@property(readonly, copy) NSString *stringByDeletingLastPathComponent SWIFT("deletingLastPathComponent");
@end
BRIDGED("Swift.Array") @interface NSArray<__covariant ObjectType> : NSObject
- (instancetype)initWithArray:(NSArray<ObjectType> *)array SWIFT("init(array:)");
@property(readonly) NSUInteger count;
@end
BRIDGED("Swift.Dictionary") @interface NSDictionary<__covariant KeyType, __covariant ObjectType> : NSObject
- (instancetype)initWithDictionary:(NSDictionary<KeyType, ObjectType> *)otherDictionary SWIFT("init(dictionary:)");
@property(readonly) NSUInteger count;
@end
BRIDGED("Swift.Set") @interface NSSet<__covariant ObjectType> : NSObject
@end
SENDABLE BRIDGED("Foundation.Date") @interface NSDate : NSObject
- (instancetype)initWithTimeIntervalSinceReferenceDate:(double)interval SWIFT("init(timeIntervalSinceReferenceDate:)");
@property(readonly) double timeIntervalSinceReferenceDate;
@end
SENDABLE BRIDGED("Foundation.URL") @interface NSURL : NSObject
@end
SENDABLE @interface NSError : NSObject
@end
// https://developer.apple.com/documentation/foundation/nsnumber
@interface NSValue : NSObject
@property(readonly) const char *objCType __attribute__((objc_returns_inner_pointer));
@end
@interface NSNumber : NSValue
- (instancetype)initWithBool:(BOOL)value SWIFT("init(value:)");
- (instancetype)initWithInteger:(NSInteger)value SWIFT("init(value:)");
- (instancetype)initWithLongLong:(long long)value SWIFT("init(value:)");
- (instancetype)initWithUnsignedLongLong:(unsigned long long)value SWIFT("init(value:)");
- (instancetype)initWithFloat:(float)value SWIFT("init(value:)");
- (instancetype)initWithDouble:(double)value SWIFT("init(value:)");
@property(readonly, copy) NSString *stringValue;
@property(readonly) BOOL boolValue;
@property(readonly) double doubleValue;
@property(readonly) NSInteger integerValue SWIFT("intValue");
@property(readonly) long long longLongValue SWIFT("int64Value");
@property(readonly) unsigned long long unsignedLongLongValue SWIFT("uint64Value");
@end
// https://developer.apple.com/documentation/foundation/nsdata/writingoptions
typedef OPTIONS(NSDataWritingOptions) {
    NSDataWritingAtomic SWIFT("atomic") = 1,
    NSDataWritingWithoutOverwriting SWIFT("withoutOverwriting") API(10.8, 6.0, 2.0, 9.0) = 2,
    NSDataWritingFileProtectionCompleteUntilFirstUserAuthentication
        SWIFT("completeFileProtectionUntilFirstUserAuthentication") API(11.0, 5.0, 2.0, 9.0) = 0x40000000,
} SWIFT("NSData.WritingOptions");
BRIDGED("Foundation.Data") @interface NSData : NSObject
- (instancetype)initWithData:(NSData *)data SWIFT("init(data:)");
@property(readonly) NSUInteger length SWIFT("count");
@end

// https://developer.apple.com/documentation/foundation/nscoder, …/nssecurecoding, …/nskeyedunarchiver, …/nskeyedarchiver
@interface NSCoder : NSObject
- (void)encodeDouble:(double)value forKey:(NSString *)key SWIFT("encode(_:forKey:)");
- (double)decodeDoubleForKey:(NSString *)key SWIFT("decodeDouble(forKey:)");
- (void)encodeObject:(nullable id)object forKey:(NSString *)key SWIFT("encode(_:forKey:)");
@end
@protocol NSCoding
- (void)encodeWithCoder:(NSCoder *)coder SWIFT("encode(with:)");
- (nullable instancetype)initWithCoder:(NSCoder *)coder SWIFT("init(coder:)");
@end
@protocol NSSecureCoding <NSCoding>
@property(class, readonly) BOOL supportsSecureCoding API(10.8, 6.0, 2.0, 9.0);
@end
@interface NSURL () <NSSecureCoding>
@end
@interface NSKeyedUnarchiver : NSObject
@end
@interface NSKeyedArchiver : NSObject
+ (nullable NSData *)archivedDataWithRootObject:(id)object requiringSecureCoding:(BOOL)requires error:(NSError **)error
    SWIFT("archivedData(withRootObject:requiringSecureCoding:)") API(10.13, 11.0, 4.0, 11.0);
@end

// Key-value observing: https://developer.apple.com/documentation/objectivec/nsobject-swift.class/addobserver(_:forkeypath:options:context:)
typedef NSString *NSKeyValueChangeKey __attribute__((swift_wrapper(enum)));
typedef OPTIONS(NSKeyValueObservingOptions) {
    NSKeyValueObservingOptionNew = 1, NSKeyValueObservingOptionOld = 2, NSKeyValueObservingOptionInitial = 4,
};
@interface NSObject (NSKeyValueObserving)
- (void)observeValueForKeyPath:(nullable NSString *)keyPath ofObject:(nullable id)object
    change:(nullable NSDictionary<NSKeyValueChangeKey, id> *)change context:(nullable void *)context;
- (void)addObserver:(NSObject *)observer forKeyPath:(NSString *)keyPath options:(NSKeyValueObservingOptions)options
    context:(nullable void *)context;
- (void)removeObserver:(NSObject *)observer forKeyPath:(NSString *)keyPath context:(nullable void *)context;
@end

// https://developer.apple.com/documentation/foundation/notificationcenter
@class NSOperationQueue, NSFileHandle;
BRIDGED("Foundation.Notification") @interface NSNotification : NSObject
@end
typedef NSString *NSNotificationName __attribute__((swift_wrapper(struct))) SWIFT("NSNotification.Name");
SWIFT("OperationQueue") SENDABLE @interface NSOperationQueue : NSObject
@property(class, readonly, strong) NSOperationQueue *mainQueue SWIFT("main") API(10.6, 4.0, 2.0, 9.0);
@end
SWIFT("NotificationCenter") SENDABLE @interface NSNotificationCenter : NSObject
@property(class, readonly, strong) NSNotificationCenter *defaultCenter SWIFT("default");
- (void)postNotificationName:(NSNotificationName)name object:(nullable id)object SWIFT("post(name:object:)");
- (void)addObserver:(id)observer selector:(SEL)selector name:(nullable NSNotificationName)name object:(nullable id)object
    SWIFT("addObserver(_:selector:name:object:)");
- (void)removeObserver:(id)observer;
- (id<NSObject>)addObserverForName:(nullable NSNotificationName)name object:(nullable id)object queue:(nullable NSOperationQueue *)queue
    usingBlock:(void (SENDABLE ^)(NSNotification *notification))block SWIFT("addObserver(forName:object:queue:using:)")
    API(10.6, 4.0, 2.0, 9.0);
@end

// https://developer.apple.com/documentation/foundation/userdefaults
SWIFT("UserDefaults") NONSENDABLE @interface NSUserDefaults : NSObject
@property(class, readonly, strong) NSUserDefaults *standardUserDefaults SWIFT("standard");
+ (void)resetStandardUserDefaults SWIFT("resetStandardUserDefaults()");
- (instancetype)init;
- (nullable instancetype)initWithSuiteName:(nullable NSString *)suiteName __attribute__((objc_designated_initializer)) API(10.9, 7.0, 2.0, 9.0);
- (nullable id)objectForKey:(NSString *)key SWIFT("object(forKey:)");
- (void)setObject:(nullable id)value forKey:(NSString *)key SWIFT("set(_:forKey:)");
- (void)removeObjectForKey:(NSString *)key;
- (nullable NSString *)stringForKey:(NSString *)key SWIFT("string(forKey:)");
- (nullable NSURL *)URLForKey:(NSString *)key SWIFT("url(forKey:)") API(10.6, 4.0, 2.0, 9.0);
- (nullable NSData *)dataForKey:(NSString *)key SWIFT("data(forKey:)");
- (nullable NSArray *)arrayForKey:(NSString *)key SWIFT("array(forKey:)");
- (nullable NSDictionary<NSString *, id> *)dictionaryForKey:(NSString *)key SWIFT("dictionary(forKey:)");
- (double)doubleForKey:(NSString *)key SWIFT("double(forKey:)");
- (NSInteger)integerForKey:(NSString *)key SWIFT("integer(forKey:)");
- (BOOL)boolForKey:(NSString *)key SWIFT("bool(forKey:)");
- (void)setInteger:(NSInteger)value forKey:(NSString *)key SWIFT("set(_:forKey:)");
- (void)setFloat:(float)value forKey:(NSString *)key SWIFT("set(_:forKey:)");
- (void)setDouble:(double)value forKey:(NSString *)key SWIFT("set(_:forKey:)");
- (void)setBool:(BOOL)value forKey:(NSString *)key SWIFT("set(_:forKey:)");
- (void)setURL:(nullable NSURL *)value forKey:(NSString *)key SWIFT("set(_:forKey:)") API(10.6, 4.0, 2.0, 9.0);
- (void)registerDefaults:(NSDictionary<NSString *, id> *)defaults SWIFT("register(defaults:)");
- (void)addSuiteNamed:(NSString *)suiteName SWIFT("addSuite(named:)");
- (NSDictionary<NSString *, id> *)volatileDomainForName:(NSString *)name SWIFT("volatileDomain(forName:)");
- (void)setVolatileDomain:(NSDictionary<NSString *, id> *)domain forName:(NSString *)name;
- (nullable NSDictionary<NSString *, id> *)persistentDomainForName:(NSString *)name SWIFT("persistentDomain(forName:)");
- (void)removePersistentDomainForName:(NSString *)name;
- (BOOL)synchronize __attribute__((swift_attr("@discardableResult")));
- (BOOL)objectIsForcedForKey:(NSString *)key SWIFT("objectIsForced(forKey:)");
- (BOOL)objectIsForcedForKey:(NSString *)key inDomain:(NSString *)domain SWIFT("objectIsForced(forKey:inDomain:)");
@end
extern NSString *const NSArgumentDomain SWIFT("UserDefaults.argumentDomain");
extern NSString *const NSGlobalDomain SWIFT("UserDefaults.globalDomain");
extern NSString *const NSRegistrationDomain SWIFT("UserDefaults.registrationDomain");
extern NSNotificationName const NSUserDefaultsDidChangeNotification SWIFT("UserDefaults.didChangeNotification");

// https://developer.apple.com/documentation/corefoundation/cfpreferencesappsynchronize(_:)
typedef const struct __attribute__((objc_bridge(NSString))) __CFString *CFStringRef;
extern const CFStringRef kCFPreferencesCurrentApplication;
extern BOOL CFPreferencesAppSynchronize(CFStringRef application);
// https://developer.apple.com/documentation/corefoundation/cfpreferencescopyvalue(_:_:_:_:), …/kcfpreferencescurrentuser, …/kcfpreferencesanyhost
typedef const __attribute__((objc_bridge(id))) void *CFTypeRef;
typedef CFTypeRef CFPropertyListRef;
extern const CFStringRef kCFPreferencesCurrentUser;
extern const CFStringRef kCFPreferencesAnyHost;
#pragma clang arc_cf_code_audited begin
extern _Nullable CFPropertyListRef CFPreferencesCopyValue(CFStringRef key, CFStringRef application, CFStringRef user, CFStringRef host);
#pragma clang arc_cf_code_audited end

// https://developer.apple.com/documentation/foundation/bundle and …/processinfo
SWIFT("Bundle") SENDABLE @interface NSBundle : NSObject
@property(class, readonly, strong) NSBundle *mainBundle SWIFT("main");
@property(nullable, readonly, copy) NSString *bundleIdentifier;
@property(readonly, copy) NSURL *bundleURL API(10.6, 4.0, 2.0, 9.0);
@property(readonly, copy) NSString *bundlePath;
@end
SWIFT("ProcessInfo") SENDABLE @interface NSProcessInfo : NSObject
@property(class, readonly, strong) NSProcessInfo *processInfo;
@property(copy) NSString *processName;
@property(readonly, copy) NSString *operatingSystemVersionString;
@property(readonly, copy) NSDictionary<NSString *, NSString *> *environment;
@property(readonly, copy) NSArray<NSString *> *arguments;
@property(readonly) int processIdentifier;
@property(readonly, getter=isMacCatalystApp) BOOL macCatalystApp API(10.15, 13.0, 6.0, 13.0);
@property(readonly, getter=isiOSAppOnMac) BOOL iOSAppOnMac API(11.0, 14.0, 7.0, 14.0);
- (void)performExpiringActivityWithReason:(NSString *)reason usingBlock:(void (SENDABLE ^)(BOOL expired))block
    SWIFT("performExpiringActivity(withReason:using:)") __attribute__((availability(ios, introduced=8.2),
        availability(watchos, introduced=2.0), availability(tvos, introduced=9.0), availability(macos, unavailable)));
@end
// https://developer.apple.com/documentation/foundation/process and …/pipe
SWIFT("Pipe") SENDABLE @interface NSPipe : NSObject
@property(readonly, retain) NSFileHandle *fileHandleForReading;
@property(readonly, retain) NSFileHandle *fileHandleForWriting;
@end
typedef enum __attribute__((enum_extensibility(open))) NSTaskTerminationReason : NSInteger NSTaskTerminationReason;
enum NSTaskTerminationReason : NSInteger {
    NSTaskTerminationReasonExit SWIFT("exit") = 1, NSTaskTerminationReasonUncaughtSignal SWIFT("uncaughtSignal") = 2,
} SWIFT("Process.TerminationReason") MAC_ONLY;
SWIFT("Process") MAC_ONLY @interface NSTask : NSObject
- (instancetype)init;
@property(nullable, copy) NSURL *executableURL __attribute__((availability(macos, introduced=10.13)));
@property(nullable, copy) NSArray<NSString *> *arguments;
@property(nullable, copy) NSDictionary<NSString *, NSString *> *environment;
@property(nullable, copy) NSURL *currentDirectoryURL __attribute__((availability(macos, introduced=10.13)));
@property(nullable, retain) id standardInput;
@property(nullable, retain) id standardOutput;
@property(nullable, retain) id standardError;
@property(readonly) int processIdentifier;
@property(readonly, getter=isRunning) BOOL running;
@property(readonly) int terminationStatus;
@property(readonly) NSTaskTerminationReason terminationReason __attribute__((availability(macos, introduced=10.6)));
- (BOOL)launchAndReturnError:(NSError **)error SWIFT("run()") __attribute__((availability(macos, introduced=10.13)));
- (void)terminate;
- (void)waitUntilExit;
@end

// https://developer.apple.com/documentation/foundation/thread
SWIFT("Thread") @interface NSThread : NSObject
- (instancetype)init API(10.5, 2.0, 2.0, 9.0) __attribute__((objc_designated_initializer));
- (instancetype)initWithBlock:(void (SENDABLE ^)(void))block SWIFT("init(block:)") API(10.12, 10.0, 3.0, 10.0);
+ (void)detachNewThreadWithBlock:(void (SENDABLE ^)(void))block SWIFT("detachNewThread(_:)") API(10.12, 10.0, 3.0, 10.0);
+ (void)sleepForTimeInterval:(double)interval SWIFT("sleep(forTimeInterval:)");
@property(class, readonly) BOOL isMainThread API(10.5, 2.0, 2.0, 9.0);
@property NSUInteger stackSize API(10.5, 2.0, 2.0, 9.0);
@property(readonly, getter=isFinished) BOOL finished API(10.5, 2.0, 2.0, 9.0);
@property(nullable, copy) NSString *name API(10.5, 2.0, 2.0, 9.0);
- (void)start API(10.5, 2.0, 2.0, 9.0);
@end

// https://developer.apple.com/documentation/foundation/nslock
@protocol NSLocking
- (void)lock __attribute__((swift_attr("@_unavailableFromAsync")));
- (void)unlock __attribute__((swift_attr("@_unavailableFromAsync")));
@end
SENDABLE @interface NSLock : NSObject <NSLocking>
@end
SENDABLE @interface NSRecursiveLock : NSObject <NSLocking>
@end
// https://developer.apple.com/documentation/foundation/nscondition
SENDABLE @interface NSCondition : NSObject <NSLocking>
- (BOOL)waitUntilDate:(NSDate *)limit SWIFT("wait(until:)") __attribute__((swift_attr("@_unavailableFromAsync")));
- (void)broadcast;
@end

// https://developer.apple.com/documentation/foundation/filemanager and …/filehandle
typedef NSString *NSFileAttributeKey __attribute__((swift_wrapper(struct))) SWIFT("FileAttributeKey");
extern NSFileAttributeKey const NSFileModificationDate SWIFT("FileAttributeKey.modificationDate");
extern NSFileAttributeKey const NSFilePosixPermissions SWIFT("FileAttributeKey.posixPermissions");
extern NSFileAttributeKey const NSFileSize SWIFT("FileAttributeKey.size");
extern NSFileAttributeKey const NSFileSystemFileNumber SWIFT("FileAttributeKey.systemFileNumber");
extern NSFileAttributeKey const NSFileProtectionKey SWIFT("FileAttributeKey.protectionKey") API(11.0, 4.0, 2.0, 9.0);
SWIFT("FileManager") @interface NSFileManager : NSObject
@property(class, readonly, strong) NSFileManager *defaultManager SWIFT("default");
- (nullable NSURL *)containerURLForSecurityApplicationGroupIdentifier:(NSString *)identifier
    SWIFT("containerURL(forSecurityApplicationGroupIdentifier:)") API(10.8, 7.0, 2.0, 9.0);
@property(readonly, copy) NSURL *temporaryDirectory API(10.12, 10.0, 3.0, 10.0);
- (BOOL)fileExistsAtPath:(NSString *)path SWIFT("fileExists(atPath:)");
- (BOOL)isExecutableFileAtPath:(NSString *)path SWIFT("isExecutableFile(atPath:)");
- (BOOL)createFileAtPath:(NSString *)path contents:(nullable NSData *)data
    attributes:(nullable NSDictionary<NSFileAttributeKey, id> *)attributes SWIFT("createFile(atPath:contents:attributes:)")
    __attribute__((swift_attr("@discardableResult")));
- (BOOL)setAttributes:(NSDictionary<NSFileAttributeKey, id> *)attributes ofItemAtPath:(NSString *)path error:(NSError **)error
    API(10.5, 2.0, 2.0, 9.0);
- (BOOL)copyItemAtURL:(NSURL *)source toURL:(NSURL *)target error:(NSError **)error SWIFT("copyItem(at:to:)") API(10.6, 4.0, 2.0, 9.0);
- (BOOL)moveItemAtURL:(NSURL *)source toURL:(NSURL *)target error:(NSError **)error SWIFT("moveItem(at:to:)") API(10.6, 4.0, 2.0, 9.0);
- (BOOL)moveItemAtPath:(NSString *)source toPath:(NSString *)target error:(NSError **)error SWIFT("moveItem(atPath:toPath:)")
    API(10.5, 2.0, 2.0, 9.0);
- (BOOL)removeItemAtPath:(NSString *)path error:(NSError **)error SWIFT("removeItem(atPath:)") API(10.5, 2.0, 2.0, 9.0);
- (BOOL)createDirectoryAtPath:(NSString *)path withIntermediateDirectories:(BOOL)intermediate
    attributes:(nullable NSDictionary<NSFileAttributeKey, id> *)attributes error:(NSError **)error
    SWIFT("createDirectory(atPath:withIntermediateDirectories:attributes:)") API(10.5, 2.0, 2.0, 9.0);
- (nullable NSData *)contentsAtPath:(NSString *)path SWIFT("contents(atPath:)");
- (nullable NSArray<NSString *> *)contentsOfDirectoryAtPath:(NSString *)path error:(NSError **)error API(10.5, 2.0, 2.0, 9.0);
- (nullable NSArray<NSString *> *)subpathsOfDirectoryAtPath:(NSString *)path error:(NSError **)error API(10.5, 2.0, 2.0, 9.0);
- (nullable NSDictionary<NSFileAttributeKey, id> *)attributesOfItemAtPath:(NSString *)path error:(NSError **)error
    API(10.5, 2.0, 2.0, 9.0);
- (BOOL)createDirectoryAtURL:(NSURL *)url withIntermediateDirectories:(BOOL)intermediate
    attributes:(nullable NSDictionary<NSFileAttributeKey, id> *)attributes error:(NSError **)error
    SWIFT("createDirectory(at:withIntermediateDirectories:attributes:)") API(10.7, 5.0, 2.0, 9.0);
- (BOOL)removeItemAtURL:(NSURL *)url error:(NSError **)error SWIFT("removeItem(at:)") API(10.6, 4.0, 2.0, 9.0);
@end
SWIFT("FileHandle") SENDABLE @interface NSFileHandle : NSObject
@property(class, readonly, strong) NSFileHandle *fileHandleWithStandardInput SWIFT("standardInput");
@property(class, readonly, strong) NSFileHandle *fileHandleWithStandardOutput SWIFT("standardOutput");
@property(class, readonly, strong) NSFileHandle *fileHandleWithStandardError SWIFT("standardError");
@property(class, readonly, strong) NSFileHandle *fileHandleWithNullDevice SWIFT("nullDevice");
@property(readonly, copy) NSData *availableData;
@property(readonly) int fileDescriptor;
@property(nullable, copy) void (SENDABLE ^readabilityHandler)(NSFileHandle *) API(10.7, 5.0, 2.0, 9.0);
+ (nullable instancetype)fileHandleForReadingFromURL:(NSURL *)url error:(NSError **)error SWIFT("init(forReadingFrom:)") API(10.6, 4.0, 2.0, 9.0);
+ (nullable instancetype)fileHandleForWritingToURL:(NSURL *)url error:(NSError **)error SWIFT("init(forWritingTo:)") API(10.6, 4.0, 2.0, 9.0);
+ (nullable instancetype)fileHandleForUpdatingURL:(NSURL *)url error:(NSError **)error SWIFT("init(forUpdating:)") API(10.6, 4.0, 2.0, 9.0);
- (void)writeData:(NSData *)data SWIFT("write(_:)");
- (BOOL)seekToOffset:(unsigned long long)offset error:(NSError **)error SWIFT("seek(toOffset:)") API(10.15, 13.0, 6.0, 13.0);
- (BOOL)truncateAtOffset:(unsigned long long)offset error:(NSError **)error SWIFT("truncate(atOffset:)") API(10.15, 13.0, 6.0, 13.0);
- (BOOL)synchronizeAndReturnError:(NSError **)error SWIFT("synchronize()") API(10.15, 13.0, 6.0, 13.0);
- (BOOL)closeAndReturnError:(NSError **)error SWIFT("close()") API(10.15, 13.0, 6.0, 13.0);
@end

// https://developer.apple.com/documentation/foundation/propertylistserialization
typedef ENUM(NSPropertyListFormat) {
    NSPropertyListOpenStepFormat SWIFT("openStep") = 1, NSPropertyListXMLFormat_v1_0 SWIFT("xml") = 100,
    NSPropertyListBinaryFormat_v1_0 SWIFT("binary") = 200,
} SWIFT("PropertyListSerialization.PropertyListFormat");
typedef OPTIONS(NSPropertyListMutabilityOptions) {
    NSPropertyListMutableContainers SWIFT("mutableContainers") = 1,
} SWIFT("PropertyListSerialization.MutabilityOptions");
SWIFT("PropertyListSerialization") @interface NSPropertyListSerialization : NSObject
+ (nullable NSData *)dataWithPropertyList:(id)plist format:(NSPropertyListFormat)format options:(NSUInteger)options
    error:(NSError **)error SWIFT("data(fromPropertyList:format:options:)") API(10.6, 4.0, 2.0, 9.0);
+ (nullable id)propertyListWithData:(NSData *)data options:(NSPropertyListMutabilityOptions)options
    format:(nullable NSPropertyListFormat *)format error:(NSError **)error SWIFT("propertyList(from:options:format:)") API(10.6, 4.0, 2.0, 9.0);
@end

// https://developer.apple.com/documentation/foundation/runloop and …/operationqueue
SWIFT("RunLoop") @interface NSRunLoop : NSObject
@property(class, readonly, strong) NSRunLoop *mainRunLoop SWIFT("main") API(10.5, 2.0, 2.0, 9.0);
- (void)runUntilDate:(NSDate *)limitDate SWIFT("run(until:)");
@end

// https://developer.apple.com/documentation/corefoundation
typedef unsigned long CFTypeID;
CFTypeID CFGetTypeID(CFTypeRef) API(10.0, 2.0, 2.0, 9.0);
CFTypeID CFBooleanGetTypeID(void) API(10.0, 2.0, 2.0, 9.0);
#pragma clang attribute pop
#pragma clang assume_nonnull end
