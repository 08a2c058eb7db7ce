import type { Belief } from '../../beliefs/belief.ts'
import type { Store } from '../ports.ts'
import type { MirrorFiles } from './mirror-files.ts'
import { placeBeliefs } from './place-beliefs.ts'
import { isMirrored } from './weigh.ts'

const pageSize = 500

/** Makes the files say what the store says: about these beliefs, or about all of them. */
export async function showChanges(files: MirrorFiles, store: Store, changed: readonly string[] | 'all'): Promise<void> {
  const { user } = files.state
  const wanted =
    changed === 'all' ? await store.idsStartingWith(user, '', Number.MAX_SAFE_INTEGER) : [...new Set(changed)]
  const nowhere: Belief[] = []
  for (let from = 0; from < wanted.length; from += pageSize) {
    const page = wanted.slice(from, from + pageSize)
    const beliefs = new Map((await store.getMany(user, page)).map((belief) => [belief.id, belief]))
    for (const id of page) {
      const belief = beliefs.get(id)
      if (belief === undefined || !isMirrored(belief)) await files.hide(id)
      else if (!(await files.show(belief))) nowhere.push(belief)
    }
  }
  files.mirror().document.ensureNewSection()
  await placeBeliefs(files, nowhere, store)
}
