import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseBlocks } from '../../src/memory/mirror/parse/blocks.ts'
import { isMirrored } from '../../src/memory/mirror/write/shown.ts'
import { tries } from '../full-counts.ts'
import { mirroredMemory, nothingTaken } from './mirrored-memory.ts'

/** An operation on a memory or its file. Its target is chosen by number. */
type Step = { readonly kind: keyof typeof steps; readonly nth: number; readonly word: string }
type Place = ReturnType<typeof mirroredMemory> & { readonly copies: string[] }

const current = async ({ memory }: Place) =>
  (await memory.list({ current: true, proposals: false, limit: 1_000 })).items

async function withOne(place: Place, nth: number, work: (id: string) => Promise<unknown>): Promise<void> {
  const beliefs = await current(place)
  const chosen = beliefs[nth % Math.max(1, beliefs.length)]
  if (chosen !== undefined) await work(chosen.id)
}

const lines = (text: string): string[] => text.split('\n')
const itemLines = (text: string): readonly number[] =>
  lines(text).flatMap((line, index) => (/^- .*credence:b-/u.test(line) ? [index] : []))

function withLine(place: Place, nth: number, change: (line: string) => readonly string[]): void {
  const text = place.text()
  const at = itemLines(text)
  const index = at[nth % Math.max(1, at.length)]
  if (index === undefined) return
  const all = lines(text)
  all.splice(index, 1, ...change(all[index] as string))
  writeFileSync(place.path(), all.join('\n'))
}

const steps = {
  remember: async (place: Place, { word, nth }: Step) => {
    await place.memory.remember({
      name: `name ${nth % 6}`,
      content: word,
      scopes: [['user:universal', 'project:x'][nth % 2] as string],
    })
  },
  correct: (place: Place, { nth, word }: Step) =>
    withOne(place, nth, (id) => place.memory.correct(id, { content: word })),
  alias: (place: Place, { nth, word }: Step) => withOne(place, nth, (id) => place.memory.addAliases(id, [word])),
  forget: (place: Place, { nth }: Step) => withOne(place, nth, (id) => place.memory.forget(id)),
  editLine: async (place: Place, { nth, word }: Step) =>
    withLine(place, nth, (line) => [line.replace(/: .*? <!--/u, `: ${word} <!--`)]),
  removeLine: async (place: Place, { nth }: Step) => withLine(place, nth, () => []),
  copyLine: async (place: Place, { nth }: Step) => withLine(place, nth, (line) => [line, line]),
  append: async (place: Place, { word, nth }: Step) =>
    writeFileSync(place.path(), `${place.text()}- **file ${nth % 6}**: ${word}\n`),
  note: async (place: Place, { word }: Step) => writeFileSync(place.path(), `${place.text()}Note ${word}.\n`),
  keepCopy: async (place: Place) => {
    place.copies.push(place.text())
  },
  saveCopy: async (place: Place, { nth }: Step) => {
    const copy = place.copies[nth % Math.max(1, place.copies.length)]
    if (copy !== undefined) writeFileSync(place.path(), copy)
  },
  sync: (place: Place) => place.sync({ settle: false }),
} satisfies Record<string, (place: Place, step: Step) => Promise<unknown>>

const kinds = Object.keys(steps) as (keyof typeof steps)[]
const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(...kinds),
  nth: fc.nat(20),
  word: fc.stringMatching(/^w[a-z0-9]{7}$/u),
})

describe.each(['person', 'document'] as const)(
  'any history of a memory whose file has the authority of a %s',
  (mirrorAuthority) => {
    it('ends with equal store and file, with nothing left to do, and with no word lost', {
      timeout: 120_000,
    }, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (taken) => {
          await using made = mirroredMemory({ mirrorAuthority })
          const place: Place = Object.assign(made, { copies: [] })
          await place.memory.remember({ name: 'anchor', content: 'there is something' })
          const typed: string[] = []
          for (const one of taken) {
            await steps[one.kind](place, one)
            if (one.kind === 'append' || one.kind === 'note') typed.push(one.word)
            // An editor that saves an old copy may overwrite recent edits, so they are no longer expected.
            if (one.kind === 'saveCopy') typed.length = 0
          }
          await place.sync({ accept: true })
          // An accepted edit is shown; a rejected one is replaced by the stored belief.
          for (let turn = 0; ; turn += 1) {
            const [waiting] = await place.memory.proposals()
            if (waiting === undefined) break
            const { id } = waiting.proposal
            const isAccepted = turn % 2 === 0 && (await place.memory.accept(id).catch(() => null)) !== null
            if (!isAccepted) await place.memory.reject(id)
          }
          for (const { belief } of await place.memory.candidates()) await place.memory.accept(belief.id)
          await place.sync({ accept: true })

          const shown = parseBlocks(place.text()).flatMap((segment) =>
            segment.kind === 'item' ? [[segment.item.id, segment.item.content]] : [],
          )
          const held = (await current(place)).filter(isMirrored).map(({ id, content }) => [id, content])
          expect(shown.sort()).toEqual(held.sort())
          expect(place.text()).not.toMatch(/^(?:<{7}|>{7}|={7})/mu)
          const again = await place.sync()
          expect(again).toMatchObject({ written: [], undecided: [], taken: nothingTaken })
          const everything =
            JSON.stringify(await place.memory.list({ limit: 1_000 })) + textsIn(place.dir) + (await historyText(place))
          const isForgetting = taken.some(({ kind }) => kind === 'forget')
          if (!isForgetting) expect(typed.filter((word) => !everything.includes(word))).toEqual([])
          expect(
            place.problems.filter((problem) => !/items are gone from it|MEMORY\.md waits? for/u.test(problem)),
          ).toEqual([])
        }),
        { numRuns: tries(25) },
      )
    })
  },
)

const textsIn = (dir: string): string =>
  globSync(join(dir, '*.md'))
    .map((file) => readFileSync(file, 'utf8'))
    .join('')

/** All texts in the journal. */
async function historyText({ memory, ports }: Place): Promise<string> {
  const events = await memory.events({ limit: 1_000 })
  const revisions = await Promise.all(events.map(({ number }) => ports.store.revisions('local', number)))
  return JSON.stringify(revisions)
}
