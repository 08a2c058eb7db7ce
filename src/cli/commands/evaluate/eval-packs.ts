import { findPacks, loadPack } from '../../../eval/runners/retrieval/pack.ts'
import { vectorsFor } from '../../../eval/system/vector.ts'
import { type FileToWrite, writeFiles } from '../../../files/write-files.ts'
import { defaultEmbedder } from '../../../memory/meaning/open-embedder.ts'
import { cachedEmbedder } from '../../../search/embedder.ts'
import { defineCommand } from '../../command/command.ts'
import { lines, pluralize } from '../../text/output.ts'
import { embedderOption, packsDirectoryOf, packsOption } from './benchmark-store.ts'

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
          `Embedded ${pluralize(beliefs, 'belief')} with ${model} (${dimensions} dimensions).`,
          written.map((file) => `  ${file}`),
        ),
    }
  },
})
