/** Orders network interfaces. Pure. */
import type { InterfaceDetail } from '../../src/wire/sample.ts';

/** Returns the service's order, with loopback last. */
export const inOrder = (interfaces: readonly InterfaceDetail[]): readonly InterfaceDetail[] =>
  [...interfaces].sort((a, b) => Number(a.kind === 'loopback') - Number(b.kind === 'loopback'));
