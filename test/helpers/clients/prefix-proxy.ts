/** A reverse proxy that serves a service under a path: it strips the prefix and knows nothing else. */
import http from 'node:http';
import type { Test } from 'tap';
import { listen } from './listen.ts';

export interface PrefixProxy {
  /** With the prefix, and without a slash at the end. */
  readonly baseUrl: string;
  /** Paths that were asked for outside the prefix. */
  readonly strays: readonly string[];
}

/** `prefix`: `/some/prefix`, without a slash at the end. */
export async function startPrefixProxy(
  t: Pick<Test, 'teardown'>,
  port: number,
  prefix: string,
): Promise<PrefixProxy> {
  const strays: string[] = [];
  const server = http.createServer((asked, answer) => {
    const { url = '', method, headers } = asked;
    if (!url.startsWith(`${prefix}/`)) {
      strays.push(url);
      answer.writeHead(404).end();
      return;
    }
    const path = url.slice(prefix.length);
    const onward = http.request({ host: '127.0.0.1', port, path, method, headers }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(answer);
    });
    onward.on('error', () => answer.destroy());
    answer.on('close', () => onward.destroy());
    asked.pipe(onward);
  });
  const own = await listen(t, server);
  return { baseUrl: `http://127.0.0.1:${own}${prefix}`, strays };
}
