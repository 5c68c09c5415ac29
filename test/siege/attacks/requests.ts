/** Requests in numbers: pipelined, expensive ones, and answers that are not read. */
import { requestBytes } from '../../helpers/clients/http.ts';
import { below, pick, type Random } from '../../http/mutate.ts';
import { startScript } from '../scripts.ts';
import { type Attack, atRate, type Place, send, type Target } from '../target.ts';
import { held } from './shapes.ts';

const PIPELINED = 100;

function pipelined(what: string, pathOf: (place: Place) => string): Attack {
  return {
    name: `pipelined GETs of ${what}, unread`,
    unit: 'requests',
    run: (target, _random, signal) => {
      const request = requestBytes(pathOf(target.place)).toString();
      return atRate(8, signal, async () => {
        send(await target.connect(), request.repeat(PIPELINED));
        target.count(PIPELINED);
      });
    },
  };
}

const unread = (what: string, pathOf: (place: Place) => string): Attack =>
  held({ name: `GETs of ${what}, unread`, unit: 'requests' }, { perSecond: 50, max: 200 }, async (target) =>
    send(await target.connect(), requestBytes(pathOf(target.place))),
  );

/** A query that differs from the others, so that no two answers can be shared. */
export function listQuery(random: Random): Readonly<Record<string, string | number | boolean>> {
  return {
    sort: pick(['cpu', 'memory', 'disk', 'name'], random) ?? 'cpu',
    limit: 10_000 - below(500, random),
    grouped: false,
    query: pick(['', 'e', 'o', 'a', '/', 'x'.repeat(60)], random) ?? '',
  };
}

const LISTS: Attack = {
  name: 'process lists over HTTP, all different',
  unit: 'requests',
  run: (target, random, signal) =>
    atRate(1, signal, () =>
      Promise.all(
        Array.from({ length: 20 }, async () => {
          const query = Object.entries(listQuery(random)).map(([key, value]) => `${key}=${value}`);
          const socket = await target.connect();
          socket.resume();
          send(
            socket,
            requestBytes(`${target.place.machine}/processes?${query.join('&')}`, {
              headers: { Connection: 'close' },
            }),
          );
          target.count();
        }),
      ),
    ),
};

/** Readers in Python, because Node cannot set the size of a receive buffer. */
function smallBuffers(what: string, pathOf: (place: Place) => string, mode: 'never' | 'byte'): Attack {
  return {
    name: what,
    unit: 'connections',
    seconds: 25,
    run: async (target: Target, _random, signal) => {
      const { port } = target.place;
      const count = 100;
      await startScript(target, 'readers.py', [String(port), pathOf(target.place), String(count), mode]);
      target.count(count);
      await atRate(1, signal, () => undefined);
    },
  };
}

export const REQUESTS: readonly Attack[] = [
  pipelined("the dashboard's script", ({ script }) => script),
  pipelined('/api/status', () => '/api/status'),
  pipelined('the OpenAPI document', () => '/api/openapi.json'),
  unread("the dashboard's script", ({ script }) => script),
  unread('the OpenAPI document', () => '/api/openapi.json'),
  unread('the cover', ({ machine }) => `${machine}/media/art`),
  LISTS,
  smallBuffers('documents to receive buffers of 2 KiB, unread', () => '/api/openapi.json', 'never'),
  smallBuffers('documents read at one byte per second', () => '/api/openapi.json', 'byte'),
  smallBuffers('streams read at one byte per second', ({ stream }) => `${stream}?detail=1`, 'byte'),
];
