/**
 * How long a reading answers those who ask for the same, in milliseconds from the moment at which it was asked for. Less
 * than a second, so that polls at that pace get a new one each: a reading is taken up to some hundred milliseconds after
 * its poll, and the next poll may be early.
 */
export const FRESH_MS = 900;
