/** The code of the pages, in three files that load faster than many small ones. vite.config.ts passes their names to start.js. */
export const home = () => import('./home.tsx')
export const memory = () => import('./memory.ts')
export const secondary = () => import('./secondary-pages.ts')

const ofPage: Readonly<Record<string, () => Promise<unknown>>> = { '': home, recall: memory, beliefs: memory }

/** Loads the code of the page at a path. Ignores a failure, because the page reports it. */
export const loadPageCode = (path: string): Promise<unknown> =>
  (ofPage[path.split('/')[1] ?? ''] ?? secondary)().catch(() => undefined)
