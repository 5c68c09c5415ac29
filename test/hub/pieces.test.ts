/** Bytes of agents that arrive in the smallest pieces: what is kept and copied is in proportion to the bytes. */
import t from 'tap';
import { Parts } from '#src/agent/protocol/frames.js';

t.test('[I.hub.dial.long] parts that are empty or many end the message', async (t) => {
  const part = (mark: number, text = '') => Buffer.from(`${String.fromCharCode(mark)}${text}`);
  t.equal(new Parts().take(part(1)), 'bad', 'an empty one before the last');
  const parts = new Parts();
  let taken = 0;
  while (parts.take(part(1, 'x')) === 'more') taken++;
  t.equal(taken, 64, 'parts of one byte');
  const large = new Parts();
  const frame = Buffer.alloc(48 * 1024 + 1, 1);
  const whole = 20 * (frame.length - 1);
  for (let at = 0; at < 20; at++) t.equal(large.take(frame), 'more');
  t.ok(large.bufferedBytes >= whole, `${large.bufferedBytes} bytes are charged for ${whole}`);
  t.ok(large.bufferedBytes <= 2 * whole + 1024);
  const message = large.take(part(0));
  t.equal(typeof message === 'string' ? message : message.length, whole);
  t.equal(large.bufferedBytes, 0);
});
