/** Tells of sections that turn unreadable or readable again: once a change, however often they are read. */
import { SECTION_BITS, type Section } from '../host/host.ts';

/** The names in Counters that are not the section's own. */
const SECTION_OF: Readonly<Record<string, Section>> = { gpus: 'gpu', interfaces: 'network' };

/** What failed as a whole: no section could be read. */
const HOST = 'host';

export class Failures {
  readonly #tell: (section: string, reason: string | undefined) => void;
  readonly #reasons = new Map<string, string>();
  #parts: ReadonlyMap<string, string> = new Map();
  readonly #toldParts = new Set<string>();

  constructor(tell: (section: string, reason: string | undefined) => void) {
    this.#tell = tell;
  }

  /** After a reading of `sections`: what is not among them is as it was. */
  note(sections: number, failures: Readonly<Record<string, string>> | undefined): void {
    if (failures === undefined && this.#reasons.size === 0) return;
    const failed = new Set<string>();
    for (const [key, reason] of Object.entries(failures ?? {})) {
      const section = SECTION_OF[key] ?? key;
      failed.add(section);
      this.#set(section, reason);
    }
    for (const section of [...this.#reasons.keys()])
      if (!failed.has(section) && wasRead(section, sections)) this.#clear(section);
  }

  /**
   * After a reading with detail: what failed inside a section. Told once for good, as a sensor may come and go for
   * ever, and only when it lasts for two readings: an answer may just be late.
   */
  noteParts(failed: ReadonlyMap<string, string>): void {
    for (const [part, reason] of failed) {
      const told = `${part}: ${reason}`;
      if (this.#parts.get(part) !== reason || this.#toldParts.has(told)) continue;
      this.#toldParts.add(told);
      this.#tell(part, reason);
    }
    this.#parts = failed;
  }

  /** After a reading that threw. */
  noteHost(reason: string): void {
    this.#set(HOST, reason);
  }

  #set(section: string, reason: string): void {
    if (this.#reasons.get(section) === reason) return;
    this.#reasons.set(section, reason);
    this.#tell(section, reason);
  }

  #clear(section: string): void {
    this.#reasons.delete(section);
    this.#tell(section, undefined);
  }
}

function wasRead(section: string, sections: number): boolean {
  if (section === HOST) return true;
  // Only sections get in under other names.
  return (sections & SECTION_BITS[section as Section]) !== 0;
}
