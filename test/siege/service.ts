/** The service under siege: its forms, and what it finds around it. */
import { spawn } from 'node:child_process';
import { cpSync, existsSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Test } from 'tap';
import { FakePlayer, track } from '../helpers/dbus/player.ts';
import { startSessionBus } from '../helpers/dbus/session-bus.ts';
import { variant } from '../helpers/dbus/wire.ts';
import { openFixture } from '../helpers/machine/fixtures.ts';
import { emptyFolder } from '../helpers/scope.ts';
import { type ConfigPart, type ServiceProcess, startService } from '../helpers/service/service.ts';
import { HUB_KEY, startBesiegedHub } from './hub.ts';
import { BLOCKED_RANGE, type Place } from './target.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const SANITIZED_ADDON = path.join(ROOT, 'build/sanitized/address/hostwire.node');
const KEY = 'siege-key-0123456789abcdef0123456789abcdef';
/** The captured machine whose files are mutated. */
const MACHINE = 'laptop';

/** The ways in which the service is besieged, one after the other. */
export interface Form {
  readonly name: string;
  /** Its part of the whole time. */
  readonly share: number;
  readonly hasAuth?: true;
  /** A hub with 50 machines in the place of a service. */
  readonly role?: 'hub';
  /** It sees a captured machine whose files can be changed. */
  readonly hasTree?: true;
  /** Its addon is built with AddressSanitizer and UBSan, which cost time and memory: neither is judged. */
  readonly isSanitized?: true;
}

export const OPEN: Form = { name: 'without authentication', share: 0.5 };
export const KEYED: Form = { name: 'with authentication', share: 0.25, hasAuth: true };
export const SANITIZED: Form = {
  name: 'under sanitizers, on a copied machine',
  share: 0.25,
  hasTree: true,
  isSanitized: true,
};

export const HUB: Form = { name: 'a hub with 50 machines', share: 1, role: 'hub' };

export const whyNotSanitized = (): string | false =>
  !existsSync(SANITIZED_ADDON) && `${SANITIZED_ADDON} is missing: node scripts/build.mjs sanitized-addon`;

/** Process control stays off: a mutated pid must not end a process of this machine. Power is recorded. */
function configOf({ hasAuth }: Form, tree: string | undefined): ConfigPart {
  return {
    stats: { stream_interval_seconds: 1 },
    features: { enable_sleep: true, enable_hibernate: true, enable_restart: true, enable_shutdown: true },
    auth: { blocked_ips: [BLOCKED_RANGE], ...(hasAuth && { enabled: true, api_key: KEY }) },
    ...(tree !== undefined && { host: { proc: path.join(tree, 'proc'), sys: path.join(tree, 'sys') } }),
  };
}

/** A copy of the program whose addon is the sanitized one; removed with the test. */
function layOutSanitized(t: Test): string {
  const folder = emptyFolder(t, 'sanitized');
  cpSync(path.join(ROOT, 'dist'), path.join(folder, 'dist'), { recursive: true });
  cpSync(path.join(ROOT, 'package.json'), path.join(folder, 'package.json'));
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  rmSync(path.join(folder, 'dist/hostwire.node'));
  cpSync(SANITIZED_ADDON, path.join(folder, 'dist/hostwire.node'));
  return folder;
}

/**
 * Node is not built with AddressSanitizer, so its run-time library is loaded first; and libstdc++ with it, whose
 * exceptions it must find. Node leaks on purpose when it ends. Counts of covered lines go to the folder.
 */
const sanitizerEnv = (folder: string) => ({
  LD_PRELOAD: 'libasan.so.8 libstdc++.so.6',
  ASAN_OPTIONS: 'detect_leaks=0:quarantine_size_mb=16',
  UBSAN_OPTIONS: 'print_stacktrace=1',
  GCOV_PREFIX: folder,
});

