/** The arguments of the command line. */
import t from 'tap';
import { listOptions, parseArguments } from '#src/cli/arguments.js';
import { formatHelp } from '#src/cli/help.js';
import { COMMANDS, SERVICE_ACTIONS } from '#src/cli/words.js';

const short = (...words: readonly string[]) => {
  const { command, configPaths, overrides, problem } = parseArguments(words);
  return problem === undefined
    ? [command, [...configPaths], Object.fromEntries([...overrides].map(([key, { value }]) => [key, value]))]
    : `${problem.exitCode} ${problem.text.replace('. "hostwire --help" lists the commands and options.', '')}`;
};

t.test('[9.commands] run is the default; check, doctor, keygen, --help, --version', async (t) => {
  t.same(short(), ['run', [], {}]);
  for (const command of COMMANDS.filter((name) => !['service', 'wake', 'notify', 'watch'].includes(name)))
    t.same(short(command), [command, [], {}]);
  t.same(short('notify', 'test', 'phone'), ['notify', [], {}]);
  t.same(parseArguments(['notify', 'test', 'phone']).notify, ['test', 'phone']);
  t.same(parseArguments(['notify', 'mute', 'hot', '2h', 'new', 'fan']).notify.slice(2), ['2h', 'new', 'fan']);
  for (const [words, problem] of [
    ['notify test a b', 'unexpected argument "b"'],
    ['notify mute hot', 'notify mute needs a rule or a machine, and a time such as 2h'],
    ['notify mute hot 15d', '"15d" is not a time: write 30m, 2h or 3d, at most 14d'],
    ['notify mute hot 0h', '"0h" is not a time: write 30m, 2h or 3d, at most 14d'],
    ['notify unmute', 'notify unmute needs a rule or a machine'],
    ['notify unmute a b', 'unexpected argument "b"'],
    ['notify mutes a', 'unexpected argument "a"'],
  ] as const)
    t.equal(short(...words.split(' ')), `2 ${problem}`);
  t.equal(parseArguments(['watch', 'try', 'disk-full']).triedRule, 'disk-full');
  t.match(parseArguments(['watch', 'try']).problem?.text, /^watch needs an action: try RULE/);
  t.same(short('--help'), ['help', [], {}]);
  t.same(short('-h'), ['help', [], {}]);
  t.same(short('--version'), ['version', [], {}]);
  t.same(short('check', '--help'), ['help', [], {}]);
  t.same(short('--version', '--help'), ['version', [], {}], 'the first');
});

t.test('[9.options] --config (repeatable), --host, --port, --log-level, in both forms', async (t) => {
  t.same(
    short(
      '--config',
      'a.json',
      '--config=b.yaml',
      'check',
      '--host',
      '::1',
      '--port=80',
      '--log-level',
      'debug',
    ),
    ['check', ['a.json', 'b.yaml'], { 'server.host': '::1', 'server.port': 80, 'log.level': 'debug' }],
  );
  t.same(short('run', '--config=a=b.json', '--port', '0'), ['run', ['a=b.json'], { 'server.port': 0 }]);
  t.same(short('--port', '65535'), ['run', [], { 'server.port': 65535 }]);
  t.same(short('--config', '-x.json'), ['run', ['-x.json'], {}]);
  t.same(
    [...parseArguments(['--port', '1', '--host=a', '--log-level=warn']).overrides].map(
      ([key, { option }]) => [key, option],
    ),
    [
      ['server.port', '--port'],
      ['server.host', '--host'],
      ['log.level', '--log-level'],
    ],
  );
});

t.test('[9.options-refused] an invalid command line is a sentence and exit code 2', async (t) => {
  const cases: readonly (readonly [readonly string[], string])[] = [
    [['notify'], '2 notify needs an action: test, mute, unmute or mutes'],
    [['notify', 'tset'], '2 unknown action of notify "tset" (did you mean test?)'],
    [['--prot', '80'], '2 unknown option "--prot" (did you mean --port?)'],
    [['--prot=80'], '2 unknown option "--prot" (did you mean --port?)'],
    [['-p', '80'], '2 unknown option "-p" (did you mean -h?)'],
    [['--confg', 'x'], '2 unknown option "--confg" (did you mean --config?)'],
    [['--help=x'], '2 unknown option "--help" (did you mean --help?)'],
    [['chekc'], '2 unknown command "chekc" (did you mean check?)'],
    [['run', 'check'], '2 unexpected argument "check"'],
    [['run', 'x'], '2 unexpected argument "x"'],
    [['--port'], '2 --port needs a value'],
    [['--port='], '2 --port needs a value'],
    [['--config', ''], '2 --config needs a value'],
    [['--config', '--port', '80'], '2 --config needs a value'],
    [['--host', '--port=80'], '2 --host needs a value'],
    [['--port', '80', '--port', '80'], '2 --port was given twice'],
    ...['65536', '-1', '8x', '0x50', '1e3', ' 80', '80.5', '٣'].map((port): [string[], string] => [
      ['--port', port],
      `2 --port expects a whole number from 0 to 65535, found "${port}"`,
    ]),
    [['--log-level', 'loud'], '2 --log-level expects "error", "warn", "info" or "debug", found "loud"'],
    [
      ['--host', 'http://x'],
      '2 --host expects an address or a host name to listen on, without a port, found "http://x"',
    ],
    [['\u001b[31m'], '2 unknown command "\\u001b[31m" (did you mean run?)'],
  ];
  for (const [words, text] of cases) t.equal(short(...words), text, words.join(' '));
  t.match(parseArguments(['x']).problem?.text, /"hostwire --help" lists the commands and options\.$/);
  t.equal(parseArguments(['check', 'x']).command, 'check');
});

