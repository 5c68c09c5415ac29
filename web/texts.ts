/** The texts of the page, and of the cards that consist of several files. A card of one file has its own texts. */

/** 1 machine, 2 machines. */
export const counted = (value: number, one: string, many: string): string =>
  `${value.toLocaleString('en')} ${value === 1 ? one : many}`;

const processes = (value: number) => counted(value, 'process', 'processes');
const allOf = (value: number) => (value === 1 ? '' : 'All ') + processes(value);

export const TEXTS = {
  unknown: 'n/a',
  fullIn: (days: number) => `full in ${counted(days, 'day', 'days')}`,
  now: 'now',
  measuring: 'measuring',
  skip: 'Skip to the values',
  fleet: 'All machines',
  connection: {
    connecting: 'Connecting',
    live: 'Live',
    lost: 'Connection lost, reconnecting',
    missing: 'Unknown machine',
    resting: 'Paused while hidden',
    locked: 'Key required',
    refused: 'Not allowed',
    limited: 'Limited key',
  },
  refused:
    "This address or host name is not allowed (403). The service's log shows the line to add to its configuration. The page retries every few seconds.",
  barred: (scopes: readonly string[]) =>
    scopes.length === 0
      ? 'This key allows nothing here.'
      : `This key allows ${new Intl.ListFormat('en').format(scopes)} only.`,
  waiting: 'Waiting for the first values.',
  /** The states of a machine at its hub. */
  states: {
    up: 'Up',
    asleep: 'Asleep',
    off: 'Off',
    down: 'Down',
    refused: 'Refused',
    unknown: 'Unknown',
  },
  strip: {
    title: 'hostwire',
    asOf: (time: string) => `as of ${time}`,
    away: 'Cannot be reached',
    alarms: 'Open events',
    open: (count: number) => `${count} open`,
    seen: 'Seen',
    since: (time: string, text: string) => `since ${time} (${text})`,
    figures: 'Key figures',
    load: 'Load',
    memory: 'Memory',
    disk: (mount: string) => `Disk ${mount}`,
    left: (days: number) => ` · ${days} d`,
    hottest: 'Hottest',
    processor: 'Processor',
    network: 'Network, B/s',
    traffic: (received: string, sent: string) => `${received} received, ${sent} sent`,
    battery: 'Battery',
    charging: 'Charging',
    media: 'Media',
    play: 'Play',
    pause: 'Pause',
    playing: (action: string, title: string) => `${action} ${title}`,
  },
  cards: {
    arrange: 'Arrange the cards',
    done: 'Done',
    reset: 'Original order',
    earlier: (title: string) => `Move ${title} earlier`,
    later: (title: string) => `Move ${title} later`,
  },
  uptime: (text: string) => `running for ${text}`,
  key: {
    title: 'This service requires a key',
    text: 'Enter the key of the service. This tab keeps it until it is closed.',
    label: 'Key',
    wrong: 'That key was not accepted.',
    ended: 'The key is no longer valid: it was removed or changed, or has expired.',
    send: 'Connect',
    remember: 'Remember on this device',
    rememberNote: 'Use this only on a private device: the key is stored unencrypted.',
    forget: 'Forget the key on this device',
  },
  link: {
    replace: (next: string, kept: string) =>
      `This browser has the valid key ${kept}. Replace it with the key ${next} of the link?`,
    wrong: "The link's key was not accepted. The saved key remains in use.",
  },
  access: {
    line: (key: string | null, scopes: string) =>
      key === null ? `without a key: ${scopes}` : `key ${key}: ${scopes}`,
    everything: 'everything',
    nothing: 'nothing',
    until: (line: string, end: Date) =>
      `${line}, until ${end.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' })}`,
  },
  processes: {
    title: 'Processes',
    open: 'Show all',
    close: 'Show fewer',
    count: (all: number, running: number) => `${processes(all)}, ${running.toLocaleString('en')} running`,
    search: 'Search',
    searchHint: 'name or user:name',
    grouped: 'Group by name',
    caption: 'Table of processes',
    columns: {
      name: 'Name',
      count: 'Processes',
      pid: 'Process ID',
      user: 'User',
      cpu: 'CPU',
      memory: 'Memory',
      disk: 'Disk',
      threads: 'Threads',
      time: 'CPU time',
    },
    topCpu: 'Most CPU',
    topMemory: 'Most memory',
    act: 'Action',
    end: 'End',
    endWhat: (what: string) => `End ${what}`,
    confirm: (what: string) => `End ${what}?`,
    explain: 'Asks the process to end. It may ask for confirmation, or lose unsaved work.',
    explainForce: 'Kills the process immediately; unsaved work is lost.',
    force: 'Force quit',
    keep: 'Cancel',
    group: (name: string, count: number) => (count === 1 ? name : `${name} (${processes(count)})`),
    one: (name: string, pid: number) => `${name} (${pid})`,
    none: 'No matching processes.',
    shown: (rows: number, all: number, areGroups: boolean, isFiltered: boolean) => {
      if (areGroups)
        return isFiltered
          ? counted(rows, 'match', 'matches')
          : `${allOf(all)}, by ${counted(rows, 'name', 'names')}`;
      if (isFiltered) return `${rows} of ${processes(all)} ${rows === 1 ? 'matches' : 'match'}`;
      return rows === all ? allOf(all) : `First ${rows} of ${processes(all)}`;
    },
    age: (seconds: number) => `updated ${seconds} s ago`,
    facts: {
      pid: 'Process ID',
      user: 'User',
      state: 'State',
      started: 'Started',
      threads: 'Threads',
      cpu: 'CPU',
      memory: 'Memory',
      time: 'CPU time',
      files: 'Open files',
      parent: 'Parent process ID',
      path: 'Program',
      command: 'Command',
      folder: 'Working folder',
    },
    states: {
      running: 'Running',
      sleeping: 'Sleeping',
      waiting: 'Waiting for I/O',
      stopped: 'Stopped',
      ended: 'Ended',
      idle: 'Idle',
      unknown: 'Unknown',
    },
    started: (at: Date, ago: string) =>
      `${at.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' })} (${ago} ago)`,
    ofUser: (user: string, state: string) => `${user} · ${state}`,
    firstOf: (shown: number, all: number) => `First ${shown} of ${all}:`,
    leave: 'Close',
    control: 'Ending processes',
  },
  error: {
    disabled: 'This feature is disabled in the configuration.',
  },
  chart: {
    between: (from: string, until: string) => `time from ${from} to ${until}`,
    label: (time: string, title: string, values: string) => `Chart of the ${time}. ${title}: ${values}.`,
    range: 'Time range of the charts',
    earlier: 'Earlier',
    later: 'Later',
    now: 'Back to now',
    link: 'Copy link',
    linked: 'Link copied',
    isThen: (at: string) => `Charts at ${at}, other values of now`,
    gap: 'Not recorded.',
    gapOnBattery: 'Not recorded: the computer was running on its battery.',
    moment: (title: string) => `Time in the chart ${title}`,
    keys: 'Enter pins the time. Shift and an arrow select, Enter zooms in, Backspace zooms out.',
    selected: (from: string, until: string) => `selected from ${from} to ${until}`,
    at: (time: string, values: string) => `${time}: ${values}`,
  },
  ran: {
    title: (time: string) => `Processes at ${time}`,
    cpu: 'Most CPU',
    memory: 'Most memory',
    disk: 'Most disk traffic',
    several: (name: string, count: number) => (count === 1 ? name : `${name} × ${count}`),
  },
  dismiss: 'Dismiss',
  about: (version: string) => `hostwire ${version}`,
} as const;
