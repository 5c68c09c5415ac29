/** How full something is: `raised` needs attention, `high` soon leaves no room. */
export type Level = 'raised' | 'high' | undefined;

/** The percentages from which it is raised, and high. */
const RAISED = 85;
const HIGH = 95;

export const levelOf = (share: number | null): Level =>
  (share ?? 0) >= HIGH ? 'high' : (share ?? 0) >= RAISED ? 'raised' : undefined;

/** The shape that stands for a level, or for the severity of an event, beside its colour. */
export const MARKS = { raised: '▲', high: '●' } as const;
