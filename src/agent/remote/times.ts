/** How long the hub waits for what, in milliseconds. Tests have shorter ones. */
export interface Times {
  /** For a command, until it is begun and answered; and for a question. */
  readonly commandMs: number;
  readonly questionMs: number;
  /** For the answer to a command, after its deadline: it may have been begun at the last moment. */
  readonly answerMs: number;
  /** From one check whether an unwatched agent is there to the next. */
  readonly presenceMs: number;
  /** For the connection to an agent and the head of its answer. */
  readonly headMs: number;
  /** Without a byte for this long a stream is given up: the service sends a comment every 15 s. */
  readonly silenceMs: number;
  readonly initialDelayMs: number;
  /** The longest delay before the next attempt, while the machine is wanted or was lost less than half a minute ago. */
  readonly maxDelayMs: number;
  /** The same of a machine that has been off for long, which costs an attempt each time. */
  readonly offDelayMs: number;
  /** The longest delay after an agent has sent more than is taken: each attempt lets it send that much again. */
  readonly floodMs: number;
  /** For the first sample, while its viewer waits for the head of the answer. */
  readonly firstSampleMs: number;
  /** Time for which sections without viewers are still requested, because pages are loaded again. */
  readonly shrinkMs: number;
}

export const TIMES: Times = {
  commandMs: 5000,
  questionMs: 10_000,
  answerMs: 10_000,
  // Agents close an idle connection after 8 to 12 s.
  presenceMs: 6000,
  headMs: 5000,
  silenceMs: 20_000,
  initialDelayMs: 250,
  // Streams continue within 5 s of the end of an outage.
  maxDelayMs: 4000,
  offDelayMs: 60_000,
  floodMs: 20_000,
  firstSampleMs: 10_000,
  shrinkMs: 10_000,
};
