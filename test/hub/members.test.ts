/** Cutting samples by bytes: the scanner against JSON.parse, and cuts against parsing, deleting and writing again. */
import t from 'tap';
import { SECTION_BITS, SECTIONS } from '#src/host/host.js';
import { membersOf } from '#src/hub/host/members.js';
import { HostSample } from '#src/hub/host/sample.js';
import { viewOf } from '#src/stats/view.js';
import { createRandom } from '../helpers/random.ts';

const random = createRandom(7);
const { below, pick } = random;

const TEXTS = ['', 'cpu', '"', '\\', '\n\u0001', 'ä€😀', '}{][,:', '\ud800', '/mnt/a b'];
const NUMBERS = [0, -0.5, 12, 1e21, 1.5e-7, 1_795_528_470, Number.MAX_SAFE_INTEGER];

function someValue(depth: number): unknown {
  const kind = below(depth > 3 ? 4 : 6);
  if (kind === 0) return pick(TEXTS);
  if (kind === 1) return pick(NUMBERS);
  if (kind === 2) return pick([true, false]);
  if (kind === 3) return null;
  if (kind === 4) return Array.from({ length: below(4) }, () => someValue(depth + 1));
  return Object.fromEntries(
    Array.from({ length: below(4) }, (_, i) => [`${pick(TEXTS)}${i}`, someValue(depth + 1)]),
  );
}

/** Of the shape that a section has, with anything in it. */
function someSection(name: string): unknown {
  const value = { other: someValue(1) };
  return name === 'disks' || name === 'sensors' ? [value, value] : value;
}

/** Whether JSON.parse takes it as an object, at most as deep as the scanner goes. */
function isObjectText(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return (
      typeof value === 'object' &&
      value !== null &&
      !Array.isArray(value) &&
      text.startsWith('{') &&
      text.endsWith('}')
    );
  } catch {
    return false;
  }
}

const scan = (text: string) => {
  const bytes = Buffer.from(`##${text}##`);
  return membersOf(bytes, 2, bytes.length - 2)?.map(({ key, start, end }) => [
    key,
    bytes.toString('utf8', start, end),
  ]);
};

t.test('the scanner takes what JSON.parse takes, and finds the same members', async (t) => {
  let sound = 0;
  let wrong = 0;
  for (let round = 0; round < 4000; round++) {
    const value = { timestamp: 1, ...(someValue(1) as object), cpu: someValue(1), gpu: null };
    const text = JSON.stringify(value, undefined, round % 3 === 0 ? ' ' : undefined);
    const members = scan(text);
    // A lone surrogate is an escape in JSON; the bytes are the same.
    const joined = `{${(members ?? []).map(([, member]) => member).join(',')}}`;
    if (members === undefined || JSON.stringify(JSON.parse(joined)) !== JSON.stringify(JSON.parse(text)))
      t.fail(`not scanned: ${text}`);
    sound++;
    const at = below(text.length);
    const changed = pick([
      `${text.slice(0, at)}${text.slice(at + 1)}`,
      `${text.slice(0, at)}${pick([...'{}[]",:\\0e-. \t'])}${text.slice(at)}`,
      text.slice(0, at),
    ]);
    if ((scan(changed) !== undefined) !== isObjectText(changed))
      t.fail(`wrong about ${JSON.stringify(changed)}`);
    if (!isObjectText(changed)) wrong++;
  }
  t.ok(sound === 4000 && wrong > 2000, `${sound} sound, ${wrong} wrong`);
});

t.test('edges', async (t) => {
  for (const text of ['{}', '{ }', '{"a":1}', '{"a" : [ ] , "b":{"c":-0.0e+5}}', '{"\\u00e4":"\\ud83d"}'])
    t.ok(scan(text), text);
  for (const text of [
    ...[
      '',
      '[]',
      '1',
      '{',
      '{"a"}',
      '{"a":}',
      '{"a":1,}',
      '{,}',
      '{"a":01}',
      '{"a":1.}',
      '{"a":+1}',
      '{"a":.5}',
    ],
    ...[
      '{"a":tru}',
      '{"a":nul',
      '{"a":"\\x"}',
      '{"a":"\\u12g4"}',
      '{"a":"\t"}',
      "{'a':1}",
      '{a:1}',
      '{}{}',
      '{"a":NaN}',
    ],
    `{"a":${'['.repeat(100)}${']'.repeat(100)}}`,
  ])
    t.equal(scan(text), undefined, text);
});

t.test('[I.hub.cut] a view is cut out of the bytes as JSON would leave it', async (t) => {
  for (let round = 0; round < 500; round++) {
    const asked = below(32);
    const payload = Object.fromEntries([
      ['timestamp', 1],
      ['uptime', 2],
      ['sensors', someSection('sensors')],
      ...SECTIONS.filter((name) => (asked & SECTION_BITS[name]) !== 0).map((name) => [
        name,
        someSection(name),
      ]),
    ]);
    const event = Buffer.from(`data: ${JSON.stringify(payload)}\n\n`);
    const sample = new HostSample(event, asked, 0);
    t.ok(sample.isValid);
    const wanted = asked & below(32);
    const view = viewOf(wanted, false);
    const kept = Object.fromEntries(
      Object.entries(payload).filter(([key]) => {
        const section = SECTIONS.find((name) => name === key);
        return section === undefined || (wanted & SECTION_BITS[section]) !== 0;
      }),
    );
    if (String(sample.event(view)) !== `data: ${JSON.stringify(kept)}\n\n`)
      t.fail(String(sample.event(view)));
    t.equal(sample.event(view), sample.event(view), 'once per view');
    t.equal(String(sample.payload(view)), JSON.stringify(kept));
    if (wanted === asked) t.equal(sample.event(view), event, 'the same bytes where the view has all of it');
  }
});
