/** The part of a machine's answers that a hub keeps: the figures of a sample, and the facts of an inventory. */
import { PLACES, QUOTAS, REMEMBERED, TEXTS } from '../fairness/limits.ts';
import { SECTION_BITS, type Section } from '../host/host.ts';
import { isObject, type JsonObject, membersOf } from '../json.ts';

/** The keys of each section without `detail`, as wire/sample.ts has them. */
const PLAIN_KEYS: Readonly<Record<Section, readonly string[]>> = {
  cpu: ['current_load', 'current_temp', 'current_speed'],
  memory: ['used', 'free', 'used_percent'],
  gpu: ['current_load', 'current_temp', 'current_memory'],
  disks: ['fs', 'used', 'available', 'used_percent'],
  network: ['bytesSent', 'bytesRecv'],
};
const SYSTEM_KEYS = ['hostname', 'platform', 'os', 'cpu', 'gpu', 'memory', 'disks', 'network'] as const;
const SECTIONS_BY_NAME = Object.entries(PLAIN_KEYS) as readonly (readonly [Section, readonly string[]])[];

/** The facts of one machine for an inventory. */
export interface MachineFacts {
  /** Of hostwire. */
  readonly version?: string | undefined;
  readonly os?: string | undefined;
  /** Of its processor. */
  readonly model?: string | undefined;
  readonly addresses?: readonly string[] | undefined;
  /** The names in its `wake.hosts`. */
  readonly wakes?: readonly string[] | undefined;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.slice(0, TEXTS.name) : undefined;

/** Texts that many machines have. */
const shared = new Map<string, string>();

/** Returns the text in `value`, which is kept once for all that have it; undefined: there is none. */
export function share(value: unknown): string | undefined {
  const text = textOf(value);
  if (text === undefined) return undefined;
  if (shared.size >= REMEMBERED.machineTexts) shared.clear();
  const known = shared.get(text) ?? text;
  shared.set(known, known);
  return known;
}

/**
 * The members of `value` that have these names, as without `detail`: a number that cannot be read is 0, a temperature is not
 * negative, and a disk that never answered is left out (stats/cpu.ts, stats/disks.ts).
 */
function pick(value: unknown, names: readonly string[]): unknown {
  if (Array.isArray(value))
    return value.filter((item) => membersOf(item)['used'] !== null).map((item: unknown) => pick(item, names));
  if (!isObject(value)) return value;
  return Object.fromEntries(names.map((name) => [name, plainOf(name, value[name] ?? 0)]));
}

const plainOf = (name: string, value: unknown) =>
  name === 'current_temp' && typeof value === 'number' ? Math.max(0, value) : value;

const sectionsIn = (payload: JsonObject, sections: number) =>
  SECTIONS_BY_NAME.filter(([name]) => payload[name] !== undefined && (sections & SECTION_BITS[name]) !== 0);

/** The time and these sections of a payload, with or without detail, in the form without it. */
export function plainFigures(payload: JsonObject, sections: number): JsonObject {
  const { timestamp, uptime } = payload;
  const figures = sectionsIn(payload, sections).map(([name, keys]) => [name, pick(payload[name], keys)]);
  return { timestamp, uptime, ...Object.fromEntries(figures) };
}

/** The figures that are kept of a payload, as JSON: all of them, or those of processor and memory where there are many. */
export function lastFigures(payload: JsonObject, allSections: number): string {
  const all = JSON.stringify(plainFigures(payload, allSections));
  if (all.length <= QUOTAS.lastValues.maxBytes) return all;
  return JSON.stringify(plainFigures(payload, SECTION_BITS.cpu | SECTION_BITS.memory));
}

/** The answer of /api/system without `detail`, of the one with it; without its disks where it is long. */
export function plainSystem(system: JsonObject): string {
  const plain = Object.fromEntries(SYSTEM_KEYS.map((key) => [key, system[key] ?? null]));
  const text = JSON.stringify(plain);
  return text.length <= QUOTAS.lastValues.maxBytes ? text : JSON.stringify({ ...plain, disks: [] });
}

/** Reads the answer of /api/system with `detail`. */
export function factsOf({ os, cpu, service, interfaces, capabilities }: JsonObject): MachineFacts {
  const { name, version } = membersOf(os);
  const addresses = (Array.isArray(interfaces) ? interfaces : [])
    .map(membersOf)
    .filter(({ kind }) => kind !== 'loopback')
    .flatMap((each): readonly unknown[] => (Array.isArray(each['addresses']) ? each['addresses'] : []));
  return readFacts({
    version: membersOf(service)['version'],
    os: [name, version].filter((part) => textOf(part) !== undefined).join(' '),
    model: membersOf(cpu)['brand'],
    addresses,
    wakes: membersOf(membersOf(capabilities)['wake'])['hosts'],
  });
}

/** The valid ones of these facts. */
export function readFacts(facts: JsonObject): MachineFacts {
  const [version, os, model] = [facts['version'], facts['os'], facts['model']].map(share);
  const addresses = textsIn(facts['addresses'], PLACES.machineAddresses.max);
  const wakes = textsIn(facts['wakes'], PLACES.machineWakes.max);
  return { version, os, model, addresses, ...(wakes && { wakes }) };
}

/** undefined: there are none. */
function textsIn(list: unknown, most: number): readonly string[] | undefined {
  const texts = (Array.isArray(list) ? list : []).map(textOf).filter((text) => text !== undefined);
  return texts.length > 0 ? texts.slice(0, most) : undefined;
}
