import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readLive } from './live-file.ts'
import { type MirrorPlaces, mirrorFile } from './places.ts'
import { parseSegments } from './segments.ts'
import { keyOf, type MirrorState, newState } from './state.ts'

/**
 * The records of a mirror made from its files: there are none, or they cannot be read. Without any files of ours it is a
 * new mirror.
 */
export function rediscover(places: MirrorPlaces, user: string): MirrorState {
  const { dir } = places
  const state = newState(user, keyOf(places))
  for (const name of readdirSync(dir).filter((one) => one.endsWith('.md') && !one.startsWith('MEMORY.conflict-'))) {
    const live = readLive(join(dir, name))
    if (live.kind !== 'read') continue
    const segments = parseSegments(live.text)
    const mark = segments.find((segment) => segment.kind === 'mark')
    if (mark === undefined) continue
    state.generation = Math.max(state.generation, mark.generation)
    const scope = segments.find((segment) => segment.kind === 'scope')?.scope ?? null
    if (name !== mirrorFile && scope === null) continue
    const items = segments.filter(({ kind }) => kind === 'item').length
    state.files[name] = {
      scope: name === mirrorFile ? null : scope,
      signature: '',
      hash: '',
      items,
      bytes: live.bytes.length,
      outside: '',
    }
    if (name !== mirrorFile && scope !== null) noteTopic(state, scope, name)
  }
  return state
}

function noteTopic(state: MirrorState, scope: string, name: string): void {
  const [, slug = '', part] = /^(.*?)(?:-(\d+))?\.md$/u.exec(name) ?? []
  const known = state.topics[scope]
  const isPart = known !== undefined && part !== undefined && slug === known.slug
  if (isPart) known.parts = Math.max(known.parts, Number(part))
  else if (known === undefined || name.length < `${known.slug}.md`.length)
    state.topics[scope] = { slug: name.slice(0, -'.md'.length), parts: known?.parts ?? 1 }
}
