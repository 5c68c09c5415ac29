/** The commands and options: the parser, the help and the man page come from these rows. */

export const COMMANDS = [
  'run',
  'hub',
  'check',
  'doctor',
  'service',
  'keygen',
  'pair',
  'keys',
  'wake',
  'notify',
  'watch',
  'top',
  'help',
  'version',
] as const;
export type Command = (typeof COMMANDS)[number];

/** Actions of `service`. */
export const SERVICE_ACTIONS = ['install', 'remove'] as const;
export type ServiceAction = (typeof SERVICE_ACTIONS)[number];

/** The actions of `keys`; without one it lists. */
export const KEYS_ACTIONS = ['remove'] as const;

/** The actions of `notify`. */
export const NOTIFY_ACTIONS = ['test', 'mute', 'unmute', 'mutes'] as const;

/** The actions of `watch`. */
export const WATCH_ACTIONS = ['try'] as const;

export const COMMAND_HELP: Readonly<Record<Command, string>> = {
  run: 'run the service (the default)',
  hub: 'run a hub, which shows the machines in hub.agents of the configuration',
  check:
    'print the configuration, including defaults, the origin of each setting, and the present value beside the limit of ' +
    'each rule; exits with 1 if there are errors or unknown keys',
  doctor: 'print what works on this machine, what does not and why, and how to fix it',
  service:
    'on Windows: "service install" registers hostwire as a service that starts with the system, with the options ' +
    'given here; "service remove" stops and unregisters it',
  keygen:
    'print a new API key of 64 hex characters; "keygen --tls [--out FOLDER] [NAME…]" writes a private key and a ' +
    "self-signed certificate for this machine's names and those given, and prints the certificate's pin",
  pair: 'make a key for a device, and print it as a link and a QR code (docs/keys.md)',
  keys: '"keys" lists the keys of the configuration, what they may do and their last uses; "keys remove NAME" revokes one',
  wake:
    '"wake NAME|MAC" wakes a machine on this network (Wake-on-LAN): one in wake.hosts of the configuration, or any MAC ' +
    'address',
  notify:
    '"notify test [TARGET]" sends a message to the targets of notify.targets, or one of them, and prints the answers; ' +
    '"notify mute RULE|MACHINE TIME [REASON…]" has the running service send no events of it for that time (30m, 2h, 3d), ' +
    '"notify unmute RULE|MACHINE" ends that, "notify mutes" lists what is muted',
  watch:
    '"watch try RULE" runs a rule of the configuration, or one that ships ready, over the recorded history of the running ' +
    'service (a week at most), and lists the events that it would have sent',
  top:
    '"top [URL [MACHINE]]" shows in the terminal what this or another service reports, or the machines of a hub and ' +
    'each of them; the key of another service is read from --key-file or $HOSTWIRE_KEY',
  help: 'print this help',
  version: 'print the version, the commit, the HTTP engine and the C library',
};

interface OptionRow {
  /** The first name is the long one. */
  readonly names: readonly [string, ...string[]];
  /** The name of its value; absent: it takes no value. */
  readonly value?: string;
  /** The commands that it can be used with; absent: all. */
  readonly commands?: readonly Command[];
  readonly help: string;
}

export const OPTION_ROWS = [
  {
    names: ['--config'],
    value: 'PATH',
    help: 'read this configuration file (.json, .yaml, .yml) and no others; may be repeated',
  },
  { names: ['--host'], value: 'HOST', help: 'the address to listen on' },
  { names: ['--port'], value: 'PORT', help: 'the port to listen on' },
  {
    names: ['--log-level'],
    value: 'LEVEL',
    help: 'the lowest severity to log: error, warn, info or debug',
  },
  { names: ['--tls'], commands: ['keygen'], help: 'with keygen: make a key and a certificate for HTTPS' },
  {
    names: ['--out'],
    value: 'FOLDER',
    commands: ['keygen'],
    help: 'with keygen --tls: where to write them (default: the working folder)',
  },
  {
    names: ['--broadcast'],
    value: 'ADDRESS',
    commands: ['wake'],
    help: 'with wake: send to this IPv4 address only (default: the broadcast address of each interface)',
  },
  {
    names: ['--json'],
    commands: ['check', 'doctor', 'wake', 'top', 'pair', 'keys'],
    help: 'with check, doctor, wake, top, pair and keys: print JSON',
  },
  {
    names: ['--name'],
    value: 'NAME',
    commands: ['pair'],
    help: 'with pair: the name of the key (default: phone)',
  },
  {
    names: ['--scopes'],
    value: 'SCOPES',
    commands: ['pair'],
    help: 'with pair: the scopes of the key, separated by commas (default: read,media)',
  },
  {
    names: ['--expires'],
    value: 'WHEN',
    commands: ['pair'],
    help: 'with pair: how long the key is valid: 12h, 90d, 8w, or until a date (default: it does not expire)',
  },
  {
    names: ['--url'],
    value: 'URL',
    commands: ['pair'],
    help: 'with pair: where the device reaches this service (default: an address of this machine)',
  },
  { names: ['--once'], commands: ['top'], help: 'with top: print one screen' },
  {
    names: ['--key-file'],
    value: 'PATH',
    commands: ['top'],
    help: 'with top: a file with the key of the service (default: $HOSTWIRE_KEY)',
  },
  {
    names: ['--pin'],
    value: 'PIN',
    commands: ['top'],
    help: 'with top and https://: the pin, sha256/BASE64, of a certificate that no authority has signed',
  },
  {
    names: ['--service'],
    commands: ['run'],
    help: 'run as a Windows service; for the service control manager',
  },
  { names: ['--help', '-h'], help: 'print this help' },
  { names: ['--version'], help: COMMAND_HELP.version },
] as const satisfies readonly OptionRow[];

export type OptionName = (typeof OPTION_ROWS)[number]['names'][number];

/** For code that handles all rows alike. */
export const OPTION_LIST: readonly OptionRow[] = OPTION_ROWS;

export const PURPOSE =
  "streams this computer's stats and carries out power, media and process commands (alpha)";

/** Describes where settings are read from. */
export const PLACES =
  'Without --config and $HOSTWIRE_CONFIG, hostwire reads config.json, config.yaml and config.yml from the first of these ' +
  'folders that has any of them: $XDG_CONFIG_HOME/hostwire (~/.config/hostwire if that is not set), the working folder ' +
  '(only files with keys of hostwire), /etc/hostwire (%ProgramData%\\hostwire on Windows). Every key can also be set by ' +
  'a variable such as HOSTWIRE_SERVER_PORT, which overrides files and is overridden by options.';
