/** The lines of curl in README.md and docs/, and their answers. */
/** The status that a line is answered with. */
export const statusOf = (text: string) =>
  /^curl -i http:\/\/localhost:9990\/api\/(?:ws|agent)$/.test(text) ? 426 : 200;

/** The keys of the first event of a stream. */
export const keysOf = (stream: string): readonly string[] =>
  Object.keys(JSON.parse(/^data: (.*)$/m.exec(stream)?.[1] ?? '{}') as object);

/** Returns the keys of the events that the line of a stream requests; a hub sends all machines in one event. */
export function fieldsOf(line: string): readonly string[] {
  // It begins with the events that last: none in tests.
  if (line.includes('/api/events')) return [];
  if (line.includes('/api/fleet/')) return ['at', 'all', 'hosts', 'removed'];
  const [, fields = ''] = /fields=([\w,]*)/.exec(line) ?? [];
  return ['timestamp', 'uptime', ...fields.split(',')];
}

export interface Sent {
  readonly url: string;
  readonly method: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly isStream: boolean;
}

/** Returns the request that curl would send for a line; throws for an option that the docs do not use. */
export function readLine(line: string): Sent {
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain = '']) => quoted ?? plain);
  let method: string | undefined;
  let body: string | undefined;
  let isStream = false;
  const headers: Record<string, string> = {};
  const urls: string[] = [];
  for (let at = 1; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '-i') continue;
    else if (word === '-N') isStream = true;
    else if (word === '-X') method = words[++at];
    else if (word === '-d') body = words[++at];
    else if (word === '-o') at++;
    else if (word === '-H') {
      const [, name = '', value = ''] = /^([^:]+): (.*)$/.exec(words[++at] ?? '') ?? [];
      headers[name] = value;
    } else if (word.startsWith('-')) throw new Error(`${line}: ${word} is not known`);
    else urls.push(word.startsWith('http') ? word : `http://${word}`);
  }
  const [url] = urls;
  if (url === undefined || urls.length > 1) throw new Error(`${line}: one URL is expected`);
  return { url, method, headers, body, isStream };
}
