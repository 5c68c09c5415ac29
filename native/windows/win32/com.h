// COM's reference-counted objects as values, and Windows Runtime strings.
#pragma once

#include <hstring.h>
#include <unknwn.h>
#include <winstring.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "windows/win32/unicode.h"

namespace hostwire {

template <class Interface>
class ComPtr {
 public:
  ComPtr() = default;
  ~ComPtr() { reset(); }
  ComPtr(const ComPtr& other) : pointer_(other.pointer_) {
    if (pointer_ != nullptr) pointer_->AddRef();
  }
  ComPtr(ComPtr&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  ComPtr& operator=(ComPtr other) noexcept {
    std::swap(pointer_, other.pointer_);
    return *this;
  }

  // Takes over the caller's reference.
  static ComPtr adopt(Interface* pointer) {
    ComPtr adopted;
    adopted.pointer_ = pointer;
    return adopted;
  }
  void reset() {
    if (Interface* const pointer = std::exchange(pointer_, nullptr)) pointer->Release();
  }

  // For a function that returns a reference.
  Interface** put() {
    reset();
    return &pointer_;
  }
  void** putVoid() { return reinterpret_cast<void**>(put()); }
  Interface* get() const { return pointer_; }
  Interface* operator->() const { return pointer_; }
  explicit operator bool() const { return pointer_ != nullptr; }

 private:
  Interface* pointer_ = nullptr;
};

// A null handle is an empty string.
class RuntimeString {
 public:
  RuntimeString() = default;
  ~RuntimeString() { WindowsDeleteString(string_); }
  RuntimeString(const RuntimeString&) = delete;
  RuntimeString& operator=(const RuntimeString&) = delete;

  // Returns nothing when memory for it is exhausted.
  static HRESULT make(std::wstring_view text, RuntimeString& result) {
    return WindowsCreateString(text.data(), static_cast<UINT32>(text.size()), result.put());
  }
  HSTRING* put() {
    WindowsDeleteString(std::exchange(string_, nullptr));
    return &string_;
  }
  HSTRING get() const { return string_; }
  // `maxUnits`: UTF-16 units; the rest is cut off.
  std::string text(std::size_t maxUnits) const {
    UINT32 length = 0;
    const wchar_t* const units = WindowsGetStringRawBuffer(string_, &length);
    return units == nullptr ? std::string() : toUtf8(std::wstring_view(units, length).substr(0, maxUnits));
  }

 private:
  HSTRING string_ = nullptr;
};

}  // namespace hostwire
