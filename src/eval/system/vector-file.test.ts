import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { belief, letterEmbedder } from '../../../test/eval/sample-corpus.ts'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import { writeFiles } from '../../files/write-files.ts'
import { readRecords } from '../../memory/transfer/belief-record.ts'
import { embeddedText, readVectors, textHash, vectorsFor } from './vector.ts'

const [anchor, sail] = readRecords(
  { now: () => new Date(0), newId: () => 'unused' },
  {
    text: JSON.stringify([belief('b-bow_anchor', { aliases: ['kedge'], why_it_matters: 'Holds.' }), belief('b-sail')]),
    source: 'b',
    user: 'ann',
    scopes: [],
  },
).records.map(({ record }) => record) as [never, never]

describe('vectors kept beside a pack', () => {
  it('stand for name, aliases, content and why', () => {
    expect(embeddedText(anchor)).toBe('bow anchor kedge What is known of bow_anchor. Holds.')
  })

  it('are found again by the text they stand for', async () => {
    using directory = temporaryDirectory()
    writeFiles([await vectorsFor(directory.path, [anchor, sail], letterEmbedder)])

    const known = readVectors(directory.path, letterEmbedder)

    const [wanted] = await letterEmbedder.embed([embeddedText(sail)])
    expect(known.size).toBe(2)
    expect(known.get(textHash(embeddedText(sail)))).toEqual(wanted)
  })

  it('are not used for a belief that has changed, nor for another model', async () => {
    using directory = temporaryDirectory()
    writeFiles([await vectorsFor(directory.path, [anchor], letterEmbedder)])

    expect(
      readVectors(directory.path, letterEmbedder).has(
        textHash(embeddedText({ ...(anchor as object), content: 'Else.' } as never)),
      ),
    ).toBe(false)
    expect(readVectors(directory.path, { ...letterEmbedder, model: 'other' }).size).toBe(0)
    expect(readVectors(directory.path, { ...letterEmbedder, dimensions: 27 }).size).toBe(0)
  })

  it('need not be there', () => {
    using directory = temporaryDirectory()

    expect(readVectors(directory.path, letterEmbedder).size).toBe(0)
  })

  it('name model, dimensions and encoding, one belief a line', async () => {
    using directory = temporaryDirectory()
    const { file, text } = await vectorsFor(directory.path, [anchor, sail], letterEmbedder)

    expect(file).toBe(join(directory.path, 'vectors.json'))
    expect(JSON.parse(text)).toMatchObject({
      schemaVersion: 1,
      model: 'letters',
      dimensions: 26,
      vectors: [{ id: 'b-bow_anchor' }, { id: 'b-sail' }],
    })
    expect(text.split('\n').filter((line) => line.includes('"vector":'))).toHaveLength(2)
  })

  it.each([
    ['cut short', (text: string) => text.slice(0, 200), /not JSON/u],
    [
      'of another version',
      (text: string) => text.replace('"schemaVersion": 1', '"schemaVersion": 2'),
      /schemaVersion/u,
    ],
    [
      'with a vector too short',
      (text: string) => text.replace(/"vector":"[^"]{8}/u, '"vector":"'),
      /does not have 26 dimensions/u,
    ],
  ])('are refused when the file is %s', async (_what, spoil, reason) => {
    using directory = temporaryDirectory()
    const { file, text } = await vectorsFor(directory.path, [anchor], letterEmbedder)
    writeFileSync(file, spoil(text))

    expect(() => readVectors(directory.path, letterEmbedder)).toThrow(reason)
    expect(readFileSync(file, 'utf8')).toBe(spoil(text))
  })
})
