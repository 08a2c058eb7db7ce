import { resolve } from 'node:path'
import { findPacks, loadPack } from '../../../eval/kinds/retrieval/read-folder.ts'
import { type FileToWrite, writeFiles } from '../../../eval/report/write-files.ts'
import { calibrate, calibrationFile } from '../../../eval/system/calibration.ts'
import { defaultEmbedder } from '../../../eval/system/embedders/open-embedder.ts'
import { vectorsFor } from '../../../eval/system/vector-file.ts'
import { cachedEmbedder } from '../../../search/embedder.ts'
import { defineCommand, text } from '../../command.ts'
import { counted } from '../../text-layout.ts'
import { embedderOption } from './eval-options.ts'

/** Makes the vectors that are kept beside the packs, and chooses the threshold again, because it belongs to the model. */
export const evalEmbed = defineCommand({
  args: {},
  options: {
    embedder: embedderOption,
    packs: { ...text('<directory>', 'Where the packs are.'), default: 'those that ship with Credence' },
  },
  description: 'Writes vectors.json beside every pack, and calibrated.json beside the one that settings are chosen on.',
  examples: [
    { command: 'credence eval embed', effect: 'Embeds every pack with the model from npm.' },
    {
      command: 'credence eval embed --embedder ollama:nomic-embed-text',
      effect: 'The same with a model that Ollama serves.',
    },
  ],
  async run({ options }, session) {
    const evaluation = await session.evaluation()
    const packsDirectory =
      options.packs === undefined ? evaluation.packsDirectory : resolve(session.workingDirectory(), options.packs)
    const embedder = cachedEmbedder(await evaluation.openEmbedder(options.embedder ?? defaultEmbedder))
    const found = findPacks(packsDirectory).map((directory) => loadPack(directory))
    const files: FileToWrite[] = []
    let beliefs = 0
    for (const [index, { directory, runner, pack }] of found.entries()) {
      evaluation.progress.show(pack.id, index, found.length)
      files.push(await vectorsFor(directory, pack.beliefs, embedder))
      beliefs += pack.beliefs.length
      if (runner === 'calibration' && pack.kind === 'retrieval') {
        files.push(calibrationFile(directory, await calibrate(pack, embedder, new Map())))
      }
    }
    evaluation.progress.clear()
    writeFiles(files)
    const { model, dimensions } = embedder
    const written = files.map(({ file }) => file)
    return {
      document: { model, dimensions, beliefs, files: written },
      text: () =>
        [
          `Embedded ${counted(beliefs, 'belief')} with ${model} (${dimensions} dimensions).`,
          ...written.map((file) => `  ${file}`),
        ].join('\n'),
    }
  },
})
