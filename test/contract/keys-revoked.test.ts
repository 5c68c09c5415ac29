/**
 * A key that is removed or expires ends all that it has opened, within a second; what other keys have opened misses no
 * sample. Short: 20 event streams and 20 WebSockets of the key, and as many of another. Full: 1,000 and 1,000, and 500
 * and 500 of another key.
 */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import t, { type Test } from 'tap';
import type { KeySettings } from '#src/access/key.js';
import { cpuNsOf } from '../../bench/cpu.ts';
import { ask } from '../helpers/clients/http.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import { openViewers, type Viewer, type Viewers } from '../helpers/clients/viewers.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { FakeMediaHost, playerOf, snapshotOf } from '../helpers/fakes/media.ts';
import { bearer, keyWith } from '../helpers/keys.ts';
import { checkTime } from '../helpers/limits.ts';
import { type ConfigPart, configText, serveHere, serveProgram } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';
import { waitedSecondsOf } from '../siege/usage.ts';

const IS_FULL = process.env['HOSTWIRE_FULL'] === '1';
const REVOKED = IS_FULL ? 1000 : 20;
const OTHERS = IS_FULL ? 500 : 20;
const LIMIT_MS = 1000;
/** From the configuration with a new expiry, which ends nothing, to that moment. */
const LIFE_MS = 3000;
/** Samples after the last key has ended. */
const MORE_SAMPLES = 3;

const entryOf = (name: string): Entry => keyWith(name, 'read');

type Entry = Pick<KeySettings, 'digest' | 'scopes' | 'expires'>;

function configWithKeys(folder: string, keys: Readonly<Record<string, Entry>>): ConfigPart {
  return {
    stats: { stream_interval_seconds: 1 },
    auth: { enabled: true, keys_folder: folder, keys },
  };
}

