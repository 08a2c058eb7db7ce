import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { kindOf } from '../../../eval/kinds/kind.ts'
import { type PackSummary, validatePack } from '../../../eval/pack/import-pack.ts'
import { manifestOf } from '../../../eval/pack/manifest.ts'
import { defaultEmbedder } from '../../../eval/system/embedders/open-embedder.ts'
import { defineCommand, one } from '../../command.ts'
import { harmless } from '../../output.ts'
import { packKinds } from '../../pack-kinds.ts'
import type { Session } from '../../session.ts'
import { columns, counted } from '../../text-layout.ts'

export const benchmarkValidate = defineCommand({
  args: { path: one('A manifest, or the folder of a pack.') },
  options: {},
  description: 'Changes nothing. A pack that names a runner is read as the runner reads it, case by case.',
  examples: [
    {
      command: 'credence benchmark validate ./packs/mine',
      effect: 'Says what is wrong, with file and field, or what the pack is.',
    },
    { command: 'credence benchmark validate manifest.json --json', effect: 'Checks a manifest by itself.' },
  ],
  async run({ args: { path } }, session) {
    const { pack, warnings } = await validated(session, path)
    return { document: { ok: true, pack, warnings }, text: () => packText(pack), notes: warnings }
  },
})

export async function validated(
  session: Session,
  given: string,
): Promise<{ readonly pack: PackSummary; readonly warnings: readonly string[] }> {
  const path = resolve(session.workingDirectory(), given)
  const pack = await validatePack(path)
  if (pack.runner === undefined || !statSync(path).isDirectory()) return { pack, warnings: [] }
  const place = { directory: path, manifest: manifestOf(path) }
  return {
    pack,
    warnings: kindOf(place, await packKinds(session, { runner: pack.runner, embedder: defaultEmbedder })).read(place)
      .warnings,
  }
}

export function packText(pack: PackSummary): string {
  const redTeam =
    pack.attackClass === undefined ? [] : [['attack', `${pack.attackClass} against ${pack.targetSurface}`]]
  const rows = [
    ['pack', `${pack.benchmarkId}: ${pack.title}`],
    ['type', pack.benchmarkType],
    ...redTeam,
    ['cases', String(pack.totalCases)],
    ['files', counted(pack.files, 'file')],
    ['runner', pack.runner ?? 'none: can be kept and compared, but not run'],
    ['hash', pack.packHash],
    ...(pack.tags.length === 0 ? [] : [['tags', pack.tags.join(', ')]]),
    ...(pack.sourceLinks.length === 0 ? [] : [['sources', pack.sourceLinks.join(' ')]]),
  ]
  return harmless(columns(rows, { indent: 0 }))
}
