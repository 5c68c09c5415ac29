/** A service for the examples of the docs, and their addresses as its own. */
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Test } from 'tap';
import { rowOf } from '#src/host/process-columns.js';
import type { ProcessFacts, ProcessHost } from '#src/host/processes.js';
import { isUp, startHub } from '../../hub/setup.ts';
import { fixtureHost } from '../fakes/host.ts';
import { FakeMediaHost, playerOf, snapshotOf } from '../fakes/media.ts';
import { FakeProcessHost } from '../fakes/processes.ts';
import { serveHere } from '../service/service.ts';

// Inside the package, so that programs find hostwire/client as its users do.
export const BUILD = path.resolve(import.meta.dirname, '../../../..');
const LIMIT_MS = 20_000;
const EVERYTHING_ON = {
  enable_shutdown: true,
  enable_restart: true,
  enable_hibernate: true,
  enable_process_control: true,
  enable_wake: true,
};

export function makeFolder(t: Test): string {
  mkdirSync(BUILD, { recursive: true });
  const folder = mkdtempSync(path.join(BUILD, 'examples-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Its processes can be looked at one by one too. */
function processHost(): ProcessHost {
  const host = new FakeProcessHost();
  const readDetails = async (pid: number): Promise<ProcessFacts | null> => {
    const columns = await host.read();
    const row = rowOf(columns, pid);
    if (row === undefined) return null;
    return {
      pid,
      startTicks: columns.startTicks[row] ?? 0,
      path: null,
      folder: null,
      openFiles: 3,
      command: [],
    };
  };
  return Object.assign(host, { readDetails });
}

/** A machine with a player, a cover and processes, none of them real; power is recorded. */
export async function startService(t: Test, folder: string) {
  const cover = path.join(folder, 'cover.gif');
  writeFileSync(cover, Buffer.from('R0lGODlhAQABAAAAACw=', 'base64'));
  const media = new FakeMediaHost();
  const artUrl = pathToFileURL(cover).href;
  media.snapshot = snapshotOf(playerOf('player', { title: 'Song', playback: 'playing', artUrl }));
  const host = { ...fixtureHost(), media, processes: processHost() };
  const service = await serveHere(t, host, {
    features: EVERYTHING_ON,
    // For the one example with a key; the others are sent without.
    auth: { enabled: false, api_key: '<API_KEY>' },
    processes: { launch: { editor: { command: '/bin/true', args: [], env: {}, allow_args: false } } },
    wake: { hosts: { nas: { mac: '02:00:5e:10:00:00', port: 9 } } },
    stats: { stream_interval_seconds: 1 },
    history: { minutes: 60 },
  });
  // Both machines of docs/client.md are this one.
  const agent = { url: service.baseUrl, labels: { site: 'berlin' } };
  const rules = { all: { commands: ['*'], labels: {} } };
  const hub = await startHub(t, { desk: agent, nas: agent }, { hub: { commands: rules } });
  for (const id of ['desk', 'nas']) await hub.host(id, isUp);
  return { media, service, hubUrl: `http://127.0.0.1:${hub.port}` };
}

/** Returns the text with the addresses of the service and the hub in place of those that the examples use. */
export const addressed = (text: string, baseUrl: string, hubUrl: string) =>
  text
    .replaceAll(/(?:http:\/\/)?\b(?:localhost|pc):9990/g, baseUrl)
    .replaceAll(/(?:http:\/\/)?\b(?:localhost|hub):9980/g, hubUrl);

export interface Ending {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Waits for the end of `child`; ends it once `isEnough` is satisfied with its output, or when it takes too long. */
export async function endOf(
  child: ChildProcess,
  isEnough: (stdout: string) => boolean = () => false,
): Promise<Ending> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    if (isEnough(stdout)) child.kill();
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  return { code, stdout, stderr };
}
