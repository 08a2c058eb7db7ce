import { resolve } from 'node:path'
import { importPack } from '../../../eval/pack/import-pack.ts'
import { defineCommand, flag, one } from '../../command.ts'
import { evalStore, storeOptions } from './benchmark-store.ts'
import { packText, validated } from './benchmark-validate.ts'

export const benchmarkImport = defineCommand({
  args: { path: one('A manifest, or the folder of a pack.') },
  options: { force: flag('Replace a pack that has the same id.'), ...storeOptions },
  description: 'Everything in the folder comes along. Links, huge files and deep folders are refused.',
  examples: [
    { command: 'credence benchmark import ./packs/mine', effect: 'Copies the pack into the store.' },
    { command: 'credence benchmark import ./packs/mine --force', effect: 'Replaces the one that is there.' },
  ],
  async run({ args: { path }, options }, session) {
    const { root } = evalStore(session, options)
    const { warnings } = await validated(session, path)
    const pack = await importPack(root, resolve(session.workingDirectory(), path), { force: options.force })
    return {
      document: { ok: true, pack },
      text: () => packText(pack),
      notes: [...warnings, `${pack.overwritten ? 'Replaced' : 'Imported to'} ${pack.targetDir}`],
    }
  },
})
