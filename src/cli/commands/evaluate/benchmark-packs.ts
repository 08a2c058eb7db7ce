import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { packFolders } from '../../../eval/pack/manifest.ts'
import { manifestName, packPath } from '../../../eval/store/layout.ts'
import { isSafeId } from '../../../eval/store/schemas/primitives.ts'
import type { Session } from '../../session.ts'
import { UsageError } from '../../usage-error.ts'

/** The folder of a pack that is named by a path, or by the id of one in the eval store or among those that ship. */
export function packDirectory(
  given: string,
  { session, root, shipped }: { readonly session: Session; readonly root: string; readonly shipped: string },
): string {
  const places = [
    ...(isSafeId(given) ? [packPath(root, given), join(shipped, given)] : []),
    resolve(session.workingDirectory(), given),
  ]
  const found = places.find((path) => existsSync(join(path, manifestName)))
  if (found !== undefined) return found
  const alone = resolve(session.workingDirectory(), given)
  if (statSync(alone, { throwIfNoEntry: false })?.isFile()) {
    throw new UsageError(`${given} is a file.`, 'A pack is run from its folder, with the files its manifest names.')
  }
  throw new UsageError(
    `There is no pack "${given}".`,
    `Give a folder with a manifest.json, or one of ${idsIn(root, shipped).join(', ')}.`,
  )
}

function idsIn(root: string, shipped: string): readonly string[] {
  const own = join(root, 'benchmarks')
  const directories = [...(existsSync(own) ? packFolders(own) : []), ...packFolders(shipped)]
  return [...new Set(directories.map((path) => path.split(/[\\/]/u).at(-1) ?? path))]
}