t.test('[9.service] --service goes with run, and service takes install or remove', async (t) => {
  t.match(parseArguments(['--service']), { command: 'run', isService: true, serviceAction: undefined });
  t.match(parseArguments(['run', '--service', '--port', '80']), { command: 'run', isService: true });
  t.match(parseArguments(['run']), { isService: false });
  for (const action of SERVICE_ACTIONS)
    t.match(parseArguments(['service', action, '--port=80']), { command: 'service', serviceAction: action });
  t.equal(parseArguments(['service', '--help']).command, 'help');
  const cases: readonly (readonly [readonly string[], string])[] = [
    [['check', '--service'], '2 --service can only be used with run'],
    [['service', 'install', '--service'], '2 --service can only be used with run'],
    [['--service=x'], '2 unknown option "--service" (did you mean --service?)'],
    [['service'], '2 service needs an action: install or remove'],
    [['service', 'instal'], '2 unknown action of service "instal" (did you mean install?)'],
    [['service', 'install', 'remove'], '2 unexpected argument "remove"'],
  ];
  for (const [words, text] of cases) t.equal(short(...words), text, words.join(' '));
});

t.test('[9.help] the help names every command and option', async (t) => {
  for (const word of [...COMMANDS, ...listOptions()])
    t.match(formatHelp(), new RegExp(`^  (?:.*, )?${word}\\b`, 'm'), word);
  t.match(formatHelp(), /alpha/);
});

t.test('[9.keygen-tls-words] keygen --tls takes a folder and names, and nothing else does', async (t) => {
  const words = (...list: readonly string[]) => parseArguments(['keygen', ...list]).certificate;
  t.same(words(), undefined);
  t.same(words('--tls'), { folder: undefined, names: [] });
  t.same(words('--out', 'x', 'pc.lan', '--tls', '10.0.0.1', '::1'), {
    folder: 'x',
    names: ['pc.lan', '10.0.0.1', '::1'],
  });
  t.equal(short('keygen', 'pc'), '2 unexpected argument "pc"');
  t.equal(short('keygen', '--out=x'), '2 --out can only be used with keygen --tls');
  t.equal(short('check', '--tls'), '2 --tls can only be used with keygen');
  t.equal(short('keygen', '--tls', '--out=x', '--out=y'), '2 --out was given twice');
  t.equal(short('keygen', '--tls', 'a b'), '2 "a b" is neither a host name nor an address');
});

t.test('[9.wake-words] wake takes a machine and --broadcast, and nothing else does', async (t) => {
  const words = (...list: readonly string[]) => parseArguments(['wake', ...list]).wake;
  t.same(words('nas'), { host: 'nas', broadcast: undefined });
  t.same(words('--broadcast=192.0.2.255', '02:00:5e:10:00:00', '--json'), {
    host: '02:00:5e:10:00:00',
    broadcast: '192.0.2.255',
  });
  t.equal(short('wake'), '2 wake needs a name of wake.hosts, or a MAC address');
  t.equal(short('wake', 'a', 'b'), '2 unexpected argument "b"');
  for (const address of ['pc.lan', '::1', '192.0.2'])
    t.equal(
      short('wake', 'a', '--broadcast', address),
      `2 --broadcast expects an IPv4 address, found "${address}"`,
    );
  t.equal(short('check', '--broadcast=192.0.2.255'), '2 --broadcast can only be used with wake');
  t.equal(
    short('wake', 'a', '--broadcast=192.0.2.1', '--broadcast=192.0.2.2'),
    '2 --broadcast was given twice',
  );
  t.same(short('wake', '--help'), ['help', [], {}]);
});
