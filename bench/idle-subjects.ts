/** The processes that the idle bench measures: bare Node, and the service on both engines, with its history and without. */
import { type ChildProcess, spawn } from 'node:child_process';
import http from 'node:http';
import path from 'node:path';
import process from 'node:process';
import type { EngineName } from '#src/engines.js';
import { ROOT } from './report.ts';
import { type ServiceOptions, startService, stopChild } from './service-subject.ts';

export const MAIN = path.join(ROOT, 'dist/main.js');
const besideAt = process.argv.indexOf('--beside');
const BESIDE = besideAt < 0 ? undefined : path.join(process.argv[besideAt + 1] ?? '', 'dist/main.js');
export const ENGINES = ['uws', 'node'] as const satisfies readonly EngineName[];
const pidOf = (child: ChildProcess) => child.pid ?? 0;
export const BARE = 'bare Node';
const OTHER = 'hostwire, the commit beside';
export const nameOf = (engine: EngineName) => `hostwire, ${engine}`;
export const offNameOf = (engine: EngineName) => `${nameOf(engine)}, history off`;
export const SUBSCRIBED = 'one subscriber';
export const SUBSCRIBED_OFF = 'one subscriber, history off';

interface Subject extends ServiceOptions {
  /** Whether a stream is open. */
  readonly isSubscribed?: true;
  /** Its start takes as long as that of another subject. */
  readonly isStartKnown?: true;
}

const HISTORY_OFF = { more: { history: { minutes: 0 } }, isStartKnown: true } as const;

/** Subjects measured beside bare Node; the other commit may have no choice of an engine. */
export const SERVICES: ReadonlyMap<string, Subject> = new Map<string, Subject>([
  ...ENGINES.flatMap((engine) => [
    [nameOf(engine), { engine }] as const,
    [offNameOf(engine), { engine, ...HISTORY_OFF }] as const,
  ]),
  [SUBSCRIBED, { isSubscribed: true, isStartKnown: true }],
  [SUBSCRIBED_OFF, { ...HISTORY_OFF, isSubscribed: true }],
  ...(BESIDE === undefined ? [] : [[OTHER, { main: BESIDE }] as const]),
]);

export const subjectPath = (name: string) => path.join(ROOT, `build/ts/bench/subjects/${name}.js`);

export interface Watched {
  readonly name: string;
  readonly pid: number;
  stop(): Promise<void>;
}

async function startBare(): Promise<Watched> {
  const child = spawn(process.execPath, [subjectPath('bare-timer')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  return { name: BARE, pid: pidOf(child), stop: () => stopChild(child, 'SIGTERM') };
}

/** Starts the subject of that name. */
export async function startWatched(name: string): Promise<Watched> {
  const options = SERVICES.get(name);
  if (options === undefined) return await startBare();
  const service = await startService(2, options);
  const pid = pidOf(service.child);
  if (options.isSubscribed === undefined) return { name, pid, stop: () => service.stop() };
  const request = http.get({ port: service.port, host: '127.0.0.1', path: '/api/stream' });
  request.on('error', () => undefined);
  request.on('response', (response) => response.on('error', () => undefined).resume());
  return {
    name,
    pid,
    stop: async () => {
      request.destroy();
      await service.stop();
    },
  };
}
