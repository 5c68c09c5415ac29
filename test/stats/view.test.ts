/** Views: what a query asks for, and one encoding for all clients that ask the same. */
import t from 'tap';
import { ALL_SECTIONS, SECTION_BITS, SECTIONS } from '#src/host/host.js';
import { NO_BASELINE } from '#src/stats/baseline.js';
import { deriveSample } from '#src/stats/sample.js';
import { Encoded, parseView, VIEW_COUNT, viewAt, viewOf } from '#src/stats/view.js';
import { at, cpu, disk, gpu, link, memory } from './literals.ts';

const { cpu: CPU, memory: MEMORY, gpu: GPU, disks: DISKS, network: NETWORK } = SECTION_BITS;
const sectionsOf = (...fields: readonly string[]) => parseView(fields, null).view.sections;
const ignoredOf = (...fields: readonly string[]) => parseView(fields, null).ignored;

t.test('[4.fields] trimmed, case-insensitive, deduplicated, united', async (t) => {
  t.equal(sectionsOf('cpu'), CPU);
  t.equal(sectionsOf(' CPU ,\tMemory'), CPU | MEMORY);
  t.equal(sectionsOf('cpu,cpu,CPU'), CPU);
  t.equal(sectionsOf('gpu', 'disks,network'), GPU | DISKS | NETWORK);
  t.equal(sectionsOf('cpu,,'), CPU);
  t.equal(sectionsOf(SECTIONS.join(',')), ALL_SECTIONS);
});

t.test(
  '[4.fields-empty] [4.fields-unknown] no names select all sections, only unknown names select none',
  async (t) => {
    t.equal(sectionsOf(), ALL_SECTIONS);
    for (const empty of ['', ' ', ',', ' , ,'])
      t.equal(sectionsOf(empty), ALL_SECTIONS, JSON.stringify(empty));
    t.equal(sectionsOf('disk'), 0);
    t.equal(sectionsOf('timestamp'), 0);
    t.equal(sectionsOf('constructor,__proto__,toString'), 0);
    t.equal(sectionsOf('nothing,cpu'), CPU);
  },
);

t.test('[4.ignored-header] the names that may be echoed, eight at most', async (t) => {
  t.strictSame(ignoredOf('disk,cpu,Uptime,disk,DISK'), ['disk', 'Uptime']);
  t.strictSame(ignoredOf('a\r\nSet-Cookie: x', 'b c', 'é', 'x'.repeat(33), '"q"'), []);
  t.strictSame(ignoredOf('x'.repeat(32)), ['x'.repeat(32)]);
  const many = Array.from({ length: 20 }, (_, index) => `n${index}`);
  t.strictSame(ignoredOf(many.join(',')), many.slice(0, 8));
});

t.test('[4.detail] on for 1 and true, off otherwise', async (t) => {
  for (const on of ['1', 'true', ' 1 ', 'TRUE']) t.equal(parseView([], on).view.withDetail, true, on);
  for (const off of [null, '', '0', 'false', 'yes', '2', '11'])
    t.equal(parseView([], off).view.withDetail, false, String(off));
});

t.test('equal views are one object with one index', async (t) => {
  const indexes = new Set<number>();
  for (let sections = 0; sections <= ALL_SECTIONS; sections++)
    for (const withDetail of [false, true]) {
      const view = viewOf(sections, withDetail);
      t.equal(viewOf(sections, withDetail), view);
      t.equal(viewAt(view.index), view);
      t.match(view, { sections, withDetail });
      indexes.add(view.index);
    }
  t.equal(indexes.size, VIEW_COUNT);
  t.throws(() => viewAt(VIEW_COUNT), RangeError);
});

const counters = at(10, {
  cpu: cpu({ user: 1 }, { cores: [], temperatureCelsius: 40 }),
  memory: memory(),
  gpu: [gpu()],
  disks: [disk('/a "quoted"\n\u2028'), disk('/silent', { usage: null })],
  network: [link('eth0')],
});
const facts = { interval_seconds: 2, host: 'box' };
const extras = { interval_seconds: 2, window_seconds: null, host: 'box' };

t.test('[4.encode-once] every view is encoded once and says what the sample says', async (t) => {
  const { sample } = deriveSample(NO_BASELINE, counters, facts);
  const encoded = new Encoded(sample);
  for (let index = 0; index < VIEW_COUNT; index++) {
    const view = viewAt(index);
    const asked = SECTIONS.filter((name) => (view.sections & SECTION_BITS[name]) !== 0);
    const expected = {
      timestamp: sample.timestamp,
      uptime: sample.uptime,
      ...(view.withDetail ? { ...extras, sensors: [], batteries: [], drives: [], limits: null } : {}),
      ...Object.fromEntries(
        asked.map((name) => [name, view.withDetail ? sample[name]?.detail : sample[name]?.stats]),
      ),
    };
    t.equal(encoded.json(view), JSON.stringify(expected), `view ${index}`);
    const event = encoded.event(view);
    t.equal(event.toString(), `data: ${encoded.json(view)}\n\n`);
    t.equal(encoded.event(view), event, 'the same bytes for all');
  }
  t.equal(encoded.encodes, VIEW_COUNT);
});

t.test('[4.gpu-null] null when there is none, absent when it was not read or not asked for', async (t) => {
  const without = new Encoded(deriveSample(NO_BASELINE, at(1, { gpu: [], memory: memory() })).sample);
  t.match(JSON.parse(without.json(viewOf(GPU, false))), { gpu: null });
  t.notOk('gpu' in JSON.parse(without.json(viewOf(MEMORY, false))));
  t.strictSame(Object.keys(JSON.parse(without.json(viewOf(CPU, false)))), ['timestamp', 'uptime']);
});
