import { readFile } from 'node:fs/promises'
import { extname, join, normalize, sep } from 'node:path'
import type { Context } from 'hono'
import { codeOf } from '../files/leftovers.ts'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
}

/** A name with a content hash, whose content never changes. */
const hashed = /^\/assets\/.+-[\w-]{8,}\.\w+$/u

const notBuilt =
  'The dashboard was not built. In a clone, `npm run build:web` builds it; the API under /api/v1 works.\n'

/** Serves the dashboard: its files, and `index.html` for every other path, which the dashboard renders as a page. */
export const staticFiles =
  (directory: string) =>
  async (context: Context): Promise<Response> => {
    const path = safePath(context.req.path)
    const file = path === null || path === '/' ? null : await readServed(directory, path)
    if (path !== null && file !== null) {
      context.header('cache-control', hashed.test(path) ? 'public, max-age=31536000, immutable' : 'no-cache')
      return context.body(file, 200, { 'content-type': types[extname(path)] as string })
    }
    if (path === null || isFileName(path)) return context.text('There is no such file.\n', 404)
    const index = await readServed(directory, '/index.html')
    if (index === null) return context.text(notBuilt, 503)
    context.header('cache-control', 'no-cache')
    return context.body(index, 200, { 'content-type': types['.html'] as string })
  }

/** Files are in assets and at the root; deeper paths are pages, whose ids may hold dots. */
const isFileName = (path: string): boolean =>
  path.startsWith('/assets/') || (path.lastIndexOf('/') === 0 && extname(path) !== '')

/** The decoded path; null if it is badly encoded, leaves the folder or names a hidden file. */
function safePath(encoded: string): string | null {
  let path: string
  try {
    path = decodeURIComponent(encoded)
  } catch {
    return null
  }
  const isSafe = path.startsWith('/') && !path.includes('\0') && !path.includes('\\') && !path.includes('/.')
  return isSafe && normalize(path).split(sep).join('/') === path ? path : null
}

/** The content of a file of a served type. The build has no symbolic links, so they are not checked. */
async function readServed(directory: string, path: string): Promise<Uint8Array<ArrayBuffer> | null> {
  if (types[extname(path)] === undefined) return null
  try {
    return new Uint8Array(await readFile(join(directory, ...path.split('/'))))
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG'].includes(codeOf(error) ?? '')) return null
    throw error
  }
}
