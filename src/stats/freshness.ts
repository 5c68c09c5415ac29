/**
 * Maximum age, in milliseconds since it was requested, of a reading that answers further equal requests. Less than a
 * second, so that polls at that pace get a new one each: a reading is taken up to some hundred milliseconds after its
 * poll, and the next poll may be early.
 */
export const FRESH_MS = 900;
