/** Answers to the questions of hubs: those of the machine, and the most that a broker carries of each. */
import type { Media } from '../../commands/media.ts';
import type { Power } from '../../commands/power.ts';
import type { CurrentConfig } from '../../config/current.ts';
import type { HistoryQueries } from '../../history/queries.ts';
import type { Machine, MachineAnswer } from '../../machine/machine.ts';
import type { SampleSource } from '../../stats/source.ts';

export interface AnswerDeps {
  readonly config: CurrentConfig;
  readonly machine: Pick<Machine, 'ask'>;
  readonly sampler: Pick<SampleSource, 'latest'>;
  readonly media: Pick<Media, 'status'>;
  readonly power: Pick<Power, 'status'>;
  readonly history: Pick<HistoryQueries, 'series'>;
}

/** The question of the clock, which is answered by every feedback. */
export const CLOCK = 'clock';

/** The JSON of an answer; a picture is in base64. */
export function jsonOf({ type = '', json, bytes }: MachineAnswer): string {
  if (!type.startsWith('image/')) return json ?? bytes.toString();
  return JSON.stringify({ type, base64: Buffer.from(bytes).toString('base64') });
}
