import { resolve } from 'node:path'
import { findPacks, loadPack } from '../../../eval/kinds/retrieval/read-folder.ts'
import { checkPack, mostPassedByNone, type PackCheck } from '../../../eval/pack/check-pack.ts'
import { defaultEmbedder } from '../../../eval/system/embedders/open-embedder.ts'
import { defineCommand, text } from '../../command.ts'
import { exitCodes } from '../../exit-codes.ts'
import { columns } from '../../text-layout.ts'

/** Whether the packs are fit to judge by. */
export const evalCheck = defineCommand({
  args: {},
  options: { packs: { ...text('<directory>', 'Where the packs are.'), default: 'those that ship with Credence' } },
  description: `Reads every pack strictly, and fails one that finding nothing passes to more than ${mostPassedByNone * 100} %, or that has a case which no memory could pass.`,
  exitCodes: [exitCodes.failed],
  examples: [
    { command: 'credence eval check', effect: 'Checks the packs that ship with Credence.' },
    { command: 'credence eval check --packs ./my-packs', effect: 'Checks packs of your own.' },
  ],
  async run({ options }, session) {
    const evaluation = await session.evaluation()
    const packsDirectory =
      options.packs === undefined ? evaluation.packsDirectory : resolve(session.workingDirectory(), options.packs)
    const backends = evaluation.backends({ packsDirectory, embedder: defaultEmbedder })
    const checks: PackCheck[] = []
    for (const directory of findPacks(packsDirectory)) checks.push(await checkPack(loadPack(directory).pack, backends))
    const ok = checks.length > 0 && checks.every(({ problems }) => problems.length === 0)
    return {
      document: { ok, packs: checks },
      text: (style) => {
        const rows = checks.map(({ pack, cases, passedByNone, passedByOracle, problems }) => {
          const figures = `${cases} cases, none ${passedByNone}, oracle ${passedByOracle}`
          return [
            problems.length === 0 ? style.green('fit') : style.red('unfit'),
            pack,
            [figures, ...problems].join('\n'),
          ]
        })
        return columns(rows, { width: style.width })
      },
      notes: checks.length === 0 ? [`There are no packs in ${packsDirectory}.`] : [],
      exitCode: ok ? exitCodes.fine : exitCodes.failed,
    }
  },
})
