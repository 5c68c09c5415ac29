/** Limits the messages of a socket, and decides when one that sends too many is closed. */

const MESSAGE_MS = 1000 / 20;
const BURST = 40;
/**
 * This many excess messages are answered with RATE_LIMITED (refilled at the same rate as messages); beyond that the socket
 * is closed.
 */
const REFUSALS = 100;

export type Grant = 'granted' | 'refused' | 'flood';

/**
 * Two buckets that refill at the same rate: messages, and then refusals. Each is only the time when it will be full
 * again, in whole milliseconds, which V8 keeps without an object of their own: there may be ten thousand sockets.
 */
export class MessageRate {
  #messagesFullAt = 0;
  #refusalsFullAt = 0;

  take(nowMs: number): Grant {
    const now = Math.floor(nowMs);
    const messagesFullAt = Math.max(this.#messagesFullAt, now) + MESSAGE_MS;
    if (messagesFullAt - now <= BURST * MESSAGE_MS) {
      this.#messagesFullAt = messagesFullAt;
      return 'granted';
    }
    const refusalsFullAt = Math.max(this.#refusalsFullAt, now) + MESSAGE_MS;
    if (refusalsFullAt - now > REFUSALS * MESSAGE_MS) return 'flood';
    this.#refusalsFullAt = refusalsFullAt;
    return 'refused';
  }
}
