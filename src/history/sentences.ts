/** The sentences of events: what people call a series, its value and its limit. */
import type { WatchRule } from '../config/rows/watch-rows.ts';
import type { HistoryEvent } from '../wire/history.ts';

/** What people call a series and its unit. A name that ends with `/` is followed by that of a disk, a card or a sensor. */
const SUBJECTS: readonly (readonly [name: string, subject: string, unit: string])[] = [
  ['cpu.load', 'Processor load', '%'],
  ['cpu.temperature', 'Processor temperature', '°C'],
  ['cpu.pressure', 'Processor pressure', '%'],
  ['memory.used_percent', 'Memory use', '%'],
  ['memory.swap_percent', 'Swap use', '%'],
  ['memory.pressure', 'Memory pressure', '%'],
  ['gpu.load/', 'Load of graphics card', '%'],
  ['gpu.temperature/', 'Temperature of graphics card', '°C'],
  ['disk.used_percent/', 'Disk', '% full'],
  ['disk.busy/', 'Activity of disk', '%'],
  ['sensor.temperature/', 'Temperature of', '°C'],
  ['battery.charge/', 'Battery', '%'],
];

/** Series whose values say little to people: the sentences of beginning and end. */
const SENTENCES: Readonly<
  Record<string, (subject: string, state: HistoryEvent['state'], value: number) => string>
> = {
  'drive.passed/': (drive, state) =>
    state === 'begin'
      ? `Drive ${drive} expects to fail: copy its data while it can be read`
      : `Drive ${drive} no longer expects to fail`,
  'disk.days_left/': (mount, state, value) =>
    state === 'begin'
      ? `Disk ${mount} will be full in ${rounded(value)} days at the rate of the last days`
      : `Disk ${mount} no longer fills up as fast`,
  'clock.error': (_, state, value) => {
    if (state === 'end') return 'The clock is synchronized';
    return value < 16
      ? `The clock may be wrong by ${rounded(value)} s`
      : 'The clock is not synchronized, and may be wrong';
  },
};

const rounded = (value: number): string => String(Math.round(value * 10) / 10);

/** Undefined where the series has no sentence of its own. */
export function fixedSentence(
  series: string,
  state: HistoryEvent['state'],
  value: number | null,
): string | undefined {
  const slash = series.indexOf('/') + 1;
  return SENTENCES[slash === 0 ? series : series.slice(0, slash)]?.(series.slice(slash), state, value ?? 0);
}

/** `Disk /srv/media is 91 % full, limit 90 %`; a series that has no other name keeps the text of its rule. */
export function sentenceOf(
  { series, state, value, text }: Pick<HistoryEvent, 'series' | 'state' | 'value' | 'text'>,
  rule: Pick<WatchRule, 'above' | 'below' | 'missing'> | undefined,
): string {
  const fixed = rule?.missing === true ? undefined : fixedSentence(series, state, value);
  if (fixed !== undefined) return fixed;
  const limit = rule?.above ?? rule?.below;
  const row = SUBJECTS.find(([name]) => (name.endsWith('/') ? series.startsWith(name) : series === name));
  if (value === null || limit === undefined || row === undefined) return text;
  const [name, subject, unit] = row;
  const [symbol = ''] = unit.split(' ');
  const member = series.slice(name.length);
  const is = state === 'end' ? 'is back to' : 'is';
  return `${subject}${member === '' ? '' : ` ${member}`} ${is} ${rounded(value)} ${unit}, limit ${rounded(limit)} ${symbol}`;
}
