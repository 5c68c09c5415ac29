/**
 * The data of requests, over HTTP and WebSocket alike: names, limits, defaults, and the sentence for each wrong value.
 * The service checks requests with these schemas, and the API documents are made from them.
 */
import * as v from 'valibot';
import { means, unit } from './meaning.ts';

const MAX_PID = 2 ** 31 - 1;
const MAX_NAME_LENGTH = 255;
const MAX_TIMEOUT_MS = 60_000;
const MAX_ARGS = 64;
const MAX_ARG_LENGTH = 4096;
const MAX_LIMIT = 10_000;
const MAX_DELAY_SECONDS = 86_400;
/** Maximum position, about three years: longer than any track, and its microseconds are still exact. */
const MAX_SEEK_SECONDS = 1e8;

export const numberFrom = (min: number, max: number, sentence: string) =>
  v.pipe(v.number(sentence), v.minValue(min, sentence), v.maxValue(max, sentence));

export const wholeFrom = (min: number, max: number, sentence: string) =>
  v.pipe(v.number(sentence), v.integer(sentence), v.minValue(min, sentence), v.maxValue(max, sentence));

export const textUpTo = (max: number, sentence: string) =>
  v.pipe(v.string(sentence), v.maxLength(max, sentence));

const nameUpTo = (max: number, sentence: string) =>
  v.pipe(v.string(sentence), v.nonEmpty(sentence), v.maxLength(max, sentence));

/** A list of at most `max` texts. */
export const listUpTo = (max: number, text: v.GenericSchema<string>, sentence: string) =>
  v.pipe(v.array(text, sentence), v.maxLength(max, sentence));

/** `inspect` distinguishes a string that is not an action from a value that is not a string. */
const actionOf = <const Names extends readonly string[]>(names: Names) =>
  v.picklist(names, ({ input }) =>
    typeof input === 'string' ? 'Unknown action.' : 'The action must be a string.',
  );

const booleanOf = (name: string) => v.boolean(`${name} must be true or false.`);

// Processes

const pid = wholeFrom(1, MAX_PID, `pid must be a whole number from 1 to ${MAX_PID}.`);
const NAME_SENTENCE = `name must be a string of 1 to ${MAX_NAME_LENGTH} characters.`;
const processName = nameUpTo(MAX_NAME_LENGTH, NAME_SENTENCE);

interface PidOrName {
  readonly pid?: number | undefined;
  readonly name?: string | undefined;
}

const isOneGiven = ({ pid, name }: PidOrName) => pid !== undefined || name !== undefined;
const isOnlyOneGiven = ({ pid, name }: PidOrName) => pid === undefined || name === undefined;

/** `inspect` reports it as a missing field. */
export const MISSING_TARGET = 'pid or name is missing.';
/** Other services start any program by its path. */
export const MISSING_APP =
  'The field app is missing: apps are started by their names in processes.launch of the configuration, not by a path.';
const TWO_TARGETS = 'pid and name exclude each other.';
/** Returns both checks in JSON Schema; the keys `more` require pid. */
const pidOrName = (...more: readonly string[]) => {
  const absent = (...keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, false]));
  return {
    oneOf: [
      { required: ['pid'], properties: absent('name') },
      { required: ['name'], properties: absent('pid', ...more) },
    ],
  };
};

const PROCESS_SORTS = ['cpu', 'memory', 'disk', 'name'] as const;

const LIMIT_SENTENCE = `limit must be a whole number from 1 to ${MAX_LIMIT}.`;
const QUERY_SENTENCE = `query must be a string of at most ${MAX_NAME_LENGTH} characters.`;

