/** Makes events of what the history of this machine reports. */
import type { CurrentConfig } from '../config/current.ts';
import type { EventBook } from './event-book.ts';
import type { History } from './history.ts';
import { severityOf } from './incidents.ts';
import { rulesIn } from './rules.ts';
import { sentenceOf } from './sentences.ts';

export interface EventLogDeps {
  readonly history: Pick<History, 'onEvent'>;
  /** `watch.rules`. */
  readonly config: CurrentConfig;
  /** The id of the machine. */
  readonly machine: string;
  readonly book: EventBook;
}

/** Adds each event to the book from now on. */
export function logEvents({ history, config, machine, book }: EventLogDeps): void {
  history.onEvent((event) => {
    const { at, kind = 'rule', rule: name, series, state, value, processes } = event;
    const isRule = kind === 'rule';
    const subject = isRule ? `${name} ${series}` : name;
    const begun = book.begun({ machine, kind, subject });
    const rule = isRule ? rulesIn(config.current.watch)[name] : undefined;
    const severity = isRule ? rule?.severity : severityOf(name);
    book.add({
      machine,
      kind,
      subject,
      severity: severity ?? begun?.severity ?? 'warning',
      state,
      begin: begun?.begin ?? at,
      end: state === 'end' ? at : null,
      value,
      limit: rule?.above ?? rule?.below ?? begun?.limit ?? null,
      text: isRule ? sentenceOf(event, rule) : event.text,
      ...(processes === undefined ? {} : { processes }),
    });
  });
}
