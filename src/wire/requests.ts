/**
 * What requests carry, whichever door they come through: names, limits, defaults, and the sentence that each wrong
 * value is answered with. The service checks with these schemas, and the API documents are made from them.
 */
import * as v from 'valibot';

const MOST_PID = 2 ** 31 - 1;
const MOST_NAME_LENGTH = 255;
const MOST_TIMEOUT_MS = 60_000;
const MOST_ARGS = 64;
const MOST_ARG_LENGTH = 4096;
const MOST_LIMIT = 10_000;
const MOST_DELAY_SECONDS = 86_400;
/** About three years: longer than any track, and its microseconds still are exact. */
const MOST_SEEK_SECONDS = 1e8;

const numberFrom = (least: number, most: number, sentence: string) =>
  v.pipe(v.number(sentence), v.minValue(least, sentence), v.maxValue(most, sentence));

const wholeFrom = (least: number, most: number, sentence: string) =>
  v.pipe(v.number(sentence), v.integer(sentence), v.minValue(least, sentence), v.maxValue(most, sentence));

/** `inspect` tells a word that is no action from what is no word. */
const action = <const Names extends readonly string[]>(names: Names) =>
  v.picklist(names, ({ input }) =>
    typeof input === 'string' ? 'There is no such action.' : 'The action must be a string.',
  );

const flag = (name: string) => v.boolean(`${name} must be true or false.`);

// Processes

const pid = wholeFrom(1, MOST_PID, `pid must be a whole number from 1 to ${MOST_PID}.`);
const NAME_SENTENCE = `name must be a string of 1 to ${MOST_NAME_LENGTH} characters.`;
const processName = v.pipe(
  v.string(NAME_SENTENCE),
  v.nonEmpty(NAME_SENTENCE),
  v.maxLength(MOST_NAME_LENGTH, NAME_SENTENCE),
);

interface PidOrName {
  readonly pid?: number | undefined;
  readonly name?: string | undefined;
}

const isOneGiven = ({ pid, name }: PidOrName) => pid !== undefined || name !== undefined;
const isOnlyOneGiven = ({ pid, name }: PidOrName) => pid === undefined || name === undefined;

/** `inspect` knows it to be of a missing field. */
export const MISSING_TARGET = 'pid or name is missing.';
const TWO_TARGETS = 'pid and name exclude each other.';
/** How JSON Schema says both; `more` goes with pid only. */
const either = (...more: readonly string[]) => {
  const absent = (...keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, false]));
  return {
    oneOf: [
      { required: ['pid'], properties: absent('name') },
      { required: ['name'], properties: absent('pid', ...more) },
    ],
  };
};

const PROCESS_SORTS = ['cpu', 'memory', 'name'] as const;

const LIMIT_SENTENCE = `limit must be a whole number from 1 to ${MOST_LIMIT}.`;
const QUERY_SENTENCE = `query must be a string of at most ${MOST_NAME_LENGTH} characters.`;

/** `process_list`, and the query of GET /api/processes. */
export const processListRequest = v.object({
  sort: v.pipe(
    v.optional(v.picklist(PROCESS_SORTS, `sort must be one of ${PROCESS_SORTS.join(', ')}.`), 'cpu'),
    v.description('The greatest first; names from A to Z.'),
  ),
  limit: v.pipe(v.optional(wholeFrom(1, MOST_LIMIT, LIMIT_SENTENCE), 1000), v.description('Rows at most.')),
  query: v.pipe(
    v.optional(v.pipe(v.string(QUERY_SENTENCE), v.maxLength(MOST_NAME_LENGTH, QUERY_SENTENCE)), ''),
    v.description(
      'Part of a name, in any case; where processes are listed one by one also the number of one, whole.',
    ),
  ),
  grouped: v.pipe(
    v.optional(flag('grouped'), true),
    v.description('One row a name; else one row a process.'),
  ),
});

/** `process_details`. */
export const processDetailsRequest = v.pipe(
  v.object({ pid: v.optional(pid), name: v.optional(processName) }),
  v.metadata(either()),
  v.check((asked) => isOneGiven(asked), MISSING_TARGET),
  v.check((asked) => isOnlyOneGiven(asked), TWO_TARGETS),
);

const STARTED_SENTENCE = 'started_at must be a number of Unix seconds.';

