/** A delivery whose clock and target belong to a test. */
import { Delivery, type DeliveryOptions } from '#src/notify/delivery.js';
import type { Message } from '#src/notify/message.js';
import { type Kept, NOTHING_KEPT } from '#src/notify/outage.js';
import type { Outcome } from '#src/notify/target.js';
import type { MachineEvent } from '#src/wire/events.js';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { BEGIN, mutesOf } from './events.ts';

export interface BenchOptions extends Partial<Pick<DeliveryOptions, 'entry'>> {
  readonly limits?: Partial<DeliveryOptions['limits']>;
  readonly clock?: FakeClock;
  readonly kept?: Kept;
  readonly open?: readonly MachineEvent[];
  /** The answers in order; without one a message is accepted. */
  readonly answer?: (message: Message) => Outcome | Promise<Outcome>;
}

/** `begin Hot`, `was Hot`. */
export const lineOf = ({ stage, labels, summary }: Message) =>
  stage === 'rest' ? `rest: ${summary}` : `${stage} ${labels['alertname']}`;

export function makeBench(given: BenchOptions = {}) {
  const { clock = new FakeClock(), kept = NOTHING_KEPT, open = [], limits, answer } = given;
  const mutes = mutesOf();
  const sent: Message[] = [];
  const lines: string[] = [];
  const attempts: Message[] = [];
  const delivery = new Delivery(
    {
      name: 'phone',
      entry: given.entry ?? { type: 'ntfy', min_severity: 'warning' },
      limits: { batch_seconds: 30, grace_seconds: 60, max_per_hour: 20, ...limits },
      clock,
      unixMs: () => BEGIN * 1000 + clock.now(),
      log: { warn: (line) => lines.push(`warn ${line}`), info: (line) => lines.push(`info ${line}`) },
      nameOf: (machine) => `name of ${machine}`,
      attempt: async (message) => {
        attempts.push(message);
        const outcome = (await answer?.(message)) ?? { kind: 'sent' };
        if (outcome.kind === 'sent') sent.push(message);
        return outcome;
      },
      isMuted: mutes.hides,
      onChange: () => undefined,
    },
    kept,
    open,
  );
  mutes.onChange(() => delivery.reconsider());
  return {
    clock,
    mutes,
    delivery,
    sent,
    attempts,
    lines,
    /** The stages of what was accepted since the last call. */
    take: () => sent.splice(0).map(lineOf),
    seconds: (count: number) => clock.advance(count * 1000),
  };
}
