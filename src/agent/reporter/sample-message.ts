/**
 * A sample as a message: lines of JSON members, because no JSON text of ours has a newline in it. A hub finds the lines and
 * joins those that a viewer wants with commas and braces, without parsing any.
 */
import type { Sample } from '../../stats/sample.ts';
import type { Interest, SectionBits } from './interest.ts';

/** The first line. The names are in the order of the lines that follow. */
export interface SampleHead {
  readonly v: 1;
  /** Identifies this run of the agent: another one after each start. */
  readonly run: string;
  /** Milliseconds of the agent's own clock, which is never set. */
  readonly clock: number;
  /** Counts the messages of the run, so that a hub notices when one is missing. */
  readonly n: number;
  /** Sections as they are by default: a line each. */
  readonly plain: readonly string[];
  /** One line of what detail adds, then a line for each of these sections with detail; absent: neither. */
  readonly detail?: readonly string[];
}

/**
 * The lines: head; `"timestamp":…,"uptime":…`; a line per plain section; the line of detail's own (empty when there is nothing),
 * and a line per detailed section. A section that was not read has no line.
 */
export function sampleMessage(
  sample: Sample,
  { plain, detailed }: Interest,
  bits: SectionBits,
  head: Pick<SampleHead, 'run' | 'clock' | 'n'>,
): string {
  const { timestamp, uptime } = sample;
  let lines = `\n"timestamp":${timestamp},"uptime":${uptime}`;
  const plainNames: string[] = [];
  const detailNames: string[] = [];
  let name: keyof SectionBits;
  for (name in bits) {
    const derived = sample[name];
    if ((plain & bits[name]) === 0 || derived === undefined) continue;
    plainNames.push(name);
    lines += `\n"${name}":${JSON.stringify(derived.stats)}`;
  }
  if (detailed === undefined || sample.extras === undefined)
    return `${headOf({ v: 1, ...head, plain: plainNames })}${lines}`;
  lines += `\n${JSON.stringify(sample.extras).slice(1, -1)}`;
  for (name in bits) {
    const detail = sample[name]?.detail;
    if ((detailed & bits[name]) === 0 || detail === undefined) continue;
    detailNames.push(name);
    lines += `\n"${name}":${JSON.stringify(detail)}`;
  }
  return `${headOf({ v: 1, ...head, plain: plainNames, detail: detailNames })}${lines}`;
}

const headOf = (head: SampleHead) => JSON.stringify(head);
