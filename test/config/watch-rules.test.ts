/** `watch.rules`: the conditions that are accepted and rejected. */
import t from 'tap';
import { checkConfiguration } from '#src/cli/check.js';
import { load, makeFolder, optionsFor, writeFiles, yaml } from './loading.ts';

t.test('[8.watch-rules] a map of names to conditions', async (t) => {
  const { config, origins } = load(t, {
    'config.yaml': `watch:
  rules:
    hot:
      series: cpu.temperature
      above: 85
    idle: {series: cpu.load, below: 0.5, for_seconds: 3600}
    constructor: {series: "disk.used_percent/*", above: -1}
`,
    'config.json': '{"watch": {"rules": {"low": {"series": "battery.percent/*", "below": 10}}}}',
  });
  t.strictSame(config.watch.rules['hot'], { series: 'cpu.temperature', above: 85, for_seconds: 10 });
  t.strictSame(config.watch.rules['idle'], { series: 'cpu.load', below: 0.5, for_seconds: 3600 });
  t.same(Object.keys(config.watch.rules).sort(), ['constructor', 'hot', 'idle', 'low']);
  t.equal(config.watch.rules['toString'], undefined, 'no rule comes from a prototype');
  t.match(origins.get('watch.rules.idle'), /config\.yaml:6$/);
  t.same(load(t, {}).config.watch.rules, {}, 'none by default');
});

t.test('[8.watch-rules-refused] a wrong rule stops the start, with its line', async (t) => {
  const whole = (body: string) => `watch:\n  rules:\n    x: ${body}\n`;
  const series = 'the name of a series, such as "cpu.load" or "disk.used_percent/*"';
  const seconds = 'a whole number of seconds from 1 to 86400';
  const cases: readonly (readonly [text: string, problem: string])[] = [
    [whole('{series: cpu.load}'), '3 watch.rules.x expected one of the keys above and below, found none'],
    [
      whole('{series: cpu.load, above: 1, below: 2}'),
      '3 watch.rules.x expected one of the keys above and below, found both',
    ],
    [whole('{above: 1}'), '3 watch.rules.x expected the key series, with the name of a series'],
    [whole('cpu.load'), '3 watch.rules.x expected a map with the key series, found "cpu.load"'],
    [whole('{series: "", above: 1}'), `3 watch.rules.x.series expected ${series}, found ""`],
    [whole('{series: 5, above: 1}'), `3 watch.rules.x.series expected ${series}, found 5`],
    [whole('{series: a, above: "90"}'), '3 watch.rules.x.above expected a number, found "90"'],
    [whole('{series: a, below: .inf}'), '3 watch.rules.x.below expected a number, found Infinity'],
    [
      whole('{series: a, above: 1, for_seconds: 0}'),
      `3 watch.rules.x.for_seconds expected ${seconds}, found 0`,
    ],
    [
      whole('{series: a, above: 1, for_second: 5}'),
      '3 watch.rules.x.for_second unknown key; did you mean for_seconds?',
    ],
    [
      'watch:\n  rules:\n    a b: {series: a, above: 1}\n',
      '3 watch.rules.a b expected a name of 1 to 64 letters, digits, "_", "." or "-"',
    ],
    [
      'watch:\n  rules: []\n',
      '2 watch.rules expected a map of names to {series, above or below, for_seconds}, found a list',
    ],
  ];
  for (const [text, problem] of cases) t.same(yaml(t, text), [`config.yaml:${problem}`], text);
});

t.test('[8.watch-rules] check shows each rule', async (t) => {
  const folder = makeFolder(t);
  writeFiles(folder, { 'config.yaml': 'watch:\n  rules:\n    hot: {series: cpu.load, above: 90}\n' });
  const shown = checkConfiguration(optionsFor(folder)).text;
  t.match(shown, 'watch.rules.hot = {"series":"cpu.load","above":90,"for_seconds":10}');
});

t.test('check warns of a history without a folder, which a service must not look at', async (t) => {
  const folder = makeFolder(t);
  writeFiles(folder, { 'config.yaml': 'history: {path: /no/such/folder/h.db}\n' });
  const warning = /warn: \S+config\.yaml:1: history\.path: its folder \/no\/such\/folder: it does not exist/;
  t.match(checkConfiguration(optionsFor(folder)).text, warning);
  t.notMatch(
    JSON.stringify(load(t, { 'config.yaml': 'history: {path: /no/such/h.db}' }).notices),
    'its folder',
  );
});

t.test('settings without any effect get a warning', async (t) => {
  const rule = (text: string) => `watch: {rules: {r: {${text}}}}\n`;
  for (const [text, warning] of [
    [rule('series: cpu.load, above: 110'), /watch\.rules\.r: cpu\.load is a percentage/],
    [rule('series: disk.used_percent/*, below: 0'), /is a percentage/],
    [`history: {minutes: 0}\n${rule('series: cpu.load, above: 90')}`, /history\.minutes is 0/],
  ] as const)
    t.match(
      load(t, { 'config.yaml': text })
        .notices.map((notice) => notice.text)
        .join(),
      warning,
      text,
    );
  for (const text of ['cpu.load, above: 90', 'cpu.temperature, above: 110', '"battery.charge/*", below: 10'])
    t.strictSame(load(t, { 'config.yaml': rule(`series: ${text}`) }).notices, [], text);
});

t.test('an unknown command of hub.commands is an error that names the nearest', async (t) => {
  const problems = (command: string) =>
    yaml(t, `hub: {commands: {r: {commands: [wake.*, ${command}]}}}`).join();
  t.match(
    problems('media.plai'),
    /r\.commands\[1\] unknown command "media\.plai"; did you mean "media\.play"\?$/,
  );
  t.match(problems('disk.eject'), /unknown command "disk\.eject"; expected a list of commands/);
  t.equal(problems('power.cancel'), '');
});
