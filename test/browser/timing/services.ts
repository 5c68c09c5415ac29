/** The services whose answers are timed: features on and off, authentication on and off, guard on and off. */
import { type ChildProcess, spawn } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import type { Test } from 'tap';
import type { ConfigPart, ServiceProcess } from '../../helpers/service/service.ts';
import { until } from '../../helpers/until.ts';
import { startGuarded, startVictimPlayer } from '../attack/guarded.ts';

const PROCESSES = 200;
/** Lifetime of the processes: they exit on their own, even if the test is killed. */
const PROCESS_LIFE_S = 1800;

/** `open`: every feature on, no key. `locked`: a key is needed. `bare`: every feature off, no key. */
type Variant = 'open' | 'locked' | 'bare';

export type Services = Readonly<Record<Variant, ServiceProcess>>;

/** A request of a variant of the service. */
export interface Question {
  readonly variant: Variant;
  readonly path: string;
}

/** Two requests that a page would like to distinguish. */
export interface Pair {
  readonly name: string;
  readonly first: Question;
  readonly second: Question;
}

const open = (path: string): Question => ({ variant: 'open', path });

/** The names of each pair are equally long. */
export const PAIRS: readonly Pair[] = [
  {
    name: 'process sleep',
    first: open('/api/processes/sleep'),
    second: open('/api/processes/slaap'),
  },
  { name: 'process node', first: open('/api/processes/node'), second: open('/api/processes/nood') },
  {
    name: 'process chromium',
    first: open('/api/processes/chromium'),
    second: open('/api/processes/chromate'),
  },
  {
    name: 'player',
    first: open('/api/media/status?player=victim'),
    second: open('/api/media/status?player=nobody'),
  },
  {
    name: 'art',
    first: open('/api/media/art?player=victim'),
    second: open('/api/media/art?player=nobody'),
  },
  {
    name: 'feature',
    first: open('/api/processes'),
    second: { variant: 'bare', path: '/api/processes' },
  },
  { name: 'auth', first: open('/api/system'), second: { variant: 'locked', path: '/api/system' } },
];

function configOf(variant: Variant): ConfigPart {
  const isOn = variant !== 'bare';
  return {
    features: {
      enable_media: isOn,
      enable_processes: isOn,
      enable_process_control: isOn,
      enable_dashboard: isOn,
    },
    auth: variant === 'locked' ? { enabled: true, api_key: 'timing-proof-key-0123456789abcdef012345' } : {},
  };
}

/** Starts `count` processes that do nothing. */
function startProcesses(t: Test, count: number): void {
  const children: readonly ChildProcess[] = Array.from({ length: count }, () =>
    spawn('/bin/sleep', [String(PROCESS_LIFE_S)], { stdio: 'ignore' }),
  );
  t.teardown(() => children.forEach((child) => child.kill('SIGKILL')));
}

/** The answers of the variants to a request from Node that costs them next to nothing. */
const SIGN = { path: '/api/media/art?player=nobody', open: 404, locked: 401, bare: 403 };

/** Makes `service` another variant, without a restart. */
export async function become({ configFile, pid, baseUrl }: ServiceProcess, variant: Variant): Promise<void> {
  const next = `${configFile}.next`;
  writeFileSync(next, JSON.stringify({ power: { backend: 'record' }, ...configOf(variant) }), {
    mode: 0o600,
  });
  renameSync(next, configFile);
  process.kill(pid, 'SIGHUP');
  await until(async () => (await fetch(baseUrl + SIGN.path)).status === SIGN[variant]);
}

export interface Started {
  readonly guarded: Services;
  readonly unguarded: Services;
  /** Guarded, and `become` changes it. */
  readonly changing: ServiceProcess;
}

/** All variants, with and without the guard, on a machine with 200 more processes; all of it ends with `t`. */
export async function startServices(t: Test): Promise<Started> {
  startProcesses(t, PROCESSES);
  const { bus } = await startVictimPlayer(t, 'a song');
  const start = (variant: Variant, isGuarded: boolean) =>
    startGuarded(t, isGuarded, { config: configOf(variant), env: { DBUS_SESSION_BUS_ADDRESS: bus } });
  const startAll = async (isGuarded: boolean): Promise<Services> => ({
    open: await start('open', isGuarded),
    locked: await start('locked', isGuarded),
    bare: await start('bare', isGuarded),
  });
  return {
    guarded: await startAll(true),
    unguarded: await startAll(false),
    changing: await start('open', true),
  };
}
