/** Wrong keys as fast as the service takes them: a guess per request, on kept connections and on new ones. */
import { requestBytes } from '../../helpers/clients/http.ts';
import { below, type Random } from '../../http/mutate.ts';
import { type Attack, atFullSpeed, type Place, pause, type Target } from '../target.ts';

const PIPELINED = 50;
const KEPT_CONNECTIONS = 8;
const NEW_CONNECTIONS = 32;
/** A line immediately, and then one per minute with their number. */
const WRONG_KEY = /access: wrong key/;
const ANSWER_SECONDS = 4;

function guess({ machine }: Place, random: Random): Buffer {
  const key = below(2 ** 31, random)
    .toString(16)
    .padStart(64, 'k');
  return requestBytes(`${machine}/pw/cancel`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}` },
  });
}

const KEPT: Attack = {
  name: 'wrong keys at full speed, on kept connections',
  keyedLog: WRONG_KEY,
  unit: 'keys',
  run: (target, random, signal) =>
    atFullSpeed(KEPT_CONNECTIONS, signal, async () => {
      const socket = await target.connect();
      target.expect(socket, ANSWER_SECONDS, 'answer');
      const batch = Buffer.concat(Array.from({ length: PIPELINED }, () => guess(target.place, random)));
      target.count(PIPELINED * (await target.pour(socket, batch, signal)));
      await pause(5, signal);
    }),
};

/** Waits for the answer: each worker knows of each key whether it is right. */
async function tryOne(target: Target, random: Random, signal: AbortSignal): Promise<void> {
  const socket = await target.connect();
  target.expect(socket, ANSWER_SECONDS, 'answer');
  const answered = new Promise<void>((resolve) => {
    const done = () => resolve();
    socket.once('data', done).once('close', done);
    signal.addEventListener('abort', done, { once: true });
    socket.once('close', () => signal.removeEventListener('abort', done));
  });
  if (socket.writable) socket.write(guess(target.place, random));
  else return;
  await answered;
  target.count();
  // At the end of the attack it is closed after it was judged.
  if (!signal.aborted) socket.destroy();
}

const NEW: Attack = {
  name: 'wrong keys at full speed, on new connections',
  keyedLog: WRONG_KEY,
  unit: 'keys',
  run: (target, random, signal) => atFullSpeed(NEW_CONNECTIONS, signal, () => tryOne(target, random, signal)),
};

export const KEYS: readonly Attack[] = [KEPT, NEW];
