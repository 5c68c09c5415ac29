// The objects that the made-up Windows.Media.Control hands out. Their tables of functions are laid out by
// hand, slot by slot, and share nothing with the interfaces that the product is written against.
#pragma once

#include <hstring.h>
#include <windows.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "fake_world.h"

namespace fake {

using Slot = const void*;

// Live objects of all kinds; they are counted per kind as "live KIND".
extern std::atomic<long> live;

// The table comes first: that is what a pointer to an interface points to.
struct Object {
  const Slot* slots;
  std::atomic<ULONG> references{1};
  const wchar_t* id;
  const char* kind;
  std::shared_ptr<Session> session;
  std::string text;               // the text of a reference or list
  std::vector<Object*> elements;  // a list's
  IUnknown* handler = nullptr;    // an operation's
  bool isTrue = false;
  HRESULT error = S_OK;
  Object* owner = nullptr;  // of an information about an operation

  // `name`: the one interface it is queried for, beside those that all have.
  Object(const Slot* table, const wchar_t* name, const char* aKind);
  ~Object();
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  static void release(Object* object) {
    if (--object->references == 0) delete object;
  }
};

extern const wchar_t* const kInspectableId;

GUID guidOf(const wchar_t* text);
bool is(REFIID id, const wchar_t* text);

HRESULT STDMETHODCALLTYPE queryInterface(Object* self, REFIID id, void** result);
ULONG STDMETHODCALLTYPE addRef(Object* self);
ULONG STDMETHODCALLTYPE release(Object* self);
HRESULT STDMETHODCALLTYPE unexpected(Object*);

template <class Function>
Slot slot(Function* function) {
  return reinterpret_cast<Slot>(function);
}
inline Slot no() { return slot(&unexpected); }

// A table begins with IUnknown's three slots and IInspectable's three, which nothing calls.
#define FAKE_INSPECTABLE slot(&queryInterface), slot(&addRef), slot(&release), no(), no(), no()

// Whether Windows would accept it as a handler of that name; counts those that are not.
bool isHandler(IUnknown* handler, const wchar_t* id);
template <class Function>
Function invokeOf(IUnknown* handler) {
  // Slot 3 of a handler, behind IUnknown's.
  return reinterpret_cast<Function>((*reinterpret_cast<void***>(handler))[3]);
}

// How an operation ends, by `behaviour`, which is its session's or the manager's.
HRESULT complete(Object* self, IUnknown* handler, const wchar_t* handlerId, const Behaviour& behaviour);

HRESULT addHandler(std::vector<Handler>& handlers, const wchar_t* id, IUnknown* handler, std::int64_t* token);
HRESULT removeHandler(std::vector<Handler>& handlers, std::int64_t token);

// The value that the object's session reports; "-" for none, "!" for an error.
std::string toldBy(const Object* self, const char* key);
template <class Value>
Value numberOf(const std::string& text) {
  std::istringstream stream(text);
  Value value{};
  stream >> value;
  return value;
}
HRESULT makeText(const std::string& text, HSTRING* result);

extern const Slot kInfoSlots[];
extern const Slot kListSlots[];
extern const Slot kPropertiesSlots[];
extern const Slot kTimelineSlots[];
extern const Slot kInfoOfPlaybackSlots[];
extern const Slot kFactorySlots[];

// The one object of a session, while it lives and is not renewed. The guard is held.
Object* wrapperOf(const std::shared_ptr<Session>& session);
// Releases it. The guard is held.
void dropWrapper(const std::shared_ptr<Session>& session);

}  // namespace fake
