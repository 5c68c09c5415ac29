/** The order of network interfaces. Pure. */
import type { InterfaceDetail } from '../../src/wire/sample.ts';

/** As the service has them, and loopback after all that have a wire or a link. */
export const inOrder = (interfaces: readonly InterfaceDetail[]): readonly InterfaceDetail[] =>
  [...interfaces].sort((a, b) => Number(a.kind === 'loopback') - Number(b.kind === 'loopback'));
