/** Sessions at a broker: what is repeated, lost or late on the way, frames in parts, and what the other side gets of it. */
import t from 'tap';
import { BrokerCarrier, type Intake } from '#src/socket/broker/broker-carrier.js';
import { isOpening, PART_BYTES, readPayload } from '#src/socket/broker/payload.js';
import { readTopic } from '#src/socket/broker/topics.js';
import type { Failure } from '#src/socket/carrier.js';

const SESSION = '0123456789abcdef';
const MAX_FRAME_BYTES = 1.5 * 2 ** 20;

/** One end of a session: the payloads that it published, and the frames that it was sent. */
function endOfSession({
  intake = { maxFrameBytes: MAX_FRAME_BYTES, partBytes: 0 } as Intake,
  session = SESSION,
} = {}) {
  const published: Buffer[] = [];
  const frames: string[] = [];
  const failures: Failure[] = [];
  let controls = 0;
  let refusal: Error | undefined;
  let open = (): void => undefined;
  let taken = Promise.resolve();
  const carrier = new BrokerCarrier(session, intake, async (payload) => {
    if (refusal !== undefined) throw refusal;
    published.push(payload);
    await taken;
  });
  const events = {
    onFrame: (bytes: Buffer) => void frames.push(bytes.toString()),
    onControl: () => void controls++,
    onEnd: (failure: Failure) => void failures.push(failure),
  };
  return {
    carrier,
    events,
    intake,
    published,
    frames,
    failures,
    controls: () => controls,
    refuse: (error: Error) => {
      refusal = error;
    },
    /** The broker takes nothing until `release` is called. */
    stall: () => {
      taken = new Promise((resolve) => {
        open = resolve;
      });
    },
    release: () => open(),
    take: (payload: Buffer | string) => {
      const read = readPayload(Buffer.from(payload));
      if (read === undefined) throw new Error(`it is no payload: ${payload}`);
      carrier.take(read);
    },
    texts: () => published.map((payload) => payload.toString()),
  };
}

const settled = async () => await new Promise((resolve) => setImmediate(resolve));

/** The end of a hub whose session is open. */
function hubEnd(options: Parameters<typeof endOfSession>[0] = {}) {
  const end = endOfSession(options);
  end.carrier.open(end.events);
  return end;
}

t.test('[I.hub.mqtt] payloads, and what is none', async (t) => {
  const read = (text: string) => readPayload(Buffer.from(text));
  t.match(read(`${SESSION} 7\n{"a":1}`), {
    session: SESSION,
    number: 7,
    hasMore: false,
    bytes: Buffer.from('{"a":1}'),
  });
  t.match(read(`${SESSION} 0 +\nx`), { number: 0, hasMore: true });
  t.match(read(`${SESSION} end\nno more`), { number: undefined, bytes: Buffer.from('no more') });
  t.match(read(`${SESSION} end`), { number: undefined, bytes: Buffer.alloc(0) });
  const opening = read(`${SESSION} 0\n`);
  t.ok(opening && isOpening(opening));
  for (const other of [`${SESSION} 0\nx`, `${SESSION} 0 +\n`, `${SESSION} 1\n`, `${SESSION} end\n`]) {
    const payload = read(other);
    t.ok(payload && !isOpening(payload), other);
  }
  for (const bad of [
    '',
    '\n',
    SESSION,
    `${SESSION}\n`,
    `${SESSION} \n`,
    `${SESSION} -1\n`,
    `${SESSION} 1.5\n`,
    `${SESSION} 1 + \n`,
    `${SESSION} end +\n`,
    `${SESSION} ${'1'.repeat(16)}\n`,
    `${SESSION}0 1\n`,
    `${SESSION.slice(1)} 1\n`,
    `../4567890abcdef 1\n`,
    `${SESSION} 1${' '.repeat(100)}\n`,
    'x'.repeat(2 ** 20),
  ])
    t.equal(read(bad), undefined, bad.slice(0, 40));
});

t.test('[I.hub.mqtt] topics', async (t) => {
  t.same(readTopic('a/b', 'a/b/pc/status'), { id: 'pc', kind: 'status', hub: '' });
  t.same(readTopic('a/b', 'a/b/pc/out/hub1'), { id: 'pc', kind: 'out', hub: 'hub1' });
  for (const other of [
    'a/b',
    'a/b/',
    'x/b/pc/status',
    'a/b//status',
    'a/b/p.c/status',
    'a/b/pc/out/h/x',
    'a/b/pc/out/+',
  ])
    t.equal(readTopic('a/b', other), undefined, other);
});

