// The JavaScript class `Processes`: the processes of one machine, seen through one set of roots.
#pragma once

#include <napi.h>

#include <memory>

#include "host/process.h"
#include "host/roots.h"
#include "napi/detached_work.h"

namespace hostwire {

class ProcessesBinding : public Napi::ObjectWrap<ProcessesBinding> {
 public:
  static Napi::Function define(Napi::Env env);
  // new Processes({proc?, sys?, files?})
  explicit ProcessesBinding(const Napi::CallbackInfo& info);

 private:
  // latest(): ProcessColumns | null
  Napi::Value latest(const Napi::CallbackInfo& info);
  // ask(inMs: number): void
  void ask(const Napi::CallbackInfo& info);
  // includeDisks(): void
  void includeDisks(const Napi::CallbackInfo& info);
  // read(): Promise<ProcessColumns>
  Napi::Value read(const Napi::CallbackInfo& info);
  // describe(): Promise<Finding[]>
  Napi::Value describe(const Napi::CallbackInfo& info);
  // readDetails(pid: number): Promise<ProcessFacts | null>
  Napi::Value readDetails(const Napi::CallbackInfo& info);
  // readPaths(processes: ProcessId[]): Promise<(string | null)[]>
  Napi::Value readPaths(const Napi::CallbackInfo& info);
  // whyNoControl(): string | null
  Napi::Value whyNoControl(const Napi::CallbackInfo& info);
  // signal(process: ProcessId, signal: 'term' | 'kill' | 'stop' | 'continue'): 'sent' | 'gone' | 'denied'
  Napi::Value signal(const Napi::CallbackInfo& info);
  // waitForEnd(processes: ProcessId[], timeoutMs: number): Promise<boolean[]>
  Napi::Value waitForEnd(const Napi::CallbackInfo& info);
  // launch({program, arguments, environment, folder}): Promise<number>, the pid
  Napi::Value launch(const Napi::CallbackInfo& info);

  Roots roots_;
  std::unique_ptr<ProcessReader> reader_;
  // The last result of `latest`, so that each reading is converted once.
  std::shared_ptr<const ProcessReading> converted_;
  Napi::ObjectReference columns_;
  std::shared_ptr<Completions> completions_;
};

}  // namespace hostwire
