/** The counters of the server over all its connections. */
import { RATES } from '../../fairness/limits.ts';
import { Rate } from '../../fairness/rate.ts';

export class Counters {
  /** Requests that are neither answered nor streams yet. */
  pending = 0;
  /** Connections closed so far. */
  closes = 0;
  /** Open connections, idle ones included. */
  connections = 0;
  /** Answers without a body; one beyond the rate is the last of its connection. */
  readonly bare = new Rate(RATES.bareAnswers);
}
