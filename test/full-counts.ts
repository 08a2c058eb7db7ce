/** How often a property is tried: `whole` times by `npm run test:slow`, a fifth of that by `npm test`. */
export const tries = (whole: number): number => (process.env.MODE === 'slow' ? whole : Math.ceil(whole / 5))

/** How often a slow test repeats something: `full` times if CREDENCE_TEST_FULL is true, else a tenth of that. */
export const count = (full: number): number =>
  process.env.CREDENCE_TEST_FULL === 'true' ? full : Math.max(1, Math.ceil(full / 10))