async function startForm(
  t: Test,
  form: Form,
  bus: string,
  tree: string | undefined,
): Promise<ServiceProcess> {
  const config = configOf(form, tree);
  const env = { DBUS_SESSION_BUS_ADDRESS: bus };
  if (form.isSanitized !== true) return await startService({ config, env });
  const folder = layOutSanitized(t);
  return await startService({
    config,
    env,
    start: (command, [, ...args], how) =>
      spawn(command, [path.join(folder, 'dist/main.js'), ...args], {
        ...how,
        env: { ...how.env, ...sanitizerEnv(folder) },
      }),
  });
}

/** A player that behaves well, with a cover of 500 KB. */
async function startPlayer(t: Test, bus: string): Promise<void> {
  const folder = emptyFolder(t, 'cover');
  const cover = path.join(folder, 'cover.gif');
  writeFileSync(cover, Buffer.concat([Buffer.from('GIF89a'), Buffer.alloc(500_000, 7)]));
  const metadata = track('siege', { 'mpris:artUrl': variant('s', `file://${cover}`) });
  const properties = { PlaybackStatus: variant('s', 'Playing'), Metadata: metadata };
  const player = await FakePlayer.start(bus, 'aaa', properties);
  t.teardown(() => player.close());
}

export interface Besieged {
  readonly service: ServiceProcess;
  readonly place: Place;
  /** GET with the key, if there is one. */
  readonly get: (target: string) => Promise<Response>;
  /** Paths that are served before and after. */
  readonly served: readonly string[];
  /** Machines of a hub that must be up at the end. */
  readonly honest: readonly string[];
}

/** The dashboard's script, or that of the page of all machines. */
async function scriptOf(baseUrl: string, get: Besieged['get']): Promise<string> {
  const script = /src="([^"]+\.js)"/.exec(await (await get('/')).text())?.[1];
  if (script === undefined) throw new Error('the page has no script');
  return new URL(script, `${baseUrl}/`).pathname;
}

function getWith(baseUrl: string, key: string | undefined): Besieged['get'] {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return (target) => fetch(`${baseUrl}${target}`, { headers });
}

/** Starts what is besieged; all of it ends with `t`. Each endpoint has been used once. `workers`: attacks at a time. */
export async function startBesieged(t: Test, form: Form, workers: number): Promise<Besieged> {
  const besieged = form.role === 'hub' ? await startHub(t, workers) : await startOne(t, form);
  const { get, served, place } = besieged;
  for (const target of [place.script, '/api/openapi.json', ...served])
    await (await get(target)).arrayBuffer();
  return besieged;
}

async function startHub(t: Test, workers: number): Promise<Besieged> {
  const { hub: service, place, honest, paths } = await startBesiegedHub(t, workers);
  const get = getWith(service.baseUrl, HUB_KEY);
  const script = await scriptOf(service.baseUrl, get);
  return {
    service,
    get,
    honest,
    place: { port: service.port, script, ...paths, key: HUB_KEY, hub: place },
    served: [
      '/api/status',
      '/api/hosts',
      '/metrics',
      ...place.real.flatMap((id) =>
        ['usage', 'pw', 'processes', 'history'].map((what) => `/api/hosts/${id}/${what}`),
      ),
    ],
  };
}

async function startOne(t: Test, form: Form): Promise<Besieged> {
  const bus = await startSessionBus();
  t.teardown(() => bus.stop());
  await startPlayer(t, bus.address);
  const tree = form.hasTree === true ? openFixture(t, MACHINE).root : undefined;
  const service = await startForm(t, form, bus.address, tree);
  t.teardown(() => service.stop());
  const key = form.hasAuth === true ? KEY : undefined;
  const { port, baseUrl } = service;
  const get = getWith(baseUrl, key);
  const place: Place = {
    port,
    stream: '/api/stream',
    machine: '/api',
    script: await scriptOf(baseUrl, get),
    bus: bus.address,
    ...(key !== undefined && { key }),
    ...(tree !== undefined && { tree }),
  };
  const served = ['/api/status', '/api/usage', '/api/processes', '/api/media/status', '/api/pw'];
  return { service, place, get, served, honest: [] };
}