/** `process_list`, and the query of GET /api/processes. */
export const processListRequest = v.object({
  sort: means(
    v.optional(v.picklist(PROCESS_SORTS, `sort must be one of ${PROCESS_SORTS.join(', ')}.`), 'cpu'),
    'Order: descending for cpu, memory and disk, A to Z for name.',
  ),
  limit: means(v.optional(wholeFrom(1, MAX_LIMIT, LIMIT_SENTENCE), 1000), 'Maximum number of rows.'),
  query: means(
    v.optional(textUpTo(MAX_NAME_LENGTH, QUERY_SENTENCE), ''),
    'Part of a name, in any case. When processes are listed one by one, a whole pid also matches.',
  ),
  grouped: means(
    v.optional(booleanOf('grouped'), true),
    'Group by name (one row per name); false: one row per process.',
  ),
  disk: means(
    v.optional(booleanOf('disk'), false),
    "Include the disk I/O of each row, as `sort=disk` does. On Linux the list then takes 1.6 times as long, and other users' processes are read only by root or with CAP_SYS_PTRACE. Windows counts all read and write calls, also those of files in the cache and of sockets.",
  ),
});

/** `process_details`. */
export const processDetailsRequest = v.pipe(
  v.object({ pid: v.optional(pid), name: v.optional(processName) }),
  v.metadata(pidOrName()),
  v.check((asked) => isOneGiven(asked), MISSING_TARGET),
  v.check((asked) => isOnlyOneGiven(asked), TWO_TARGETS),
);

const STARTED_SENTENCE = 'started_at must be a number of Unix seconds.';

/** `process_kill`, and the body of POST /api/processes/kill. */
export const processKillRequest = v.pipe(
  v.object({
    pid: v.optional(pid),
    name: means(v.optional(processName), 'All processes of that name.'),
    started_at: means(
      v.optional(v.pipe(v.number(STARTED_SENTENCE), v.finite(STARTED_SENTENCE), unit('Unix seconds'))),
      'Start time of that process; only with pid. A process with another start time is left alone.',
    ),
    signal: means(
      v.optional(v.picklist(['term', 'kill'], 'signal must be term or kill.'), 'term'),
      'term asks the process to end; kill forces it to.',
    ),
    tree: means(v.optional(booleanOf('tree'), false), 'End its descendants too.'),
    timeout_ms: means(
      v.optional(
        v.pipe(
          numberFrom(0, MAX_TIMEOUT_MS, `timeout_ms must be a number from 0 to ${MAX_TIMEOUT_MS}.`),
          unit('ms'),
        ),
        3000,
      ),
      'Time to wait until they have ended.',
    ),
  }),
  v.metadata(pidOrName('started_at')),
  v.check((asked) => isOneGiven(asked), MISSING_TARGET),
  v.check((asked) => isOnlyOneGiven(asked), TWO_TARGETS),
  v.check((asked) => asked.started_at === undefined || asked.pid !== undefined, 'started_at requires pid.'),
);

const ARGS_SENTENCE = `args must be at most ${MAX_ARGS} strings of at most ${MAX_ARG_LENGTH} characters.`;

/** `process_launch`. */
export const processLaunchRequest = v.object(
  {
    app: means(v.string('app must be a string.'), 'A name from processes.launch.'),
    args: means(
      v.optional(
        listUpTo(
          MAX_ARGS,
          v.pipe(textUpTo(MAX_ARG_LENGTH, ARGS_SENTENCE), v.excludes('\0', ARGS_SENTENCE)),
          ARGS_SENTENCE,
        ),
        [],
      ),
      'Appended to the arguments in the configuration, if it allows that.',
    ),
  },
  MISSING_APP,
);

// Wake

const WAKE_SENTENCE = 'host must be a name of 1 to 64 characters.';

/** The op `wake`, and the body of POST /api/wake. */
export const wakeRequest = v.object({
  host: means(nameUpTo(64, WAKE_SENTENCE), 'A name from wake.hosts.'),
});

// Power

/** Each is a path under /api/pw and an action of the op `power`; so is `cancel`. */
export const POWER_ACTIONS = ['shutdown', 'restart', 'sleep', 'hibernate', 'lock'] as const;

const DELAY_SENTENCE = `delay must be a number of seconds from 0 to ${MAX_DELAY_SECONDS}.`;

