/**
 * Every operation of HTTP, once: the router matches these rows, and the API documents are made from them.
 * The service loads this table, so it has no payload schemas and no prose. Those are the OperationDocs beside the
 * payloads (wire/power.ts, for example), and what runs for each is in viewers/routes/: both are tied to the ids by type.
 */

import type { Scope } from '../scopes.ts';

export type Method = 'GET' | 'POST';

/** Groups of operations in the API documents. */
export type Tag = 'stats' | 'history' | 'power' | 'media' | 'processes' | 'service' | 'hosts';

/** `Feature`: the names of the flags; http/routes.ts narrows it to those of the configuration. */
export interface Operation<Feature extends string = string> {
  readonly method: Method;
  /** Compared byte for byte with the raw path. A final `/*` matches one last part, which is not empty. */
  readonly path: `/api/${string}` | '/metrics';
  readonly tag: Tag;
  /** The flag of the configuration that allows it; with POST it is judged with the command. Off: 403 `feature_disabled`. */
  readonly feature?: Feature;
  /** The scope that a key must have. Absent: any key will do, or none where the contract lets the client in. */
  readonly scope?: Scope;
  /**
   * 'json': the content type is checked. 'ignored': read to its end and dropped. Absent: a body is not read.
   */
  readonly body?: 'json' | 'ignored';
  /** Stays open: counted with the streams of its address, not with its pending requests. */
  readonly staysOpen?: true;
  /** A key must be sent, also by clients that are let in without one: 401. */
  readonly needsKey?: true;
  /** No key is needed. */
  readonly isPublic?: true;
  /** May change more than the other operations before 1.0. */
  readonly isExperimental?: true;
  /** The id of the same operation on one machine of a hub, below /api/hosts/{id}/ (wire/hub-operations.ts). */
  readonly onHost?: string;
}

const powerCommand = { method: 'POST', tag: 'power', body: 'ignored' } as const;
const powerAction = <const Action extends string, const Feature extends string>(
  action: Action,
  feature: Feature,
) =>
  ({
    ...powerCommand,
    path: `/api/pw/${action}`,
    scope: `power.${action}`,
    feature,
    onHost: `${action}Host`,
  }) as const;
const media = { tag: 'media', feature: 'enable_media', isExperimental: true } as const;
const processes = {
  method: 'GET',
  tag: 'processes',
  feature: 'enable_processes',
  scope: 'processes',
} as const;
const processControl = {
  method: 'POST',
  tag: 'processes',
  scope: 'processes.control',
  feature: 'enable_process_control',
  body: 'json',
} as const;
const reading = { method: 'GET', tag: 'stats', scope: 'read' } as const;

export const OPERATIONS = {
  getUsage: { ...reading, path: '/api/usage', onHost: 'getHostUsage' },
  openStream: { ...reading, path: '/api/stream', staysOpen: true, onHost: 'openHostStream' },
  getSystem: { ...reading, path: '/api/system', onHost: 'getHostSystem' },
  /** Its messages are judged one by one. */
  openSocket: { method: 'GET', path: '/api/ws', tag: 'stats', staysOpen: true, onHost: 'openHostSocket' },

  getHistory: { ...reading, path: '/api/history', tag: 'history', onHost: 'getHostHistory' },
  getProcessHistory: {
    ...processes,
    path: '/api/history/processes',
    tag: 'history',
    onHost: 'getHostProcessHistory',
  },

  /** JSON or a stream, by `Accept`. */
  listEvents: { ...reading, path: '/api/events', tag: 'history', staysOpen: true, onHost: 'listHostEvents' },
  muteEvents: { method: 'POST', path: '/api/events/mute', tag: 'history', scope: 'admin', body: 'json' },

  getPower: { ...reading, path: '/api/pw', tag: 'power', onHost: 'getHostPower' },
  shutdown: powerAction('shutdown', 'enable_shutdown'),
  restart: powerAction('restart', 'enable_restart'),
  sleep: powerAction('sleep', 'enable_sleep'),
  hibernate: powerAction('hibernate', 'enable_hibernate'),
  lock: powerAction('lock', 'enable_sleep'),
  cancelPower: { ...powerCommand, path: '/api/pw/cancel', scope: 'power.cancel', onHost: 'cancelHostPower' },

  wake: {
    method: 'POST',
    path: '/api/wake',
    tag: 'power',
    scope: 'wake',
    feature: 'enable_wake',
    body: 'json',
    onHost: 'wakeFromHost',
  },

  getMedia: { ...media, method: 'GET', path: '/api/media/status', scope: 'read', onHost: 'getHostMedia' },
  getMediaArt: { ...media, method: 'GET', path: '/api/media/art', scope: 'read', onHost: 'getHostMediaArt' },
  controlMedia: {
    ...media,
    method: 'POST',
    path: '/api/media/control',
    scope: 'media',
    body: 'json',
    onHost: 'controlHostMedia',
  },

  listProcesses: { ...processes, path: '/api/processes', onHost: 'listHostProcesses' },
  getProcess: { ...processes, path: '/api/processes/*', onHost: 'getHostProcess' },
  killProcess: { ...processControl, path: '/api/processes/kill', onHost: 'killHostProcess' },
  launchProcess: { ...processControl, path: '/api/processes/launch', onHost: 'launchHostProcess' },

  getStatus: { method: 'GET', path: '/api/status', tag: 'service', isPublic: true },
  listKeys: { method: 'GET', path: '/api/keys', tag: 'service', scope: 'admin', needsKey: true },
  getAccess: { method: 'GET', path: '/api/access', tag: 'service', onHost: 'getHostAccess' },
  getOpenapi: { method: 'GET', path: '/api/openapi.json', tag: 'service' },
  getMetrics: { method: 'GET', path: '/metrics', tag: 'stats', scope: 'metrics', feature: 'enable_metrics' },
} as const satisfies Readonly<Record<string, Operation>>;

export type OperationId = keyof typeof OPERATIONS;
