import { findPacks, loadPack } from '../../../eval/kinds/retrieval/pack.ts'
import { checkPack, mostPassedByNone, type PackCheck } from '../../../eval/kinds/retrieval/run-pack.ts'
import { defaultEmbedder } from '../../../eval/system/open-embedder.ts'
import { vectorsFor } from '../../../eval/system/vector.ts'
import { type FileToWrite, writeFiles } from '../../../files/write-files.ts'
import { cachedEmbedder } from '../../../search/embedder.ts'
import { defineCommand, exitCodes } from '../../command/command.ts'
import { columns, counted, lines } from '../../text/output.ts'
import { embedderOption, packsDirectoryOf, packsOption } from './benchmark-store.ts'

export const evalCheck = defineCommand({
  args: {},
  options: { packs: packsOption },
  description: `Reads every pack strictly. A pack fails if an empty answer passes more than ${mostPassedByNone * 100} % of its cases, or if one of its cases cannot be passed.`,
  exitCodes: [exitCodes.failed],
  examples: {
    'credence eval check': 'Checks the packs that ship with Credence.',
    'credence eval check --packs ./my-packs': 'Checks packs of your own.',
  },
  async run({ options }, session) {
    const evaluation = await session.evaluation()
    const packsDirectory = packsDirectoryOf(session, evaluation, options.packs)
    const backends = evaluation.backends({ packsDirectory, embedder: defaultEmbedder })
    const checks: PackCheck[] = []
    for (const directory of findPacks(packsDirectory)) checks.push(await checkPack(loadPack(directory).pack, backends))
    const ok = checks.length > 0 && checks.every(({ problems }) => problems.length === 0)
    return {
      document: { ok, packs: checks },
      text: (style) => {
        const rows = checks.map(({ pack, cases, passedByNone, passedByOracle, problems }) => {
          const figures = `${cases} cases, none ${passedByNone}, oracle ${passedByOracle}`
          const verdict = problems.length === 0 ? style.green('fit') : style.red('unfit')
          return [verdict, pack, [figures, ...problems].join('\n')]
        })
        return columns(rows, { width: style.width })
      },
      notes: checks.length === 0 ? [`There are no packs in ${packsDirectory}.`] : [],
      exitCode: ok ? exitCodes.fine : exitCodes.failed,
    }
  },
})

export const evalEmbed = defineCommand({
  args: {},
  options: { embedder: embedderOption, packs: packsOption },
  description: 'Writes vectors.json next to every pack.',
  examples: {
    'credence eval embed': 'Embeds every pack with the model from npm.',
    'credence eval embed --embedder ollama:nomic-embed-text': 'The same with a model that Ollama serves.',
  },
  async run({ options }, session) {
    const evaluation = await session.evaluation()
    const packsDirectory = packsDirectoryOf(session, evaluation, options.packs)
    const embedder = cachedEmbedder(await evaluation.openEmbedder(options.embedder ?? defaultEmbedder))
    const found = findPacks(packsDirectory).map((directory) => loadPack(directory))
    const files: FileToWrite[] = []
    let beliefs = 0
    for (const [index, { directory, pack }] of found.entries()) {
      evaluation.progress.show(pack.id, index, found.length)
      files.push(await vectorsFor(directory, pack.beliefs, embedder))
      beliefs += pack.beliefs.length
    }
    evaluation.progress.clear()
    writeFiles(files)
    const { model, dimensions } = embedder
    const written = files.map(({ file }) => file)
    return {
      document: { model, dimensions, beliefs, files: written },
      text: () =>
        lines(
          `Embedded ${counted(beliefs, 'belief')} with ${model} (${dimensions} dimensions).`,
          written.map((file) => `  ${file}`),
        ),
    }
  },
})