const powerEntries = {
  delay: means(
    v.optional(v.pipe(numberFrom(0, MAX_DELAY_SECONDS, DELAY_SENTENCE), unit('s')), 0),
    'Time until the action; 0: immediately.',
  ),
  force: means(
    v.optional(v.boolean('force must be 1 or 0, or a boolean.'), false),
    "Override inhibitors, root's included.",
  ),
};

/** The query of POST /api/pw/…. */
export const powerParams = v.object(powerEntries);

/** The op `power`. */
export const powerRequest = v.object({
  action: actionOf([...POWER_ACTIONS, 'cancel']),
  ...powerEntries,
});

// Media

/** The four of the contract, then the others. */
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
  'mute',
  'unmute',
  'toggle_mute',
] as const;
export type MediaAction = (typeof MEDIA_ACTIONS)[number];

const PLAYER_SENTENCE = 'The player must be a non-empty string.';

/** The name of a player. */
export const mediaPlayer = means(
  v.optional(v.pipe(v.string(PLAYER_SENTENCE), v.nonEmpty(PLAYER_SENTENCE))),
  'Name of a player; by default the one that is playing or played last.',
);

const SEEK_SENTENCE = `The value must be a number of seconds from 0 to ${MAX_SEEK_SECONDS}.`;
const VOLUME_SENTENCE = 'The value must be a percentage from 0 to 100.';

/** The parameters of an action without a value. */
export const mediaParams = v.object({ player: mediaPlayer });

/** The parameters of the actions with a value. */
export const mediaValueParams = {
  seek: v.object({
    player: mediaPlayer,
    value: v.pipe(
      numberFrom(0, MAX_SEEK_SECONDS, SEEK_SENTENCE),
      unit('s'),
      v.description('Position from the start of the track.'),
    ),
  }),
  set_volume: v.object({
    player: mediaPlayer,
    value: v.pipe(numberFrom(0, 100, VOLUME_SENTENCE), unit('%'), v.description('Volume.')),
  }),
};

/** The op `media`, and the body of POST /api/media/control. The type of `value` depends on the action. */
export const mediaRequest = v.object({
  action: actionOf(MEDIA_ACTIONS),
  value: means(v.optional(v.unknown()), 'Seconds for seek, percent for set_volume.'),
  player: mediaPlayer,
});

// Events

const MAX_EVENTS = 1000;
const SINCE_SENTENCE = 'since must be the id of an event.';
const EVENTS_SENTENCE = `limit must be a whole number from 1 to ${MAX_EVENTS}.`;

/** The query of GET /api/events. */
export const eventsRequest = v.object({
  since: means(
    v.optional(wholeFrom(0, Number.MAX_SAFE_INTEGER, SINCE_SENTENCE)),
    'Events after the one with this id; absent: all that are kept.',
  ),
  limit: means(
    v.optional(wholeFrom(1, MAX_EVENTS, EVENTS_SENTENCE), MAX_EVENTS),
    'The newest so many of them.',
  ),
});

const WHAT_SENTENCE = 'what must be a string of 1 to 200 characters.';
const MAX_MUTE_SECONDS = 14 * 86_400;
const MUTE_SENTENCE = `seconds must be a number from 0 to ${MAX_MUTE_SECONDS}.`;
const REASON_SENTENCE = 'reason must be a string of at most 200 characters.';

/** The body of POST /api/events/mute. */
export const muteRequest = v.object({
  what: means(
    nameUpTo(200, WHAT_SENTENCE),
    'A rule, the subject of another event, or a machine (its id or name).',
  ),
  seconds: v.pipe(
    numberFrom(0, MAX_MUTE_SECONDS, MUTE_SENTENCE),
    unit('s'),
    v.description('How long its events are not sent to people. 0: it is muted no longer.'),
  ),
  reason: means(v.optional(textUpTo(200, REASON_SENTENCE), ''), 'Shown to people.'),
});
