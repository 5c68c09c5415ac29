/** How many messages a socket may send, and when it is thrown out for sending more. */

const MESSAGE_MS = 1000 / 20;
const BURST = 40;
/** So many are refused with an answer, and as many a second more as are allowed; then it is a flood. */
const REFUSALS = 100;

export type Grant = 'granted' | 'refused' | 'flood';

/**
 * Two buckets that fill at the same rate: of messages, and behind it of refusals. Of each only the time is kept when it
 * will be full again, in whole milliseconds, for which V8 needs no object of their own: there may be ten thousand sockets.
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
