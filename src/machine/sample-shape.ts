/**
 * The shape of a sample, as far as readers of many machines rely on it (src/wire/usage.ts has all of it). A
 * key that is not here is passed on as it is, because machines may have a later version than the hub.
 */
import { isObject, type JsonObject } from '../json.ts';

type Check = (value: unknown) => boolean;

/** The last second that a Date has: with a later one a reader's charts would never end. */
const MAX_UNIX_SECONDS = 8.64e12;

/** Without detail what is unknown is 0 or absent, with detail it is null: either is taken. */
const isNumber: Check = (value) => value === null || typeof value === 'number';
const isText: Check = (value) => value === null || typeof value === 'string';
const isList: Check = Array.isArray;
const isTime: Check = (value) => typeof value === 'number' && value >= 0 && value <= MAX_UNIX_SECONDS;

const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);

const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

/** An object whose keys, where it has them, are as `checks` say. */
function object(checks: Readonly<Record<string, Check>>): Check {
  const entries = Object.entries(checks);
  return (value) =>
    isObject(value) && entries.every(([key, check]) => value[key] === undefined || check(value[key]));
}

const LOAD = { current_load: isNumber, current_temp: isNumber };
const NUMBERS = { used: isNumber, used_percent: isNumber };
const TRAFFIC = { bytesSent: isNumber, bytesRecv: isNumber, send_rate: isNumber, receive_rate: isNumber };

const MEMBERS: Readonly<Record<string, Check>> = {
  uptime: (value) => typeof value === 'number',
  cpu: object({
    ...LOAD,
    current_speed: isNumber,
    cores: listOf(isNumber),
    speeds: listOf(isNumber),
    load_average: orNull(listOf(isNumber)),
    breakdown: orNull(isObject),
    pressure: orNull(isObject),
  }),
  memory: object({ ...NUMBERS, free: isNumber, swap: orNull(isObject), pressure: orNull(isObject) }),
  gpu: orNull(
    object({ ...LOAD, current_memory: isNumber, devices: listOf(object({ name: isText, load: isNumber })) }),
  ),
  disks: listOf(object({ ...NUMBERS, fs: isText, available: isNumber })),
  network: object({
    ...TRAFFIC,
    interfaces: listOf(object({ ...TRAFFIC, name: isText, addresses: isList })),
  }),
  interval_seconds: isNumber,
  window_seconds: isNumber,
  host: isText,
  sensors: listOf(object({ label: isText, kind: isText, value: isNumber, unit: isText })),
  batteries: listOf(object({ name: isText, percent: isNumber, state: isText })),
  drives: listOf(object({ name: isText, health: orNull(isObject) })),
  limits: orNull(isObject),
  processes: orNull(object({ top_cpu: orNull(listOf(isObject)), top_memory: orNull(listOf(isObject)) })),
};
const ENTRIES = Object.entries(MEMBERS);

/** The key of the first member that is not as the contract has it, a known name; undefined: each of them is. */
export function findMalformed(sample: JsonObject): string | undefined {
  if (!isTime(sample['timestamp'])) return 'timestamp';
  const malformed = ENTRIES.find(([key, check]) => sample[key] !== undefined && !check(sample[key]));
  return malformed?.[0];
}
