/** The two ways in which a page reads the stream, EventSource and fetch, in Chromium and Firefox: the contract's bytes. */
import '../helpers/service/dead-buses.ts';
import t from 'tap';
import { reasonAgainstChromium, startChromium } from '../browser/attack/chromium.ts';
import { reasonAgainstFirefox, startFirefox } from '../browser/attack/firefox.ts';
import { Resolver } from '../browser/attack/resolver.ts';
import { EventStream } from '../helpers/clients/event-stream.ts';
import { valuesOf } from '../helpers/clients/http.ts';
import { serveProgram } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';

const SECONDS = 8;

/** As a page that uses EventSource: each message and its type. */
const EVENT_SOURCE = `new Promise((resolve, reject) => {
  const messages = [];
  const stream = new EventSource('/api/stream');
  stream.onmessage = ({ type, lastEventId, data }) => messages.push({ type, lastEventId, data });
  stream.onerror = () => reject(new Error('the stream has ended'));
  setTimeout(() => { stream.close(); resolve(JSON.stringify(messages)); }, ${SECONDS * 1000});
})`;

/** As a page that handles each read on its own, without keeping a rest: each read as text. */
const FETCH = `(async () => {
  const reads = [];
  const abort = new AbortController();
  setTimeout(() => abort.abort(), ${SECONDS * 1000});
  const response = await fetch('/api/stream', { headers: { Authorization: 'Bearer none' }, signal: abort.signal });
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      reads.push(decoder.decode(value));
    }
  } catch {}
  return JSON.stringify({ status: response.status, type: response.headers.get('content-type'), reads });
})()`;

function bodyOf(stream: EventStream): string {
  stream.count();
  return stream.chunks.map(({ text }) => text).join('');
}

/** The events without the first, which a stream gets when it opens. */
const afterFirst = (body: string): string => body.slice(body.indexOf('\n\n') + 2);

for (const { name, start, skip } of [
  { name: 'Chromium', start: startChromium, skip: reasonAgainstChromium },
  { name: 'Firefox', start: startFirefox, skip: reasonAgainstFirefox },
])
  t.test(
    `[I.stream.message] [I.events] ${name} reads the contract's bytes`,
    { skip, timeout: 120_000 },
    async (t) => {
      const service = await serveProgram(t, { config: { stats: { stream_interval_seconds: 1 } } });
      const resolver = await Resolver.start();
      t.teardown(() => resolver.stop());
      const browser = await start(resolver.port);
      t.teardown(() => browser.close());
      const raw = await EventStream.openIn(t, service.port);
      const tab = await browser.openTab();
      await tab.goto(`http://127.0.0.1:${service.port}/`);
      await until(async () => (await tab.evaluate('document.readyState')) === 'complete' || undefined);

      const messages = JSON.parse(await tab.evaluate(EVENT_SOURCE)) as readonly {
        type: string;
        lastEventId: string;
        data: string;
      }[];
      const { status, type, reads } = JSON.parse(await tab.evaluate(FETCH)) as {
        status: number;
        type: string;
        reads: readonly string[];
      };
      const fetched = reads.join('');
      const last = fetched.slice(fetched.lastIndexOf('data: '));
      await until(() => bodyOf(raw).includes(last) || undefined);

      t.ok(messages.length >= SECONDS - 2, `EventSource: ${messages.length} messages in ${SECONDS} s`);
      t.strictSame(
        new Set(messages.map((message) => `${message.type} ${message.lastEventId}`)),
        new Set(['message ']),
      );
      const sent = messages.map(({ data }) => `data: ${data}\n\n`).join('');
      t.ok(bodyOf(raw).includes(afterFirst(sent)), 'EventSource: one event after the other, byte for byte');

      t.strictSame([status, type], [200, valuesOf(raw.head, 'content-type')[0]]);
      t.ok(reads.length >= SECONDS - 2, `fetch: ${reads.length} reads in ${SECONDS} s`);
      for (const read of reads)
        t.match(read, /^(?:data: [^\n]+\n\n)+$/, 'fetch: each read has whole events only');
      t.ok(bodyOf(raw).includes(afterFirst(fetched)), 'fetch: one event after the other, byte for byte');
      t.comment(`figure: ${browser.version}: ${messages.length} messages, ${reads.length} reads`);
    },
  );
