/** The watch rules in effect: those that ship ready, and those of the configuration. */
import type { Config } from '../config/config.ts';
import type { WatchRules } from './conditions.ts';

/**
 * Rules that hold on any machine, as events that nobody is disturbed by. A rule of the configuration with the same name
 * replaces one. Limits: a disk at 90 % still has room to act; ten minutes are longer than a build or an update of the
 * processor's own firmware lasts at full load; 20 % pressure means that tasks wait every fifth second for memory. The
 * kernel takes a clock for unsynchronized at 16 s, 9 h after the last answer of a time server, and after each sleep until
 * the next one.
 */
const READY_RULES: WatchRules = {
  'disk-full': { series: 'disk.used_percent/*', above: 90, clear_below: 88, for_seconds: 60 },
  'disk-filling': { series: 'disk.days_left/*', below: 7, clear_above: 8, for_seconds: 60 },
  'drive-failing': { series: 'drive.passed/*', below: 1, for_seconds: 60, severity: 'critical' },
  'memory-pressure': { series: 'memory.pressure', above: 20, clear_below: 15, for_seconds: 60 },
  'processor-busy': { series: 'cpu.load', above: 95, for_seconds: 600, severity: 'info' },
  'processor-hot': { series: 'cpu.temperature', above: 95, clear_below: 90, for_seconds: 60 },
  'clock-wrong': { series: 'clock.error', above: 15, for_seconds: 600 },
  'battery-low': { series: 'battery.charge/*', below: 10, clear_above: 12, for_seconds: 60 },
};

/** Rules by name; the same object for the same configuration. */
export function rulesIn({ rules, defaults }: Config['watch']): WatchRules {
  if (!defaults) return rules;
  const known = merged.get(rules);
  if (known !== undefined) return known;
  const all = { ...READY_RULES, ...rules };
  merged.set(rules, all);
  return all;
}

const merged = new WeakMap<WatchRules, WatchRules>();
