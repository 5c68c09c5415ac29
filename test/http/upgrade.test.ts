/** Which requests ask for a WebSocket (RFC 6455, 4.2.1). */
import t from 'tap';
import { asksForSocket, UPGRADE_HEADERS } from '#src/http/upgrade.js';

const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';

const COMPLETE = {
  connection: ['Upgrade'],
  upgrade: ['websocket'],
  'sec-websocket-key': [KEY],
} as const;

const asks = (change: Readonly<Record<string, readonly string[]>>, method = 'GET') =>
  asksForSocket({ method, headers: new Map(Object.entries({ ...COMPLETE, ...change })) });

t.test('[7.upgrade] lists in any case, order and number of lines', async (t) => {
  t.ok(asks({}));
  for (const upgrade of [
    ['WebSocket'],
    ['websocket, h2c'],
    ['h2c ,\twebsocket'],
    ['h2c', 'websocket'],
    [',websocket'],
  ])
    t.ok(asks({ upgrade }), upgrade.join(' | '));
  for (const connection of [['keep-alive, UPGRADE'], ['keep-alive', 'Upgrade']])
    t.ok(asks({ connection }), connection.join(' | '));
});

t.test('[7.upgrade] missing headers, and values that only look right', async (t) => {
  for (const upgrade of [
    [],
    [''],
    ['h2c'],
    ['websocket/13'],
    ['websockets'],
    ['web socket'],
    ['websocket;q=1'],
  ])
    t.notOk(asks({ upgrade }), `Upgrade: ${upgrade.join(' | ')}`);
  for (const connection of [[], ['close'], ['upgraded'], ['keep-alive Upgrade']])
    t.notOk(asks({ connection }), `Connection: ${connection.join(' | ')}`);
  for (const keys of [
    [],
    [''],
    [KEY, KEY],
    [KEY.slice(1)],
    [`${KEY}=`],
    ['____'.repeat(6)],
    [`${KEY}, ${KEY}`],
  ])
    t.notOk(asks({ 'sec-websocket-key': keys }), `Sec-WebSocket-Key: ${keys.join(' | ')}`);
  for (const method of ['POST', 'HEAD', 'get']) t.notOk(asks({}, method), method);
});

t.test('[7.upgrade] an engine reads all the headers that decide', async (t) => {
  t.strictSame([...UPGRADE_HEADERS].toSorted(), Object.keys(COMPLETE).toSorted());
});