t.test('[I.hub.mqtt.once] frames are taken once and in order, whatever is repeated', async (t) => {
  const hub = hubEnd();
  t.same(hub.texts(), [`${SESSION} 0\n`], 'an empty frame opens a session');
  hub.carrier.send('{"op":"ping"}');
  t.equal(hub.texts()[1], `${SESSION} 1\n{"op":"ping"}`);
  const machine = endOfSession();
  machine.carrier.accept(machine.events);
  const [opening = '', ping = ''] = hub.published;
  for (const payload of [ping, opening, ping, ping]) machine.take(payload);
  machine.take(`${SESSION} 2\nx`);
  machine.take(ping);
  t.same(machine.frames, ['{"op":"ping"}', 'x']);
  t.same(machine.failures, []);
});

t.test('[I.hub.mqtt.once] a gap ends the session, at both ends', async (t) => {
  const hub = hubEnd();
  hub.take(`${SESSION} 0\na`);
  hub.take(`${SESSION} 2\nc`);
  hub.take(`${SESSION} 1\nb`);
  t.same(hub.frames, ['a'], 'nothing more is taken');
  t.match(hub.failures, [{ isRefusal: false, reason: 'messages were lost on the way' }]);
  t.notOk(hub.carrier.isOpen);
  t.equal(hub.texts().at(-1), `${SESSION} end\nmessages were lost on the way`);
  hub.carrier.send('x');
  hub.carrier.end('again');
  t.equal(hub.published.length, 2, 'nothing is sent afterwards');
  const machine = endOfSession();
  machine.carrier.accept(machine.events);
  machine.take(hub.published[1] ?? '');
  t.match(machine.failures, [{ reason: 'it ended the session: messages were lost on the way' }]);
  t.equal(machine.published.length, 0, 'an end is not answered');
  const rude = hubEnd();
  rude.take(`${SESSION} end\n\u001b[31m<b>`);
  t.match(rude.failures, [{ reason: 'it ended the session' }]);
});

t.test('[I.hub.mqtt.parts] long frames are sent in parts', async (t) => {
  const machine = endOfSession();
  machine.carrier.accept(machine.events);
  // A character of three bytes is cut in two.
  const text = `${'x'.repeat(PART_BYTES - 1)}€${'y'.repeat(PART_BYTES)}`;
  machine.carrier.send(text);
  machine.carrier.send('next');
  t.equal(machine.published.length, 4);
  t.ok(machine.published.every(({ length }) => length < PART_BYTES + 64));
  t.same(
    machine.texts().map((each) => each.split('\n')[0]),
    [`${SESSION} 0 +`, `${SESSION} 1 +`, `${SESSION} 2`, `${SESSION} 3`],
  );
  const hub = hubEnd();
  for (const payload of machine.published.flatMap((each) => [each, each])) hub.take(payload);
  t.same(hub.frames, [text, 'next'], 'each part once');
  t.equal(hub.controls(), 2, 'a part that others follow is counted');
  t.equal(hub.intake.partBytes, 0, 'and nothing of it is kept');
});

t.test('[I.hub.hostile] frames that are too long, and too many that do not end', async (t) => {
  const hub = hubEnd();
  const part = 'x'.repeat(PART_BYTES);
  for (let number = 0; number < 7; number++) hub.take(`${SESSION} ${number} +\n${part}`);
  t.match(hub.failures, [{ isFlood: true, reason: 'it sent a message that is too long' }]);
  t.equal(hub.intake.partBytes, 0);
  const { intake } = hub;
  const ends = Array.from({ length: 40 }, (_, at) =>
    hubEnd({ intake, session: SESSION.replace('0123', String(1000 + at)) }),
  );
  for (const { take, carrier } of ends)
    for (let number = 0; number < 4 && carrier.isOpen; number++)
      take(`${carrier.session} ${number} +\n${part}`);
  const cut = ends.filter(({ failures }) => failures[0]?.reason === 'too many messages arrive in parts');
  t.ok(cut.length > 0 && cut.length < 20, `${cut.length} of 40`);
  t.ok(intake.partBytes <= 32 * 2 ** 20, `${intake.partBytes} bytes`);
  for (const { carrier } of ends) carrier.end('done');
  t.equal(intake.partBytes, 0);
});

t.test('[I.hub.mqtt] bytes that the broker has not taken', async (t) => {
  const machine = endOfSession();
  machine.carrier.accept(machine.events);
  machine.stall();
  let sent = 0;
  machine.carrier.send('abc', () => sent++);
  machine.carrier.send('x'.repeat(2 * PART_BYTES), () => sent++);
  t.ok(machine.carrier.waitingBytes > 2 * PART_BYTES);
  await settled();
  t.equal(sent, 0);
  machine.release();
  await settled();
  t.equal(sent, 2);
  t.equal(machine.carrier.waitingBytes, 0);
  machine.refuse(new Error('too many bytes are queued for the broker'));
  machine.carrier.send('lost', () => sent++);
  await settled();
  t.equal(sent, 2);
  t.match(machine.failures, [{ reason: 'a message was not taken by the broker' }], 'instead of a gap');
});
