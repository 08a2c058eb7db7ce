import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Context } from 'hono'
import { getMimeType } from 'hono/utils/mime'
import { nullIfMissing } from '../files/leftovers.ts'
import { RecentMap } from '../recent-map.ts'

/** A file name that contains a hash of the content, so the content under this name never changes. */
const hashed = /^\/assets\/.+-[\w-]{8,}\.\w+$/u

const notBuilt =
  'The dashboard was not built. In a clone, `npm run build:web` builds it; the API under /api/v1 works.\n'

/** Serves the files of the dashboard, and `index.html` for all other paths, which are pages of the dashboard. */
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
    return answerFile(context, new Uint8Array(await readFile(join(directory, path))), getMimeType(path) ?? 'text/plain')
  }

/** The URL paths of the served files. No other file is served. The build has no symbolic links. */
const pathsIn = (directory: string): readonly string[] =>
  (nullIfMissing(() => readdirSync(directory, { recursive: true, encoding: 'utf8' })) ?? [])
    .map((name) => `/${name.split(sep).join('/')}`)
    .filter((path) => getMimeType(path) !== undefined && !path.includes('/.'))

/** Smaller files, and types such as images, are not worth compressing. */
const minCompressedBytes = 600
const compressible = /^(?:text|application\/json|image\/svg)/u

/** A cache of compressed files, by encoding and content hash. */
const compressed = new RecentMap<Uint8Array<ArrayBuffer>>(50)

/** Responds with a file, compressed with the best encoding that the browser accepts. */
async function answerFile(context: Context, file: Uint8Array<ArrayBuffer>, type: string): Promise<Response> {
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

/** The maximum quality, 11, takes thirty times as long and saves only a tenth more, and the first page view waits for it. */
const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }
const brotli = (file: Uint8Array) => promisify(brotliCompress)(file, quality)
const zip = promisify(gzip)

/** Whether a path can only be a file: in assets, at the root with an extension, or badly encoded. Ids of pages may contain dots. */
const isFileName = (path: string): boolean =>
  path.startsWith('/assets/') || (path.lastIndexOf('/') === 0 && extname(path) !== '') || /%(?![\da-f]{2})/iu.test(path)
