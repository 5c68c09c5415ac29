/** The sentences of the pages: singular and plural, and the reasons why a figure is missing. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { whyNoHealth } from '../../web/cards/drive-health.ts';
import { inOrder } from '../../web/cards/interfaces.ts';
import { T } from '../../web/fleet/texts.ts';
import { lossOf } from '../../web/loss.ts';
import { withReason } from '../../web/reasons.ts';
import { TEXTS } from '../../web/texts.ts';

t.test('one is singular', async (t) => {
  const { shown, count, group } = TEXTS.processes;
  t.equal(shown(1, 300, true, true), '1 match');
  t.equal(shown(2, 300, true, true), '2 matches');
  t.equal(shown(1, 1, true, false), '1 process, by 1 name');
  t.equal(shown(200, 300, true, false), 'All 300 processes, by 200 names');
  t.equal(shown(1, 300, false, true), '1 of 300 processes matches');
  t.equal(shown(2, 300, false, true), '2 of 300 processes match');
  t.equal(shown(300, 300, false, false), 'All 300 processes');
  t.equal(shown(200, 300, false, false), 'First 200 of 300 processes');
  t.equal(count(1, 1), '1 process, 1 running');
  t.equal(count(1200, 3), '1,200 processes, 3 running');
  t.equal(group('a', 2), 'a (2 processes)');
  t.equal(T.shown(1, 1), '1 machine');
  t.equal(T.shown(2, 2), 'All 2 machines');
  t.equal(T.shown(1, 2), '1 of 2 machines');
});

t.test('the head that is seen before the script has the words of its first rendering', async (t) => {
  const titles = { 'web/index.html': TEXTS.strip.title, 'web/fleet/index.html': T.title };
  for (const [file, title] of Object.entries(titles))
    for (const words of [title, TEXTS.connection.connecting, TEXTS.waiting])
      t.ok(readFileSync(file, 'utf8').includes(`>${words}</`), `${file}: ${words}`);
});

t.test('a machine that a hub does not have is unknown, and not a lost connection', async (t) => {
  t.equal(lossOf({ code: 'not_found' }, 'pc'), 'missing');
  t.equal(lossOf({ code: 'not_found' }, undefined), 'lost', 'the page of a service has no id');
  t.equal(lossOf({ code: 'host_unreachable' }, 'pc'), 'lost');
  t.equal(TEXTS.connection.missing, 'Unknown machine');
});

t.test('loopback stands after every other interface', async (t) => {
  const named = (name: string, kind: string) => ({ name, kind });
  const order = (list: readonly object[]) =>
    inOrder(list as Parameters<typeof inOrder>[0]).map(({ name }) => name); // Only these are looked at.
  t.same(order([named('lo', 'loopback'), named('eth0', 'ethernet'), named('br0', 'bridge')]), [
    'eth0',
    'br0',
    'lo',
  ]);
});

t.test('drives whose health cannot be read are a reason, and no card', async (t) => {
  const health = {
    passed: true,
    temperature: 30,
    percentage_used: 1,
    power_on_hours: 1,
    media_errors: 0,
    critical_warning: null,
    available_spare_percent: null,
    reallocated_sectors: null,
  };
  type Drive = Parameters<typeof whyNoHealth>[0][number];
  const drive = (name: string, reason: string | null, known: object | null = null) =>
    ({ name, model: null, health: known, reason }) as unknown as Drive; // As far as it is looked at.
  t.equal(whyNoHealth([]), 'no drives found');
  t.equal(whyNoHealth([drive('a', 'needs root'), drive('b', 'needs root')]), 'needs root');
  t.equal(whyNoHealth([drive('a', 'x'), drive('b', 'y')]), 'x; y');
  t.equal(whyNoHealth([drive('a', null, health), drive('b', 'y')]), undefined, 'one can be read');
});

t.test('a reason is listed until it holds no longer', async (t) => {
  const one = withReason(new Map(), 'Media', 'no session bus');
  t.same([...one], [['Media', 'no session bus']]);
  t.equal(withReason(one, 'Media', 'no session bus'), one, 'nothing is drawn again');
  t.same([...withReason(one, 'Media', undefined)], []);
});
