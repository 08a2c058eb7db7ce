import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Context } from 'hono'
import { getMimeType } from 'hono/utils/mime'
import { ifPresent } from '../files/leftovers.ts'
import { RecentMap } from '../recent-map.ts'

/** A name with a content hash, whose content never changes. */
const hashed = /^\/assets\/.+-[\w-]{8,}\.\w+$/u

const notBuilt =
  'The dashboard was not built. In a clone, `npm run build:web` builds it; the API under /api/v1 works.\n'

/** Serves the dashboard: its files, and `index.html` for every other path, which the dashboard renders as a page. */
export const staticFiles =
  (directory: string) =>
  async (context: Context): Promise<Response> => {
    const paths = pathsIn(directory)
    const { path: asked } = context.req
    const isFile = paths.includes(asked)
    if (!isFile && isFileName(asked)) return context.text('There is no such file.\n', 404)
    const path = isFile ? asked : '/index.html'
    if (!paths.includes(path)) return context.text(notBuilt, 503)
    context.header('cache-control', hashed.test(path) ? 'public, max-age=31536000, immutable' : 'no-cache')
    return answer(context, new Uint8Array(await readFile(join(directory, path))), getMimeType(path) ?? 'text/plain')
  }

/** The paths of the served files as addresses have them. No other file can be reached. The build has no symbolic links. */
const pathsIn = (directory: string): readonly string[] =>
  (ifPresent(() => readdirSync(directory, { recursive: true, encoding: 'utf8' })) ?? [])
    .map((name) => `/${name.split(sep).join('/')}`)
    .filter((path) => getMimeType(path) !== undefined && !path.includes('/.'))

/** Small files gain nothing, and pictures are compressed already. */
const minCompressedBytes = 600
const compressible = /^(?:text|application\/json|image\/svg)/u

/** Compressed once: the files of a build are few and never change under their name and size. */
const compressed = new RecentMap<Uint8Array<ArrayBuffer>>(50)

/** A file, compressed as the browser likes it best. */
async function answer(context: Context, file: Uint8Array<ArrayBuffer>, type: string): Promise<Response> {
  const accepted = context.req.header('accept-encoding') ?? ''
  const encoding = accepted.includes('br') ? 'br' : accepted.includes('gzip') ? 'gzip' : null
  context.header('vary', 'accept-encoding')
  if (encoding === null || file.length < minCompressedBytes || !compressible.test(type))
    return context.body(file, 200, { 'content-type': type })
  const key = `${encoding} ${createHash('sha256').update(file).digest('base64')}`
  const known =
    compressed.get(key) ?? compressed.set(key, new Uint8Array(await (encoding === 'br' ? brotli(file) : zip(file))))
  return context.body(known, 200, { 'content-type': type, 'content-encoding': encoding })
}

/** The best quality, 11, takes thirty times as long for a tenth less, and the first page waits for it. */
const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }
const brotli = (file: Uint8Array) => promisify(brotliCompress)(file, quality)
const zip = promisify(gzip)

/** Files are in assets and at the root; deeper paths are pages, whose ids may contain dots. A badly encoded path is never a page. */
const isFileName = (path: string): boolean =>
  path.startsWith('/assets/') || (path.lastIndexOf('/') === 0 && extname(path) !== '') || /%(?![\da-f]{2})/iu.test(path)
