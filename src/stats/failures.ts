/** Reports each section and detail that becomes unreadable or readable again, once per change. */
import { SECTION_BITS, SECTIONS } from '../host/host.ts';
import { DETAIL_KEYS } from './details.ts';
import { DETAIL_BITS, type Needs } from './needs.ts';

/** Stands for a reading that failed as a whole. */
const HOST = 'host';

/**
 * Called with a section, a detail or a part of one, and the reason, or undefined when it can be read again.
 */
type Report = (what: string, reason: string | undefined) => void;

export class Failures {
  readonly #report: Report;
  readonly #reasons = new Map<string, string>();
  #parts: ReadonlyMap<string, string> = new Map();
  readonly #reportedParts = new Set<string>();

  constructor(report: Report) {
    this.#report = report;
  }

  /** Handles a reading: sections that it was not asked for remain unchanged. */
  note(asked: Needs, failures: Readonly<Record<string, string>> | undefined): void {
    if (failures === undefined && this.#reasons.size === 0) return;
    for (const [key, reason] of Object.entries(failures ?? {})) this.#set(key, reason);
    for (const key of [...this.#reasons.keys()])
      if (failures?.[key] === undefined && wasRead(key, asked)) this.#clear(key);
  }

  /**
   * Handles the failed parts of a reading with detail. Each is reported once for the life of the service, because a
   * sensor may come and go forever, and only when it lasts for two readings, because an answer may just be late.
   */
  noteParts(failed: ReadonlyMap<string, string>): void {
    for (const [part, reason] of failed) {
      const reported = `${part}: ${reason}`;
      if (this.#parts.get(part) !== reason || this.#reportedParts.has(reported)) continue;
      this.#reportedParts.add(reported);
      this.#report(part, reason);
    }
    this.#parts = failed;
  }

  /** Handles a reading that threw. */
  noteHost(reason: string): void {
    this.#set(HOST, reason);
  }

  #set(key: string, reason: string): void {
    if (this.#reasons.get(key) === reason) return;
    this.#reasons.set(key, reason);
    this.#report(key, reason);
  }

  #clear(key: string): void {
    this.#reasons.delete(key);
    this.#report(key, undefined);
  }
}

function wasRead(key: string, { sections, withDetail, details }: Needs): boolean {
  if (key === HOST) return true;
  const section = SECTIONS.find((known) => known === key);
  if (section !== undefined) return (sections & SECTION_BITS[section]) !== 0;
  const detail = DETAIL_KEYS.find((known) => known === key);
  return withDetail && (detail === undefined || (details & DETAIL_BITS[detail]) !== 0);
}