/** `process_kill`, and the body of POST /api/processes/kill. */
export const processKillRequest = v.pipe(
  v.object({
    pid: v.optional(pid),
    name: v.pipe(v.optional(processName), v.description('All processes of that name.')),
    started_at: v.pipe(
      v.optional(v.pipe(v.number(STARTED_SENTENCE), v.finite(STARTED_SENTENCE))),
      v.description('Of the process that is meant, Unix seconds; with pid only. Another one is not touched.'),
    ),
    signal: v.pipe(
      v.optional(v.picklist(['term', 'kill'], 'signal must be term or kill.'), 'term'),
      v.description('term asks it to end, kill ends it.'),
    ),
    tree: v.pipe(v.optional(flag('tree'), false), v.description('Its children too, and theirs.')),
    timeout_ms: v.pipe(
      v.optional(
        numberFrom(0, MOST_TIMEOUT_MS, `timeout_ms must be a number from 0 to ${MOST_TIMEOUT_MS}.`),
        3000,
      ),
      v.description('How long its end is waited for.'),
    ),
  }),
  v.metadata(either('started_at')),
  v.check((asked) => isOneGiven(asked), MISSING_TARGET),
  v.check((asked) => isOnlyOneGiven(asked), TWO_TARGETS),
  v.check((asked) => asked.started_at === undefined || asked.pid !== undefined, 'started_at goes with pid.'),
);

const ARGS_SENTENCE = `args must be at most ${MOST_ARGS} strings of at most ${MOST_ARG_LENGTH} characters.`;

/** `process_launch`. */
export const processLaunchRequest = v.object({
  app: v.pipe(v.string('app must be a string.'), v.description('A name from processes.launch.')),
  args: v.pipe(
    v.optional(
      v.pipe(
        v.array(
          v.pipe(
            v.string(ARGS_SENTENCE),
            v.maxLength(MOST_ARG_LENGTH, ARGS_SENTENCE),
            v.excludes('\0', ARGS_SENTENCE),
          ),
          ARGS_SENTENCE,
        ),
        v.maxLength(MOST_ARGS, ARGS_SENTENCE),
      ),
      [],
    ),
    v.description('Added to those of the configuration, where it allows that.'),
  ),
});

// Power

/** Each is a path under /api/pw and an action of the op `power`; so is `cancel`. */
export const POWER_ACTIONS = ['shutdown', 'restart', 'sleep', 'hibernate', 'lock'] as const;

const DELAY_SENTENCE = `delay must be a number of seconds from 0 to ${MOST_DELAY_SECONDS}.`;

const powerEntries = {
  delay: v.pipe(
    v.optional(numberFrom(0, MOST_DELAY_SECONDS, DELAY_SENTENCE), 0),
    v.description('Seconds until it is done. 0: at once.'),
  ),
  force: v.pipe(
    v.optional(v.boolean('force must be 1 or 0, or a boolean.'), false),
    v.description('Also against those who ask the machine to stay up or awake.'),
  ),
};

/** The query of POST /api/pw/…. */
export const powerParams = v.object(powerEntries);

/** The op `power`. */
export const powerRequest = v.object({
  action: action([...POWER_ACTIONS, 'cancel']),
  ...powerEntries,
});

// Media

/** The contract's four, then those beyond it. */
export const MEDIA_ACTIONS = [
  'play',
  'pause',
  'next',
  'prev',
  'play_pause',
  'stop',
  'previous',
  'seek',
  'set_volume',
  'volume_up',
  'volume_down',
] as const;
export type MediaAction = (typeof MEDIA_ACTIONS)[number];

const PLAYER_SENTENCE = 'The player must be named by a string.';

/** The name of a player. */
export const mediaPlayer = v.pipe(
  v.optional(v.pipe(v.string(PLAYER_SENTENCE), v.nonEmpty(PLAYER_SENTENCE))),
  v.description('The name of a player; without it the one that plays, or last played, is meant.'),
);

const SEEK_SENTENCE = `The value must be a number of seconds from 0 to ${MOST_SEEK_SECONDS}.`;
const VOLUME_SENTENCE = 'The value must be a number of percent from 0 to 100.';

/** What goes with an action that needs nothing. */
export const mediaParams = v.object({ player: mediaPlayer });

/** What goes with those that need a value. */
export const mediaValueParams = {
  seek: v.object({
    player: mediaPlayer,
    value: v.pipe(
      numberFrom(0, MOST_SEEK_SECONDS, SEEK_SENTENCE),
      v.description('Seconds from the beginning of the track.'),
    ),
  }),
  set_volume: v.object({
    player: mediaPlayer,
    value: v.pipe(numberFrom(0, 100, VOLUME_SENTENCE), v.description('Percent.')),
  }),
};

/** The op `media`, and the body of POST /api/media/control. What `value` must be depends on the action. */
export const mediaRequest = v.object({
  action: action(MEDIA_ACTIONS),
  value: v.pipe(v.optional(v.unknown()), v.description('Seconds for seek, percent for set_volume.')),
  player: mediaPlayer,
});
