import { createHash } from 'node:crypto'
import { join } from 'node:path'

/** The file people and agents read first. */
export const mirrorFile = 'MEMORY.md'

/** The links to topic files, where there are too many of them for MEMORY.md. */
export const topicsFile = 'memory-scopes.md'

/** What the file says about itself. */
export const ownIntroduction =
  'What is remembered here, kept in step with the store beside it by Credence. Edit it as you like: a changed line is a\n' +
  'correction, a new line a new belief, a line taken out is retired. Words outside of these lists are left alone.'

/**
 * Where a mirror keeps what it knows about its files. None of it holds a text of a belief for longer than a moment.
 */
export type MirrorPlaces = {
  readonly dir: string
  readonly state: string
  readonly stateFile: string
  readonly lock: string
  /** What was in the place of a file before we wrote it, until nobody can be writing to it any more. */
  readonly displaced: string
  /** What the items of each file were after our last writings of it. */
  readonly imprints: string
  /** Lines of each file that are not ours. */
  readonly outside: string
  /** Which topic file a belief is in. */
  readonly where: string
}

export function mirrorPlaces(dir: string): MirrorPlaces {
  const state = join(dir, 'state', 'mirror')
  return {
    dir,
    state,
    stateFile: join(state, 'mirror.json'),
    lock: join(state, 'lock'),
    displaced: join(state, 'displaced'),
    imprints: join(state, 'imprints'),
    outside: join(state, 'outside'),
    where: join(state, 'where'),
  }
}

const longestSlug = 60

/**
 * The name of a scope's own file, without its ending: letters and digits of the scope. `isTaken` says which names
 * belong to something else; letter case does not tell names apart, since not every file system does.
 */
export function topicSlug(scope: string, isTaken: (slug: string) => boolean): string {
  const plain = scope
    .toLowerCase()
    .replace(/[^a-z0-9]+/gu, '-')
    .replace(/^-|-$/gu, '')
    .slice(0, longestSlug)
  const isFaithful = /^[a-z0-9:_/-]+$/u.test(scope) && plain !== '' && plain !== 'memory'
  if (isFaithful && !isTaken(plain)) return plain
  const hash = createHash('sha256').update(scope).digest('hex')
  for (let length = 6; ; length += 2) {
    const slug = `${plain || 'scope'}-${hash.slice(0, length)}`
    if (!isTaken(slug) || length >= hash.length) return slug
  }
}

export const topicFile = (slug: string, part: number): string => (part === 1 ? `${slug}.md` : `${slug}-${part}.md`)

/** When it was, in a name that sorts by it. */
export const stamp = (at: Date): string => at.toISOString().replace(/[-:]/gu, '').replace('.', '')
