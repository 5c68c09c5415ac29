/** A receiver of notifications on this machine, until the end of a test. */
import http, { type IncomingHttpHeaders } from 'node:http';
import { listen } from '../helpers/clients/listen.ts';
import type { Scope } from '../helpers/scope.ts';

export interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** As Standard Webhooks name a message. */
  readonly id: string;
}

/** `status`: of the answer, by the number of requests so far. */
export async function receive(t: Scope, status: (count: number) => number = () => 200) {
  const received: Received[] = [];
  const server = http.createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text) => {
      body += text;
    });
    request.on('end', () => {
      const { method, url, headers } = request;
      received.push({ method, url, headers, body, id: String(headers['webhook-id']) });
      response.writeHead(status(received.length), { 'Content-Type': 'application/json' }).end('{}');
    });
  });
  const address = `127.0.0.1:${await listen(t, server)}`;
  return { received, address, url: `http://${address}` };
}
