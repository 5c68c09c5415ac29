/** Sets of sections as names, in their order, and as bits. */
import { SECTION_BITS, SECTIONS, type Section } from '../../host/host.ts';

export const namesOf = (sections: number): readonly Section[] =>
  SECTIONS.filter((name) => (sections & SECTION_BITS[name]) !== 0);

export const bitsOf = (names: readonly Section[]): number =>
  names.reduce((bits, name) => bits | SECTION_BITS[name], 0);
