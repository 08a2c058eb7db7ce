/**
 * Chooses the minimum cosine for finding a belief by meaning. `node scripts/calibrate-beliefs.ts <life>… [--write]`,
 * with folders as for `credence benchmark run life`, which are not part of this repository. The turns with the answers
 * count as beliefs. The threshold is the lowest at which at most 6 % of the unrelated messages, and at most 6 % of the
 * messages of other people, find anything.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { meaningOf } from '../src/memory/conversation/meaning.ts'
import { openMiniLm } from '../src/search/minilm/minilm.ts'
import { textsToEmbed } from '../src/search/turns/change.ts'
import { compareWith, packVectors } from '../src/search/turns/cosines.ts'
import { parseQuestion } from '../src/search/turns/question.ts'

type Place = { readonly session: string; readonly index: number }
type Message = { readonly kind: string; readonly message: string; readonly goldTurns: readonly Place[] }
type Line = { readonly session: string; readonly text: string }

const maxShare = 0.06
const { values, positionals: folders } = parseArgs({
  allowPositionals: true,
  options: { write: { type: 'boolean', default: false } },
})
if (folders.length < 2 || folders.some((folder) => !existsSync(join(folder, 'history.jsonl')))) {
  console.error('Name two or more folders with history.jsonl and questions.json.')
  process.exit(2)
}

const model = await openMiniLm()
const lives = await Promise.all(
  folders.map(async (folder) => {
    const lines = readFileSync(join(folder, 'history.jsonl'), 'utf8').trim().split('\n')
    const sessions = Map.groupBy(
      lines.map((line) => JSON.parse(line) as Line),
      ({ session }) => session,
    )
    const messages = JSON.parse(readFileSync(join(folder, 'questions.json'), 'utf8')) as readonly Message[]
    const beliefs = new Map<string, Int8Array>()
    for (const { session, index } of messages.flatMap(({ goldTurns }) => goldTurns)) {
      const text = sessions.get(session)?.[index]?.text ?? ''
      beliefs.set(`${session}:${index}`, packVectors(await model.embed(textsToEmbed(text)), model.dimensions))
    }
    return { beliefs, messages }
  }),
)

/** The cosine of the nearest belief, and whether that belief answers the message. */
async function nearest({ message, goldTurns }: Message, beliefs: ReadonlyMap<string, Int8Array>) {
  const cosineOf = compareWith(await meaningOf(model, parseQuestion(message), message))
  const [best] = [...beliefs]
    .map(([place, vectors]) => ({ place, cosine: cosineOf(vectors) }))
    .sort((a, b) => b.cosine - a.cosine)
  const isRight = goldTurns.some(({ session, index }) => `${session}:${index}` === best?.place)
  return { cosine: best?.cosine ?? 0, isRight }
}

const results = new Map<string, { readonly cosine: number; readonly isRight: boolean }[]>()
const note = (kind: string, result: { readonly cosine: number; readonly isRight: boolean }): void => {
  results.set(kind, [...(results.get(kind) ?? []), result])
}
for (const [at, { beliefs, messages }] of lives.entries()) {
  for (const message of messages) note(message.kind, await nearest(message, beliefs))
  const others = lives[(at + 1) % lives.length]?.messages ?? []
  for (const message of others.filter(({ kind }) => kind !== 'unrelated'))
    note('of other people', { ...(await nearest(message, beliefs)), isRight: false })
}

const shareAbove = (kind: string, min: number): number => {
  const all = results.get(kind) ?? []
  return all.filter(({ cosine }) => cosine >= min).length / Math.max(1, all.length)
}
const steps = Array.from({ length: 100 }, (_, at) => at / 100)
const limited = ['unrelated', 'of other people']
const minCosine = steps.find((min) => limited.every((kind) => shareAbove(kind, min) <= maxShare)) ?? 1
console.log(
  `Least cosine: ${minCosine}\n\n| messages | number | a belief is found | the nearest is right |\n|---|---:|---:|---:|`,
)
for (const [kind, all] of results) {
  const found = all.filter(({ cosine }) => cosine >= minCosine)
  console.log(`| ${kind} | ${all.length} | ${found.length} | ${found.filter(({ isRight }) => isRight).length} |`)
}
if (values.write)
  writeFileSync(
    new URL('../src/memory/meaning/belief-threshold.json', import.meta.url),
    `${JSON.stringify({ model: model.model, minCosine })}\n`,
  )
