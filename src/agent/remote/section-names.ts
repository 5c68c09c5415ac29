/** The names of a set of sections, in their order. */
import { SECTION_BITS, SECTIONS, type Section } from '../../host/host.ts';

export const namesOf = (sections: number): readonly Section[] =>
  SECTIONS.filter((name) => (sections & SECTION_BITS[name]) !== 0);
