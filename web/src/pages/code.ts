/** The code of the pages, in three files: many small ones would wait for each other. vite.config.ts names them to start.js. */
export const home = () => import('./home/home-page.tsx')
export const memory = () => import('./memory.ts')
export const later = () => import('./later.ts')

const ofPage: Readonly<Record<string, () => Promise<unknown>>> = { '': home, recall: memory, beliefs: memory }

/** Fetches what the page of a path needs. A page that cannot be fetched says so itself. */
export const codeOf = (path: string): Promise<unknown> =>
  (ofPage[path.split('/')[1] ?? ''] ?? later)().catch(() => undefined)
