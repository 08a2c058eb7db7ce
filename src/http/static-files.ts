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

/** A name with the hash of its content in it never means anything else. */
const hashed = /^\/assets\/.+-[\w-]{8,}\.\w+$/u

const notBuilt =
  'The dashboard was not built. In a clone, `npm run build:web` builds it; the API under /api/v1 works.\n'

/**
 * The files of the dashboard. An address that is no file is a page of it, which its index draws; one that looks like a
 * file and is none is not found.
 */
export const staticFiles =
  (directory: string) =>
  async (context: Context): Promise<Response> => {
    const path = safePath(context.req.path)
    if (path === null) return context.text('There is no such file.\n', 404)
    const found = path === '/' ? null : await fileAt(directory, path)
    if (found !== null) {
      context.header('cache-control', hashed.test(path) ? 'public, max-age=31536000, immutable' : 'no-cache')
      return context.body(found, 200, { 'content-type': types[extname(path)] as string })
    }
    if (isFileName(path)) return context.text('There is no such file.\n', 404)
    const index = await fileAt(directory, '/index.html')
    if (index === null) return context.text(notBuilt, 503)
    context.header('cache-control', 'no-cache')
    return context.body(index, 200, { 'content-type': types['.html'] as string })
  }

/** Files lie in assets and at the root; below that are pages, whose addresses hold ids with any dots in them. */
const isFileName = (path: string): boolean =>
  path.startsWith('/assets/') || (path.lastIndexOf('/') === 0 && extname(path) !== '')

/** The address as a path that goes down only; null for any other. */
function safePath(address: string): string | null {
  let path: string
  try {
    path = decodeURIComponent(address)
  } catch {
    return null
  }
  if (path.includes('\0') || path.includes('\\') || !path.startsWith('/')) return null
  const plain = normalize(path).split(sep).join('/')
  const isHidden = plain.split('/').some((part) => part.startsWith('.'))
  return plain === path && !isHidden ? plain : null
}

/** Its bytes, where there is a file of a kind that is served. The build has no links in it, so none are looked for. */
async function fileAt(directory: string, path: string): Promise<Uint8Array<ArrayBuffer> | null> {
  if (types[extname(path)] === undefined) return null
  try {
    return new Uint8Array(await readFile(join(directory, ...path.split('/'))))
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR' || code === 'ENAMETOOLONG') return null
    throw error
  }
}
