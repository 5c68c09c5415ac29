/** Requests to a service in a virtual machine, each over a connection of its own. */
import http from 'node:http';

export interface Reply {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
  /** When the last byte of the answer had been read; Unix milliseconds. */
  readonly readAtMs: number;
}

/** Rejects when there is no whole answer within `limitMs`. */
export function request(
  port: number,
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
  limitMs = 20_000,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    const options = { host: '127.0.0.1', port, method, path, headers, agent: false, timeout: limitMs };
    const sent = http.request(options, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      answer.on('error', reject);
      answer.on('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          body: text,
          readAtMs: Date.now(),
        }),
      );
    });
    sent.on('error', reject);
    sent.on('timeout', () => sent.destroy(new Error(`no answer to ${method} ${path} in ${limitMs} ms`)));
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
