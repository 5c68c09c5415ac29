/** A service in this process whose machine notes what it was made to do, and a hub in front of it. */
import { DEFAULT_CONFIG } from '#src/config/config.js';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { FakeMediaHost, playerOf, snapshotOf } from '../helpers/fakes/media.ts';
import { FakeProcessHost } from '../helpers/fakes/processes.ts';
import type { Scope } from '../helpers/scope.ts';
import { type ConfigPart, type ServiceHere, serveHere } from '../helpers/service/service.ts';

type Features = typeof DEFAULT_CONFIG.features;

/** Every flag on or off. */
export const allFlags = (isOn: boolean): Features =>
  Object.fromEntries(Object.keys(DEFAULT_CONFIG.features).map((flag) => [flag, isOn])) as Features; // All of its keys.

export interface Commanded {
  readonly service: ServiceHere;
  readonly media: FakeMediaHost;
  readonly processes: FakeProcessHost;
  /** The acts since the last call; those of power are in the audit trail only. */
  acts(): readonly string[];
  /** The lines of its audit trail so far. */
  audit(): readonly string[];
  configure(features: Features, more?: ConfigPart): void;
}

const PARTS: ConfigPart = {
  wake: { hosts: { nas: { mac: '02:00:5e:10:ab:cd', broadcast: '127.0.0.1', port: 9 } } },
  processes: {
    launch: { app: { command: '/opt/program', args: [], env: {}, cwd: '/opt', allow_args: false } },
  },
  stats: { stream_interval_seconds: 1 },
  log: { level: 'info' },
};

export async function startCommanded(t: Scope, more: ConfigPart = {}): Promise<Commanded> {
  const media = new FakeMediaHost();
  const processes = new FakeProcessHost();
  const player = { title: 'A', volume: 0.5, durationSeconds: 600, positionSeconds: 1 };
  media.snapshot = snapshotOf(playerOf('mpv', { playback: 'paused', ...player }));
  const configOf = (features: Features, part: ConfigPart): ConfigPart => ({
    ...PARTS,
    features,
    ...more,
    ...part,
  });
  const service = await serveHere(t, { ...fixtureHost(), media, processes }, configOf(allFlags(true), {}));
  return {
    service,
    media,
    processes,
    acts: () =>
      [
        ...media.controls.splice(0).map(({ verb, value }) => `${verb} ${value}`),
        ...processes.sent.splice(0).map(([pid, signal]) => `${signal} ${pid}`),
        ...processes.launched.splice(0).map(({ program }) => program),
      ].toSorted(),
    audit: () =>
      service
        .stderr()
        .split('\n')
        .filter((line) => /: (?:power|media|process|wake): .* keyed=/.test(line)),
    configure: (features, part = {}) => service.reconfigure(configOf(features, part)),
  };
}
