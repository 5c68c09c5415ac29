// A dxgi.dll with the adapters that a test wants: a discrete one, an integrated one, NVIDIA's, and one
// without hardware.
#include <windows.h>

#include <dxgi.h>

#include <array>
#include <cwchar>

namespace {

struct Known {
  const wchar_t* name;
  UINT vendor;
  LUID luid;
  SIZE_T dedicated;
  SIZE_T shared;
  UINT flags;
};
constexpr SIZE_T kMib = 1024 * 1024;
constexpr std::array<Known, 4> kAdapters{
    {{L"Intel(R) UHD Graphics 770", 0x8086, {0x1111, 0}, 128 * kMib, 16000 * kMib, 0},
     {L"AMD Radeon RX 7900 XTX", 0x1002, {0xC4D1, 0}, 24560 * kMib, 16000 * kMib, 0},
     {L"NVIDIA GeForce RTX 4070", 0x10DE, {0xD0AA, 1}, 12282 * kMib, 16000 * kMib, 0},
     {L"Microsoft Basic Render Driver", 0x1414, {0x2222, 0}, 0, 16000 * kMib, DXGI_ADAPTER_FLAG_SOFTWARE}}};

// Nothing is freed: its objects live as long as the process.
template <class Interface>
class Object : public Interface {
 public:
  virtual ~Object() = default;
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID, void**) override { return E_NOINTERFACE; }
  ULONG STDMETHODCALLTYPE AddRef() override { return 2; }
  ULONG STDMETHODCALLTYPE Release() override { return 1; }
  HRESULT STDMETHODCALLTYPE SetPrivateData(REFGUID, UINT, const void*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE SetPrivateDataInterface(REFGUID, const IUnknown*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetPrivateData(REFGUID, UINT*, void*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetParent(REFIID, void**) override { return E_NOTIMPL; }
};

class Adapter : public Object<IDXGIAdapter1> {
 public:
  explicit Adapter(const Known& known) : known_(known) {}
  HRESULT STDMETHODCALLTYPE EnumOutputs(UINT, IDXGIOutput**) override { return DXGI_ERROR_NOT_FOUND; }
  HRESULT STDMETHODCALLTYPE GetDesc(DXGI_ADAPTER_DESC*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE CheckInterfaceSupport(REFGUID, LARGE_INTEGER*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetDesc1(DXGI_ADAPTER_DESC1* about) override {
    *about = {};
    std::wcsncpy(about->Description, known_.name, 127);
    about->VendorId = known_.vendor;
    about->AdapterLuid = known_.luid;
    about->DedicatedVideoMemory = known_.dedicated;
    about->SharedSystemMemory = known_.shared;
    about->Flags = known_.flags;
    return S_OK;
  }

 private:
  const Known& known_;
};

class Factory : public Object<IDXGIFactory1> {
 public:
  HRESULT STDMETHODCALLTYPE EnumAdapters(UINT, IDXGIAdapter**) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE MakeWindowAssociation(HWND, UINT) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetWindowAssociation(HWND*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE CreateSwapChain(IUnknown*, DXGI_SWAP_CHAIN_DESC*, IDXGISwapChain**) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE CreateSoftwareAdapter(HMODULE, IDXGIAdapter**) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE EnumAdapters1(UINT index, IDXGIAdapter1** adapter) override {
    if (index >= kAdapters.size()) return DXGI_ERROR_NOT_FOUND;
    *adapter = new Adapter(kAdapters[index]);
    return S_OK;
  }
  BOOL STDMETHODCALLTYPE IsCurrent() override { return TRUE; }
};

}  // namespace

extern "C" __declspec(dllexport) HRESULT WINAPI CreateDXGIFactory1(REFIID, void** made) {
  *made = new Factory;
  return S_OK;
}
