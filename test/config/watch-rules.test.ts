/** `watch.rules`: the conditions that are accepted and rejected. */
import t from 'tap';
import { checkConfiguration } from '#src/cli/check.js';
import { load, makeFolder, optionsFor, writeFiles } from './loading.ts';

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
