import { existsSync, lstatSync, readlinkSync } from 'node:fs'

/** Folders of the system that programs need, besides the one of the interpreter. Only those that exist are shown. */
const folders = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store'] as const
const files = ['/etc/ld.so.cache', '/etc/alternatives'] as const

/** One thing of the system that a grader sees, read-only. */
export type Shown =
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  | { readonly kind: 'place'; readonly path: string }
  /** The interpreter's own folder, where that is no part of the system's. */
  | { readonly kind: 'interpreter'; readonly path: string }

/** What a grader sees of the system. Links stay links, so that every name works as it does outside. */
export function shownSystem(prefix: string): readonly Shown[] {
  const shownFolders = folders.flatMap((path): readonly Shown[] => {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats === undefined) return []
    return stats.isSymbolicLink() ? [{ kind: 'link', path, target: readlinkSync(path) }] : [{ kind: 'place', path }]
  })
  const shownFiles = files.filter((path) => existsSync(path)).map((path): Shown => ({ kind: 'place', path }))
  const isInSystem = folders.some((folder) => `${prefix}/`.startsWith(`${folder}/`))
  return [...shownFolders, ...shownFiles, ...(isInSystem ? [] : [{ kind: 'interpreter', path: prefix } as const])]
}
