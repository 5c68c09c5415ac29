/** The manual page, in mdoc. Pure. */
import { wrap } from '../help.ts';
import { CPU_OF_PROCESS, TOP_KEYS } from '../top-keys.ts';
import { COMMAND_HELP, COMMANDS, OPTION_LIST, PLACES, PURPOSE } from '../words.ts';

const WIDTH = 78;
const MONTHS = 'January February March April May June July August September October November December';

const CHARACTERS: Readonly<Record<string, string>> = {
  '\\': '\\e',
  '-': '\\-',
  "'": '\\(aq',
  '~': '\\(ti',
  '^': '\\(ha',
  '`': '\\(ga',
};

/** Escapes literal prose: a hyphen inside a word remains one, and options have a minus. */
const escapeProse = (prose: string): string =>
  prose.replaceAll(/[\\'~^`]|(?<!\w)-+|[^\n -~]/g, (found) => [...found].map(escapeOne).join(''));

const escapeOne = (character: string): string =>
  CHARACTERS[character] ??
  `\\[u${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`;

/** Writes lines of text. A sentence begins a line, so that the formatter knows where the previous one ends. */
const text = (prose: string): string =>
  escapeProse(prose)
    .split(/(?<=\.) (?=[A-Z])/)
    .map((sentence) => wrap(sentence, 0, WIDTH))
    .join('\n')
    .replaceAll(/^(?=\.)/gm, '\\&');

/** Writes a list of terms; each is given as a macro line. */
const list = (rows: readonly (readonly [string, string])[]) =>
  `.Bl -tag -width Ds\n${rows.map(([term, help]) => `.It ${term}\n${text(help)}\n`).join('')}.El`;

const option = (names: readonly string[], value: string | undefined) =>
  names
    .map((name) => (name.startsWith('--') ? `Fl Fl ${name.slice(2)}` : `Fl ${name.slice(1)}`))
    .join(' , ') + (value === undefined ? '' : ` Ar ${value}`);

const EXIT_CODES = [
  ['0', 'The service was stopped by a signal, or the command found no error.'],
  [
    '1',
    'The service cannot start, and the reason is on standard error; check found an error or an unknown key; doctor ' +
      'found that the service cannot start here; or the output of a command could not be written.',
  ],
  ['2', 'The command line is invalid.'],
] as const;

const SIGNALS = [
  ['SIGTERM , SIGINT', 'Closes every stream at the end of an event, then stops the service.'],
  ['SIGHUP', 'Reloads the configuration; open streams continue.'],
] as const;

const FILES = [
  ['$XDG_CONFIG_HOME/hostwire/config.{json,yaml,yml}', 'The configuration of a user.'],
  ['/etc/hostwire/config.{json,yaml,yml}', 'The configuration of the machine.'],
] as const;

const ENVIRONMENT = [
  ['HOSTWIRE_CONFIG', 'The configuration file, where no --config is given.'],
  [
    'HOSTWIRE_SECTION_KEY',
    'Sets the key section.key, such as HOSTWIRE_SERVER_PORT for server.port. "hostwire check" lists all keys.',
  ],
] as const;

/** `date` as YYYY-MM-DD. */
export function formatMan(version: string, date: string): string {
  const [year, month, day] = date.split('-');
  const macro = (name: string, rows: readonly (readonly [string, string])[]) =>
    list(rows.map(([term, help]) => [`${name} ${term}`, help]));
  return `.Dd ${MONTHS.split(' ')[Number(month) - 1]} ${Number(day)}, ${year}
.Dt HOSTWIRE 1
.Os "hostwire ${version}"
.Sh NAME
.Nm hostwire
.Nd ${escapeProse(PURPOSE)}
.Sh SYNOPSIS
.Nm
.Op Ar command
.Op Ar options
.Sh DESCRIPTION
${text('hostwire is a service that streams live stats of this machine over HTTP, with a dashboard at http://localhost:9990/. The commands are:')}
${macro(
  'Cm',
  COMMANDS.map((name) => [name, COMMAND_HELP[name]]),
)}
.Pp
The options are:
${list(OPTION_LIST.map(({ names, value, help }) => [option(names, value), help]))}
.Ss Keys of hostwire top
${macro(
  'Sy',
  // A question mark alone would be punctuation.
  TOP_KEYS.map(([keys, effect]) => [keys === '?' ? '\\&?' : keys, effect]),
)}
.Pp
${text(CPU_OF_PROCESS)}
.Ss Signals
${macro('Dv', SIGNALS)}
.Sh ENVIRONMENT
${macro('Ev', ENVIRONMENT)}
.Sh FILES
${text(PLACES)}
${macro('Pa', FILES)}
.Sh EXIT STATUS
${macro('Sy', EXIT_CODES)}
.Sh EXAMPLES
A stream of the load of the processor:
.Pp
.Dl curl \\-N \\(aqhttp://localhost:9990/api/stream?fields=cpu\\(aq
.Pp
What works on this machine, and what it would take for the rest:
.Pp
.Dl hostwire doctor
.Sh SEE ALSO
.Xr curl 1 ,
.Xr journalctl 1
`;
}
