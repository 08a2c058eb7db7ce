import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { kindOf } from '../../../eval/kinds/kind.ts'
import { importPack, type PackSummary, validatePack } from '../../../eval/pack/import-pack.ts'
import { manifestOf } from '../../../eval/pack/manifest.ts'
import { defaultEmbedder } from '../../../eval/system/open-embedder.ts'
import { defineCommand } from '../../command/command.ts'
import { flag, one } from '../../command/options.ts'
import { packKinds } from '../../evaluation.ts'
import type { Session } from '../../session.ts'
import { counted, harmless, table } from '../../text/output.ts'
import { evalStore, storeOptions } from './benchmark-store.ts'

export const benchmarkValidate = defineCommand({
  args: { path: one('A manifest, or the folder of a pack.') },
  options: {},
  description: 'Changes nothing. A pack with a runner is checked case by case, as the runner would read it.',
  examples: {
    'credence benchmark validate ./packs/mine': 'Shows errors with file and field, or a summary of the pack.',
    'credence benchmark validate manifest.json --json': 'Checks a manifest by itself.',
  },
  async run({ args: { path } }, session) {
    const { pack, warnings } = await validateFolder(session, path)
    return { document: { ok: true, pack, warnings }, text: () => packText(pack), notes: warnings }
  },
})

export async function validateFolder(
  session: Session,
  given: string,
): Promise<{ readonly pack: PackSummary; readonly warnings: readonly string[] }> {
  const path = resolve(session.workingDirectory(), given)
  const pack = await validatePack(path)
  if (pack.runner === undefined || !statSync(path).isDirectory()) return { pack, warnings: [] }
  const place = { directory: path, manifest: manifestOf(path) }
  const kinds = await packKinds(session, { runner: pack.runner, embedder: defaultEmbedder })
  return { pack, warnings: kindOf(place, kinds).read(place).warnings }
}

export function packText(pack: PackSummary): string {
  const { attackClass, targetSurface, tags, sourceLinks } = pack
  const facts = {
    pack: `${pack.benchmarkId}: ${pack.title}`,
    type: pack.benchmarkType,
    attack: attackClass !== undefined && `${attackClass} against ${targetSurface}`,
    cases: String(pack.totalCases),
    files: counted(pack.files, 'file'),
    runner: pack.runner ?? 'none: can be kept and compared, but not run',
    hash: pack.packHash,
    tags: tags.length > 0 && tags.join(', '),
    sources: sourceLinks.length > 0 && sourceLinks.join(' '),
  }
  const rows = Object.entries(facts).flatMap(([label, fact]) => (fact === false ? [] : [[label, fact]]))
  return harmless(table(rows))
}

export const benchmarkImport = defineCommand({
  args: { path: one('A manifest, or the folder of a pack.') },
  options: { force: flag('Replace a pack that has the same id.'), ...storeOptions },
  description: 'Copies the whole folder. Symbolic links, very large files and deeply nested folders are refused.',
  examples: {
    'credence benchmark import ./packs/mine': 'Copies the pack into the store.',
    'credence benchmark import ./packs/mine --force': 'Replaces the pack with the same id.',
  },
  async run({ args: { path }, options }, session) {
    const { root } = evalStore(session, options)
    const { warnings } = await validateFolder(session, path)
    const pack = await importPack(root, resolve(session.workingDirectory(), path), { force: options.force })
    return {
      document: { ok: true, pack },
      text: () => packText(pack),
      notes: [...warnings, `${pack.overwritten ? 'Replaced' : 'Imported to'} ${pack.targetDir}`],
    }
  },
})
