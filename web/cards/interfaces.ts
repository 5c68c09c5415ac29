/** Orders network interfaces, and chooses those that are shown at first. Pure. */
import type { InterfaceDetail } from '../../src/wire/sample.ts';

/** Returns the service's order, with loopback last. */
export const inOrder = (interfaces: readonly InterfaceDetail[]): readonly InterfaceDetail[] =>
  [...interfaces].sort((a, b) => Number(a.kind === 'loopback') - Number(b.kind === 'loopback'));

/** Kinds that a machine with containers has dozens of. */
const VIRTUAL: readonly string[] = ['bridge', 'loopback', 'tunnel', 'other'];
const MAX_SHOWN = 8;

/** Divides interfaces into those that are shown at first, and those that are folded: virtual ones, and all beyond the first eight. */
export function shownFirst(
  interfaces: readonly InterfaceDetail[],
): readonly [shown: readonly InterfaceDetail[], folded: readonly InterfaceDetail[]] {
  const hardware = interfaces.filter(({ kind }) => !VIRTUAL.includes(kind));
  const shown = (hardware.length > 0 ? hardware : interfaces).slice(0, MAX_SHOWN);
  return [shown, interfaces.filter((each) => !shown.includes(each))];
}
