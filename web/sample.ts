/** Checks a sample of this page where it enters: as with `detail=1`. */
import type { Section, StatsPayload } from '../src/client/client.ts';
import type { Capability } from '../src/wire/capability.ts';
import type { SystemDetail } from '../src/wire/system.ts';

export type Sample = StatsPayload<Section, true>;
export type System = SystemDetail;
export type { Capability };

/** The type of a section, which may be absent from a sample. */
export type Detail<S extends Section> = NonNullable<Sample[S]>;

type Members = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

/** The last second that a Date can represent: with a later one the slots of the charts would never end. */
const MAX_UNIX_SECONDS = 8.64e12;

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const isText: Check = (value) => typeof value === 'string';
const isList: Check = Array.isArray;
const isOf =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isObject(value) && Object.entries(checks).every(([key, check]) => check(value[key]));
const isListOf =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value) =>
    Array.isArray(value) && value.every(isOf(checks));
const isNullOr =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);

/** The parts that cards rely on, and their replacements if they are invalid: as if they could not be read. */
const PARTS: readonly (readonly [key: string, check: Check, otherwise: unknown])[] = [
  ['cpu', isOf({ cores: isList, speeds: isList }), undefined],
  ['memory', isOf({ swap: isNullOr(isObject) }), undefined],
  ['gpu', isNullOr(isOf({ devices: isListOf({}) })), undefined],
  ['disks', isListOf({ fs: isText }), undefined],
  ['network', isOf({ interfaces: isListOf({ name: isText, addresses: isList }) }), undefined],
  ['sensors', isListOf({ label: isText }), []],
  ['batteries', isListOf({ name: isText }), []],
  ['drives', isListOf({ name: isText, health: isNullOr(isObject) }), []],
  ['limits', isOf({}), null],
  ['processes', isOf({ top_cpu: isNullOr(isList), top_memory: isNullOr(isList) }), undefined],
  ['interval_seconds', isNumber, 1],
];

/** undefined: not a sample. */
export function readSample(message: unknown): Sample | undefined {
  if (!isObject(message)) return undefined;
  const { timestamp } = message;
  if (!isNumber(timestamp) || timestamp < 0 || timestamp > MAX_UNIX_SECONDS) return undefined;
  const parts = PARTS.map(([key, check, otherwise]) => [key, check(message[key]) ? message[key] : otherwise]);
  const sample: unknown = { ...message, ...Object.fromEntries(parts) };
  return sample as Sample; // As far as the page relies on it.
}
