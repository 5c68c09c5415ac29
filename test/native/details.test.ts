/** The tables of the addon and of TypeScript name the same sections and details. */
import t from 'tap';
import { ALL_SECTIONS, type Counters, SECTION_BITS, SECTIONS } from '#src/host/host.js';
import { DETAIL_KEYS } from '#src/stats/details.js';
import { DETAIL_BITS } from '#src/stats/needs.js';
import { makeMachine } from '../helpers/machine/tree.ts';

/** The keys of a reading beside its sections and details. */
const BESIDE = [
  'takenAtNs',
  'sinceBootNs',
  'unixMs',
  'uptimeNs',
  'clockErrorSeconds',
  'networkTakenAtNs',
  'awaitsAnswers',
  'failures',
];

/** The keys that a reading has a value for. */
const keysOf = (counters: Counters) =>
  Object.entries(counters)
    .filter(([key, value]) => value !== undefined && !BESIDE.includes(key))
    .map(([key]) => key);

t.test('each bit selects its section, and detail adds the details', async (t) => {
  const { host } = makeMachine(t, {});
  for (const section of SECTIONS)
    t.strictSame(keysOf(host.readCounters(SECTION_BITS[section], false, 0)), [section]);
  t.strictSame(keysOf(host.readCounters(ALL_SECTIONS, false, 0)), SECTIONS);
  // Processes have a reader of their own.
  const read = DETAIL_KEYS.filter((key) => key !== 'processes');
  t.strictSame(keysOf(host.readCounters(0, true, 0)), read);
  for (const key of read) t.strictSame(keysOf(host.readCounters(0, true, 0, DETAIL_BITS[key])), [key]);
  t.strictSame(keysOf(host.readCounters(SECTION_BITS.gpu, true, 0, 0)), ['gpu']);
});

t.test('a section that fails has the reason under its own key', async (t) => {
  const { host } = makeMachine(t, {});
  const { cpu, memory, sensors, failures } = host.readCounters(ALL_SECTIONS, true, 0);
  t.equal(cpu, null);
  t.equal(memory, null);
  t.strictSame(sensors, [], 'nothing there is no failure');
  for (const key of ['cpu', 'memory', 'network'])
    t.match(failures?.[key], /No such file/, `${key}: ${failures?.[key]}`);
});
