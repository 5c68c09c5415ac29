/** The table of requests is complete: each command of the service and each operation of a machine has a row. */
import t from 'tap';
import { mediaCommands } from '#src/commands/media.js';
import { powerCommands } from '#src/commands/power.js';
import { processCommands } from '#src/commands/process.js';
import { wakeCommands } from '#src/commands/wake.js';
import { REQUESTS, requestOfMessage } from '#src/machine/requests.js';
import { OPERATIONS, type Operation } from '#src/wire/operations.js';
import { OPS } from '#src/wire/socket.js';

/** The rows of a group of commands, none of which is run here. */
const rowsOf = (create: (control: never) => readonly { readonly name: string }[]) =>
  create(undefined as never);
const COMMANDS = [powerCommands, mediaCommands, processCommands, wakeCommands].flatMap(rowsOf);

t.test('each command has a row, and each row of a command a command', async (t) => {
  const rows = [...REQUESTS.values()].filter(({ isCommand }) => isCommand);
  t.strictSame(rows.map(({ name }) => name).sort(), COMMANDS.map(({ name }) => name).sort());
});

t.test(
  'each operation on a machine of a hub has a row, unless it is a stream or the hub answers it',
  async (t) => {
    const rows: Readonly<Record<string, Operation>> = OPERATIONS;
    const others = ['openStream', 'openSocket', 'getAccess'];
    const isAsked = (id: string) => rows[id]?.onHost !== undefined && !others.includes(id);
    const onHost = Object.keys(rows).filter(isAsked);
    const named = new Set<string>([...REQUESTS.values()].map(({ operation }) => operation));
    t.strictSame([...named].sort(), onHost.sort());
  },
);

t.test('each op asks the machine, or concerns its socket only', async (t) => {
  const own = ['subscribe', 'unsubscribe', 'get', 'ping'];
  for (const op of Object.keys(OPS)) {
    const data = { action: op === 'power' ? 'sleep' : 'play', name: 'system' };
    const asked = requestOfMessage({ op, id: undefined, data } as never); // Other data do not matter here.
    t.equal(asked !== undefined, !own.includes(op), op);
    if (asked !== undefined) t.ok(REQUESTS.has(asked.what), asked.what);
  }
});
