// https://developer.apple.com/documentation/objectivec and https://developer.apple.com/documentation/objectivec/nsobject-swift.class
#define API(mac, ios_, watch, tv) __attribute__((availability(macos, introduced=mac), availability(ios, introduced=ios_), \
    availability(watchos, introduced=watch), availability(tvos, introduced=tv)))
#pragma clang assume_nonnull begin
#pragma clang attribute push(API(10.0, 2.0, 2.0, 9.0), apply_to = any(objc_interface, objc_protocol, objc_property))
typedef _Bool BOOL;
#if __LP64__
typedef long NSInteger;
typedef unsigned long NSUInteger;
#else
typedef int NSInteger;
typedef unsigned int NSUInteger;
#endif

@class NSString;
@protocol NSObject
- (BOOL)isEqual:(nullable id)object;
@property(readonly) NSUInteger hash;
- (BOOL)isKindOfClass:(Class)aClass;
- (BOOL)respondsToSelector:(SEL)aSelector;
@property(readonly, copy) NSString *description;
@end

__attribute__((objc_root_class)) @interface NSObject <NSObject>
- (instancetype)init __attribute__((objc_designated_initializer));
@end
#pragma clang attribute pop
#pragma clang assume_nonnull end
