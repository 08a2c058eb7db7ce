/** What is compared. */
export const comparedBackends = ['bm25', 'vector', 'vector-calibrated', 'hybrid'] as const
/** What shows how much of a result the cases give away: printed with every table, and never gated. */
export const controlBackends = ['none', 'everything', 'exact', 'oracle'] as const
export const backendNames = [...comparedBackends, ...controlBackends] as const
export type OwnBackend = (typeof backendNames)[number]

/** Whether a system of a run is a control, or an extractor that is one. */
export const isControlName = (name: string): boolean =>
  controlBackends.some((control) => name === control || name === `learn:${control}`)
