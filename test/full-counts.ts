/** The number of tries of a property: `whole` in `npm run test:slow`, a fifth of that in `npm test`. */
export const tries = (whole: number): number => (process.env.MODE === 'slow' ? whole : Math.ceil(whole / 5))

/** The number of repeats in a slow test: `full` if CREDENCE_TEST_FULL is true, otherwise a tenth of that. */
export const count = (full: number): number =>
  process.env.CREDENCE_TEST_FULL === 'true' ? full : Math.max(1, Math.ceil(full / 10))
