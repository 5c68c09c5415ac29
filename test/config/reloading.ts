/** Reloads a configuration that is written for one test, and collects what is applied and reported. */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import type { Config } from '#src/config/config.js';
import { LiveConfig } from '#src/config/current.js';
import { type LoadOptions, loadConfig } from '#src/config/load.js';
import { Reloader } from '#src/config/reload.js';
import { until } from '../helpers/until.ts';
import { type Files, makeFolder, optionsFor, writeFiles } from './loading.ts';

export function startReloader(
  t: Test,
  files: Files,
  more: Partial<LoadOptions> = {},
  onApply: (config: Config) => void = () => {},
  dayMs?: number,
) {
  const folder = makeFolder(t);
  writeFiles(folder, files);
  const load = optionsFor(folder, more);
  const applied: Config[] = [];
  const said: string[] = [];
  /** Log lines of level info. */
  const results: string[] = [];
  const loaded = loadConfig(load);
  const config = new LiveConfig(loaded.config);
  config.onChange(() => {
    onApply(config.current);
    applied.push(config.current);
  });
  const reloader = new Reloader({
    load,
    loaded,
    config,
    report: ({ level, text }) =>
      (level === 'info' ? results : said).push(`${level}: ${text.replaceAll(`${folder}/`, '')}`),
    times: { quietMs: 40, maxMs: 200, pollMs: 100 },
    ...(dayMs !== undefined && { dayMs }),
    defer: (slice) => slice(),
  });
  t.teardown(() => reloader.close());
  /** Waits until `isDone`, and then 120 ms for calls that should not come. */
  const settle = async (isDone: () => boolean) => {
    await until(isDone);
    await sleep(120);
  };
  return {
    folder,
    at: (name: string) => path.join(folder, name),
    reloader,
    config,
    applied,
    said,
    results,
    settle,
  };
}
