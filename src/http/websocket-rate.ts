/** How many messages a socket may send, and when it is thrown out for sending more. */

const MESSAGES_A_SECOND = 20;
const BURST = 40;
/** So many are refused with an answer, and as many a second more as are allowed; then it is a flood. */
const REFUSALS = 100;

export type Grant = 'granted' | 'refused' | 'flood';

/** Two buckets that fill at the same rate: of messages, and behind it of refusals. */
export class MessageRate {
  #messages = BURST;
  #refusals = REFUSALS;
  #atMs: number;

  constructor(nowMs: number) {
    this.#atMs = nowMs;
  }

  take(nowMs: number): Grant {
    const gained = ((nowMs - this.#atMs) / 1000) * MESSAGES_A_SECOND;
    this.#atMs = nowMs;
    this.#messages = Math.min(BURST, this.#messages + gained);
    this.#refusals = Math.min(REFUSALS, this.#refusals + gained);
    if (this.#messages >= 1) {
      this.#messages--;
      return 'granted';
    }
    if (this.#refusals < 1) return 'flood';
    this.#refusals--;
    return 'refused';
  }
}
