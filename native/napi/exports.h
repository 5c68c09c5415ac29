// The exports of the addon: one function per file, called by addon.cc.
#pragma once

#include <napi.h>

#include <memory>

#include "napi/detached_work.h"

namespace hostwire {

struct Exports {
  Napi::Env env;
  Napi::Object object;
  // For readers of the machine and its sockets; processes and media have their own.
  std::shared_ptr<Completions> completions;

  // Adds a function without captures.
  template <class Function>
  void add(const char* name, Function function) const {
    object.Set(name, Napi::Function::New(env, +function, name, completions.get()));
  }
  template <class Class>
  void addClass(const char* name) const {
    object.Set(name, Class::define(env, name, completions.get()));
  }
  // Returns `completions` in a function, or in the constructor of a class.
  static std::shared_ptr<Completions> completionsOf(const Napi::CallbackInfo& info) {
    return static_cast<Completions*>(info.Data())->shared_from_this();
  }
};

void exportControls(const Exports& exports);
void exportDiscovery(const Exports& exports);
void exportHost(const Exports& exports);
void exportMedia(const Exports& exports);
void exportOutput(const Exports& exports);
void exportPeers(const Exports& exports);
void exportPolls(const Exports& exports);
void exportPower(const Exports& exports);
void exportProcesses(const Exports& exports);
void exportService(const Exports& exports);
void exportStreams(const Exports& exports);

}  // namespace hostwire
