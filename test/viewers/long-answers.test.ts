/** Answers to the op `request` that are longer than the other end takes. */
import t, { type Test } from 'tap';
import { OWN_ACCOUNT } from '#src/access/caller.js';
import type { Machine, MachineAnswer } from '#src/machine/machine.js';
import { answerRequest } from '#src/viewers/socket/socket-requests.js';
import type { SocketRequest } from '#src/wire/socket.js';

async function answerTo(test: Pick<Test, 'fail'>, answer: MachineAnswer): Promise<unknown> {
  const sent: string[] = [];
  const requester = {
    caller: OWN_ACCOUNT,
    owner: {},
    send: (text: string) => void sent.push(text),
    sendTracked: (text: string) => void sent.push(text),
    cork: (body: () => void) => body(),
  };
  const request: SocketRequest = {
    op: 'request',
    id: 7,
    data: { name: 'processes', params: {}, steps: false },
  };
  const deps = {
    log: { error: (text: string) => test.fail(text), audit: () => undefined },
    gate: { noteRefusal: () => undefined },
    clock: { sinceBoot: () => 0 },
  };
  // Nothing else of a machine is used.
  const machine = { ask: async () => answer } as Partial<Machine> as Machine;
  await answerRequest(machine, requester, request, { host: undefined, id: 7 }, deps);
  return JSON.parse(sent.join(''));
}

t.test('an answer above 1.5 MiB is refused, so that the connection stays', async (t) => {
  const list = (bytes: number) => ({ bytes: JSON.stringify({ name: 'x'.repeat(bytes) }) });
  t.match(await answerTo(t, list(1.4 * 2 ** 20)), { type: 'answer', id: 7, data: { body: { name: /^x/ } } });
  t.match(await answerTo(t, list(1.6 * 2 ** 20)), {
    type: 'answer',
    id: 7,
    data: { error: { code: 'payload_too_large', message: 'The answer has more than 1.5 MiB.' } },
  });
});
