/** The code of the pages, in three files: many small ones would wait for each other. vite.config.ts names them to start.js. */
export const home = () => import('./home.tsx')
export const memory = () => import('./memory.ts')
export const secondary = () => import('./secondary-pages.ts')

const ofPage: Readonly<Record<string, () => Promise<unknown>>> = { '': home, recall: memory, beliefs: memory }

/** Loads the code of the page at a path. The page itself reports a failure. */
export const codeOf = (path: string): Promise<unknown> =>
  (ofPage[path.split('/')[1] ?? ''] ?? secondary)().catch(() => undefined)
