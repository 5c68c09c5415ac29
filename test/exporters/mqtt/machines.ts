/** Samples of the captured machines, from their golden payloads, and the facts of a document about them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { DiscoveryFacts } from '#src/exporters/mqtt/discovery/document.js';
import { topicsOf } from '#src/exporters/mqtt/discovery/topics.js';
import type { Sample } from '#src/stats/sample.js';
import type { MediaDetail } from '#src/wire/media.js';
import type { PowerCapabilities } from '#src/wire/power.js';
import type { UsageDetail } from '#src/wire/usage.js';
import { SYSTEM } from '../../helpers/fakes/host.ts';

const MACHINES = path.resolve(import.meta.dirname, '../../../../../test/fixtures/linux');

const goldenOf = (name: string) => path.join(MACHINES, name, 'golden/detail.json');

/** The machines whose lists are complete: of very long ones the golden payload has only a digest. */
export const machines: readonly string[] = readdirSync(MACHINES).filter((name) => {
  if (!existsSync(goldenOf(name))) return false;
  const { disks, network } = payloadOf(name);
  return Array.isArray(disks) && Array.isArray(network?.interfaces);
});

/** The detailed payload of a machine. */
export function payloadOf(name: string): UsageDetail {
  return JSON.parse(readFileSync(goldenOf(name), 'utf8'));
}

const section = <Detail>(detail: Detail | undefined) =>
  detail === undefined ? undefined : { stats: undefined, detail };

/** The sample that has this payload, as far as documents and messages look at it. */
export function sampleOf(payload: UsageDetail, counters: Partial<Sample['counters']> = {}): Sample {
  const { timestamp, uptime, cpu, memory, gpu, disks, network, ...extras } = payload;
  const made = {
    timestamp,
    uptime,
    extras,
    cpu: section(cpu),
    memory: section(memory),
    gpu: section(gpu),
    disks: section(disks),
    network: section(network),
    counters: { takenAtNs: 0, sinceBootNs: 0, unixMs: 0, ...counters },
  };
  // Without the sections' default forms, which nothing here reads.
  return made as unknown as Sample;
}

export const TOPICS = topicsOf({ topic: 'hostwire', discoveryPrefix: 'homeassistant', id: 'pc-1' });

export const MEDIA: MediaDetail = {
  status: 'active',
  title: "L'été & <more>",
  artist: 'A, B',
  playback: 'playing',
  playing: true,
  album: 'Album',
  position: 12.5,
  duration: 200,
  rate: 1,
  shuffle: false,
  repeat: 'none',
  volume: 40,
  muted: false,
  supports_ctrl: true,
  player: 'mpv',
  players: ['mpv', 'an \'odd\' "name" {{ 1 }}'],
  art_url: null,
  has_art: false,
};

const able = { enabled: true, supported: true, reason: null };
export const POWER: PowerCapabilities = {
  shutdown: able,
  restart: able,
  sleep: able,
  hibernate: able,
  lock: able,
};

export function factsOf(payload: UsageDetail, change: Partial<DiscoveryFacts> = {}): DiscoveryFacts {
  return {
    id: 'pc-1',
    name: 'Office PC',
    topics: TOPICS,
    intervalSeconds: 15,
    sample: sampleOf(payload),
    system: SYSTEM,
    version: '1.2.3',
    bootedAt: payload.timestamp - payload.uptime,
    media: MEDIA,
    power: POWER,
    hasRules: true,
    ...change,
  };
}