function replaceFile(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Waits until all have ended; returns the milliseconds from `begun` to the end of each, sorted. */
async function timesToEnd(viewers: readonly Viewer[], begun: number): Promise<readonly number[]> {
  const ends = await Promise.all(viewers.map((viewer) => viewer.ended()));
  return ends.map((end) => end - begun).sort((a, b) => a - b);
}

/** The CPU time of `pid`, and the time for which its threads waited for a CPU that others had. */
const timesOf = (pid: number) => ({ cpuMs: cpuNsOf(pid) / 1e6, waitedMs: waitedSecondsOf(pid) * 1000 });

/** Revokes a key; returns the moment of `performance.now()` from which it is not valid. */
type Revoke = () => number | Promise<number>;

interface Setup {
  readonly port: number;
  readonly pid: number;
  readonly others: Viewers;
}

async function checkRevoked(
  t: Test,
  { port, pid, others }: Setup,
  name: string,
  what: string,
  revoke: Revoke,
) {
  const viewers = await openViewers(port, bearer(name), REVOKED);
  t.teardown(() => viewers.all.forEach((viewer) => viewer.close()));
  t.notOk(
    viewers.all.some((viewer) => viewer.isClosed()),
    `${viewers.all.length} are open`,
  );
  const spentBefore = timesOf(pid);
  const begun = await revoke();
  const [streams, sockets] = await Promise.all([
    timesToEnd(viewers.streams, begun),
    timesToEnd(viewers.sockets, begun),
  ]);
  const spent = timesOf(pid);
  const times = [...streams, ...sockets].sort((a, b) => a - b);
  t.ok((times[0] ?? -1) >= 0, 'none ends before');
  const last = times.at(-1) ?? Number.NaN;
  checkTime(t, last, LIMIT_MS, `${what}: the last of ${times.length} ended`);
  t.equal((await ask(port, '/api/usage', { headers: bearer(name) })).status, 401, 'the key is not valid');
  t.equal(others.all.filter((viewer) => viewer.isClosed()).length, 0, 'others stay');
  const span = `${(times[0] ?? Number.NaN).toFixed(0)} to ${last.toFixed(0)} ms`;
  const cpuMs = (spent.cpuMs - spentBefore.cpuMs).toFixed(0);
  const waitedMs = (spent.waitedMs - spentBefore.waitedMs).toFixed(0);
  t.comment(
    `figure: ${what}: ${streams.length} streams and ${sockets.length} WebSockets ended after ${span}; the service used ${cpuMs} ms of CPU until then and waited ${waitedMs} ms for one`,
  );
}

/** The samples of `viewer` from `first` on. */
function samplesFrom(viewer: Viewer, first: string): readonly string[] {
  const samples = viewer.samples();
  const at = samples.indexOf(first);
  return at < 0 ? [] : samples.slice(at);
}

/** Describes the first difference between the samples of `viewer` and `expected`; undefined: there is none. */
function differenceIn(viewer: Viewer, expected: readonly string[]): string | undefined {
  const found = samplesFrom(viewer, expected[0] ?? '');
  const at = expected.findIndex((sample, index) => sample !== found[index]);
  if (at < 0) return undefined;
  const isLate = found[at] !== undefined && expected.includes(found[at]);
  return `${found.length} of ${expected.length}, the first difference at ${at}: ${isLate ? 'another of them' : found[at]}`;
}

/** Checks that `viewers` received what `reader` did from its sample `first` on: each sample once, in the same order. */
async function checkSamples(
  t: Test,
  viewers: readonly Viewer[],
  reader: Viewer,
  first: string,
  what: string,
) {
  const expected = samplesFrom(reader, first);
  const last = expected.at(-1) ?? '';
  await until(() => viewers.every((viewer) => viewer.samples().includes(last)), `the last sample: ${what}`);
  const differences = viewers.map((viewer) => differenceIn(viewer, expected)).filter(Boolean);
  t.strictSame(differences, [], `${viewers.length} ${what} received the same ${expected.length} samples`);
  return expected.length;
}

/** Waits for the next sample of `viewer` and returns it. */
async function nextSample(viewer: Viewer): Promise<string> {
  const before = viewer.samples().length;
  await until(() => viewer.samples().length > before);
  return viewer.samples()[before] ?? '';
}

t.setTimeout(280_000);

t.test(
  '[10.keys-revoked] the end of a key with many streams and WebSockets',
  { timeout: 270_000 },
  async (t) => {
    const folder = t.testdir({ keys: {} });
    const keys = path.join(folder, 'keys');
    mkdirSync(keys, { recursive: true });
    const phone = path.join(keys, 'phone.json');
    writeFileSync(phone, JSON.stringify(entryOf('phone')), { mode: 0o600 });
    const staying = { viewer: entryOf('viewer'), reader: entryOf('reader') };
    const config = configWithKeys(keys, { ...staying, panel: entryOf('panel'), guest: entryOf('guest') });
    const service = await serveProgram(t, { config });
    const { port, configFile } = service;
    const readers = await openViewers(port, bearer('reader'), 1);
    const others = await openViewers(port, bearer('viewer'), OTHERS);
    t.teardown(() => [...readers.all, ...others.all].forEach((viewer) => viewer.close()));
    const [stream] = readers.streams;
    const [socket] = readers.sockets;
    if (stream === undefined || socket === undefined) throw new Error('no reader');
    // A stream that has begun shortly before a sample skips it, because its first event is as new.
    await Promise.all([nextSample(stream), nextSample(socket)]);
    const firsts = await Promise.all([nextSample(stream), nextSample(socket)]);
    const setup = { port, pid: service.pid, others };

    await checkRevoked(t, setup, 'phone', 'a key file removed', () => {
      rmSync(phone);
      return performance.now();
    });
    await checkRevoked(t, setup, 'panel', 'a key of auth.keys removed', () => {
      replaceFile(configFile, configText(configWithKeys(keys, { ...staying, guest: entryOf('guest') })));
      return performance.now();
    });
    await checkRevoked(t, setup, 'guest', 'a key expired', async () => {
      const endsAtMs = Date.now() + LIFE_MS;
      const guest = { ...entryOf('guest'), expires: new Date(endsAtMs).toISOString() };
      replaceFile(configFile, configText(configWithKeys(keys, { ...staying, guest })));
      return performance.now() + endsAtMs - Date.now();
    });

    for (let count = 0; count < MORE_SAMPLES; count++) await nextSample(stream);
    const ofStreams = await checkSamples(t, others.streams, stream, firsts[0], 'streams');
    const ofSockets = await checkSamples(t, others.sockets, socket, firsts[1], 'WebSockets');
    t.equal(others.all.filter((viewer) => viewer.isClosed()).length, 0, 'others stay to the end');
    t.comment(
      `figure: ${others.streams.length} streams and ${others.sockets.length} WebSockets of another key received ${ofStreams} and ${ofSockets} samples in that time, each once, as a reader did`,
    );
  },
);

const PLAY = { action: 'play' };

t.test('[10.keys-revoked] each message of a socket is judged by the end of its key', async (t) => {
  const media = new FakeMediaHost();
  media.snapshot = snapshotOf(playerOf('mpv', { playback: 'paused', title: 'A' }));
  const endsAtMs = Date.now() + 3_600_000;
  const phone = { ...keyWith('phone', 'admin'), expires: new Date(endsAtMs).toISOString() };
  const service = await serveHere(
    t,
    { ...fixtureHost(), media },
    {
      features: { enable_media: true },
      auth: { enabled: true, keys: { phone, tv: keyWith('tv', 'admin') } },
    },
  );
  const open = (name: string) => SocketClient.openIn(t, service.port, { headers: bearer(name) });
  const [ended, hub, other] = [await open('phone'), await open('phone'), await open('tv')];
  ended.say('media', PLAY);
  await until(() => media.controls.length === 1);
  t.intercept(Date, 'now', { value: () => endsAtMs + performance.now() });
  ended.say('media', PLAY);
  const via = { client: '192.0.2.1' };
  hub.sayText(JSON.stringify({ op: 'request', id: 1, via, data: { name: 'media.play' } }));
  await ended.closed;
  await hub.closed;
  t.equal(media.controls.length, 1, 'nothing was carried out');
  other.say('media', PLAY);
  await until(() => media.controls.length === 2);
  t.notOk(other.isClosed, 'what other keys have opened stays');
});
