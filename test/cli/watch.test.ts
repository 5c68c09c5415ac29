/** `hostwire watch try` and the values beside the rules in `hostwire check`: from a running service, or why not. */
import t, { type Test } from 'tap';
import { checkConfiguration } from '#src/cli/check.js';
import { findRuleValues } from '#src/cli/rule-values.js';
import { tryRule } from '#src/cli/watch.js';
import type { History, HistoryRequest } from '#src/history/history.js';
import { gridOf } from '#src/history/query.js';
import { makeFolder, optionsFor, writeFiles } from '../config/loading.ts';
import { FakeHistory } from '../helpers/fakes/history.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { PATIENCE_MS } from '../helpers/limits.ts';
import { findFreePort } from '../helpers/service/free-port.ts';
import { serveHere } from '../helpers/service/service.ts';

const RULES = {
  busy: { series: 'cpu.load', above: 90, clear_below: 80, for_seconds: 60 },
  gone: { series: 'sensor.fan/*', missing: true },
  mine: { series: 'disk.used_percent/*', above: 90 },
  ssd: { series: 'drive.passed/*', below: 1, for_seconds: 60 },
};

function configured(t: Test, port: number, more: object = {}) {
  const folder = makeFolder(t);
  const watch = { defaults: false, rules: RULES };
  writeFiles(folder, {
    'config.json': JSON.stringify({ server: { host: '127.0.0.1', port }, watch, ...more }),
  });
  return optionsFor(folder);
}

const NOW = Math.floor(Date.now() / 1000);
/** Busy for two minutes an hour ago, and for ten since three hours; before the last day nothing was recorded. */
function loadAt(at: number): number | null {
  const ago = NOW - at;
  if (ago > 86_400 || ago < 0) return null;
  return (ago < 3600 && ago >= 3480) || (ago < 10_800 && ago >= 10_200) ? 95 : 20;
}

/** A history that computes what it is asked for. */
class ComputedHistory extends FakeHistory {
  override async query(request: HistoryRequest) {
    this.asked.push(request);
    const grid = gridOf(request, Date.now() / 1000);
    const valuesOf = (valueAt: (at: number) => number | null) => ({
      unit: '%',
      mean: Array.from({ length: grid.count }, (_, i) => valueAt(grid.start + i * grid.step)),
    });
    const series = {
      'cpu.load': valuesOf(loadAt),
      'disk.used_percent//srv, too': valuesOf(() => 71.25),
      'disk.used_percent//': valuesOf(() => null),
      // Read every ten minutes.
      'drive.passed/sda': valuesOf((at) => (at % 600 < 10 ? Number(NOW - at > 7200) : null)),
    };
    const matching = Object.entries(series).filter(([name]) =>
      request.series.some(
        (each) => each === name || (each.endsWith('*') && name.startsWith(each.slice(0, -1))),
      ),
    );
    return { ...grid, series: Object.fromEntries(matching), unknown: [], marks: [], events: [] };
  }
}

const serve = (t: Test, history: History) => serveHere(t, fixtureHost(), {}, { history });

t.test('[9.watch-try] the events that a rule would have sent, from the oldest part on', async (t) => {
  const history = new ComputedHistory();
  const { port } = await serve(t, history);
  const { text, exitCode } = await tryRule('busy', configured(t, port));
  const lines = text.trimEnd().split('\n');
  t.equal(exitCode, 0);
  t.equal(lines.length, 5, text);
  t.match(lines[0], /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}begins {2}Processor load is 95 %, limit 90 %$/);
  t.match(lines[1], / {2}ends {4}Processor load is back to 20 %, limit 90 %$/);
  t.match(lines[4], /^busy: 2 events in (?:1 d|23 h 59 min) of recorded history$/);
  t.ok(
    history.asked.every(({ step, series }) => (step ?? 0) >= 10 && series.includes('cpu.load')),
    'not second by second',
  );
});

t.test('[9.watch-try] drives are seen between their readings, as the service sees them', async (t) => {
  const { port } = await serve(t, new ComputedHistory());
  const { text } = await tryRule('ssd', configured(t, port));
  t.match(text, /begins {2}Drive sda expects to fail: copy its data while it can be read\nssd: 1 event in /);
});

t.test('[9.watch-try] a rule that is not there, and a service that is not', async (t) => {
  const options = configured(t, await findFreePort());
  t.same(await tryRule('toString', options), {
    text: '"toString" is not a rule; the rules are: busy, gone, mine, ssd\n',
    exitCode: 1,
  });
  t.match(await tryRule('busy', options), {
    text: /^the service did not return its history: .+\n$/,
    exitCode: 1,
  });
});

t.test('[9.check-rules] check prints the present value beside each limit', async (t) => {
  const { port } = await serve(t, new ComputedHistory());
  const options = configured(t, port);
  const { text } = checkConfiguration(options, false, await findRuleValues(options, PATIENCE_MS));
  const lines = text.slice(text.indexOf('\nRules')).trim().split('\n');
  t.strictSame(lines.slice(0, 5), [
    'Rules:',
    'busy  above 90, until below 80  cpu.load                     now 20 %',
    'gone  missing                                                no value now',
    'mine  above 90                  disk.used_percent//srv, too  now 71.25 %',
    'mine  above 90                  disk.used_percent//          no value now',
  ]);
  const json = JSON.parse(checkConfiguration(options, true, await findRuleValues(options, PATIENCE_MS)).text);
  t.match(json, { valid: true, reason: null });
  t.strictSame(json.rules[0], {
    rule: 'busy',
    limit: 'above 90, until below 80',
    series: 'cpu.load',
    value: 20,
    unit: '%',
  });
});

t.test('[9.check-rules] without a key it asks as the clients of this machine do', async (t) => {
  const phone = { digest: `sha256/${'A'.repeat(43)}=`, scopes: ['read'] } as const;
  for (const [ips, reason] of [
    [['127.0.0.1'], null],
    [['192.0.2.1', '*'], /^the configuration has only digests of keys with the scope admin/],
  ] as const) {
    const auth = { enabled: true, keys: { phone } };
    const history = new ComputedHistory();
    const { port } = await serveHere(t, fixtureHost(), { auth: { ...auth, allowed_ips: ips } }, { history });
    const options = configured(t, port, { auth: { ...auth, allowed_ips: ips } });
    t.match(await findRuleValues(options, PATIENCE_MS), { reason });
  }
});

t.test('[9.check-rules] without the service it says why, and the limits', async (t) => {
  const options = configured(t, await findFreePort());
  const { text, exitCode } = checkConfiguration(options, false, await findRuleValues(options, PATIENCE_MS));
  t.equal(exitCode, 0);
  t.match(text, /\nRules \(their values now are unknown: .+\):\nbusy {2}above 90, until below 80\n/);
  t.equal(
    await findRuleValues(configured(t, 1, { watch: {} })),
    undefined,
    'nothing of those that ship ready, as before the first start',
  );
  const folder = makeFolder(t);
  writeFiles(folder, { 'config.yaml': 'watch: 5' });
  t.equal(await findRuleValues(optionsFor(folder)), undefined);
});
