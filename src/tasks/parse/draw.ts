import { createHash } from 'node:crypto'
import { z } from 'zod'
import { randomFrom } from '../../eval/score/statistics.ts'
import type { Task } from '../task.ts'

const PlainValue = z
  .union([z.string(), z.number(), z.boolean()], { error: 'must be text, a number, or true or false' })
  .transform(String)
  .refine((value) => value.trim() !== '' && !value.includes('{{'), { error: 'must not be blank nor hold {{' })

const Mapping = z.record(z.string().regex(/^[a-z][a-z0-9_]*$/u), PlainValue)

const IsoDay = z.iso.date({ error: 'must be a day such as 2024-01-15' })

const DrawRule = z.union(
  [
    z.strictObject({
      one_of: z.array(z.union([PlainValue, Mapping])).min(1),
      unlike: z.union([z.string().transform((name) => [name]), z.array(z.string())]).optional(),
    }),
    z.strictObject({ words: z.int().min(1).max(12) }),
    z.strictObject({ code: z.int().min(4).max(64) }),
    z.strictObject({ number: z.strictObject({ from: z.int(), to: z.int() }).refine(({ from, to }) => from <= to) }),
    z.strictObject({
      date: z.union([
        z.literal(true),
        z.strictObject({ from: IsoDay, to: IsoDay }).refine(({ from, to }) => from <= to),
      ]),
    }),
    z.strictObject({ person: z.literal(true) }),
  ],
  {
    error:
      'must be one of { one_of: […], unlike? }, { words: 1 to 12 }, { code: 4 to 64 }, { number: { from, to } }, { date: true or { from, to } }, { person: true }',
  },
)
type DrawRule = z.infer<typeof DrawRule>

/** Variables by name, each with the rule that draws its value. See docs/tasks.md. */
export const Draw = z.record(
  z
    .string()
    .regex(/^[a-z][a-z0-9_]*$/u, { error: 'must be lower case letters, digits and _, beginning with a letter' }),
  DrawRule,
)

export type DrawRules = Readonly<Record<string, DrawRule>>

/** The value of a variable under the name `''`, and its parts under their names. */
type Drawn = ReadonlyMap<string, string>

const placeholder = /\{\{\s*([a-z][a-z0-9_]*)(?:\.([a-z][a-z0-9_]*))?\s*\}\}/gu

const WithDraw = z.object({ credence: z.object({ draw: Draw.optional() }).nullish() })

/**
 * The task with every `{{name}}` replaced by what the seed draws for it. The same seed gives the same task everywhere; a
 * task that draws nothing is returned as it is, and so is one that was filled before.
 */
export function instantiate(task: Task, seed: number): Task {
  const draw = WithDraw.parse(task.frontMatter).credence?.draw ?? {}
  if (Object.keys(draw).length === 0) return task
  const values = drawAll(draw, `${task.id}\n${seed}`)
  const fill = (text: string): string => replaceIn(text, values, (value) => value)
  return {
    ...task,
    workspaceFiles: task.workspaceFiles.map((file) =>
      file.kind === 'inline' ? { ...file, content: fill(file.content) } : file,
    ),
    sessions: task.sessions.map((session) => ({ ...session, prompt: fill(session.prompt) })),
    prompt: fill(task.prompt),
    expectedBehavior: fill(task.expectedBehavior),
    criteria: task.criteria.map(fill),
    automatedChecks: task.automatedChecks === null ? null : replaceIn(task.automatedChecks, values, insidePython),
    rubric: task.rubric === null ? null : fill(task.rubric),
    answerChecks: task.answerChecks.map((check) => ({
      ...check,
      expect: check.expect.map((ways) => ways.map(fill)),
      forbid: check.forbid.map(fill),
    })),
  }
}

/** Placeholders without a value. One that is forgotten would reach the agent or a check. */
export function undeclared(
  task: Task,
  draw: DrawRules,
): readonly { readonly field: string; readonly name: string; readonly known: readonly string[] }[] {
  if (Object.keys(draw).length === 0) return []
  const values = drawAll(draw, task.id)
  const known = [...values].flatMap(([name, parts]) =>
    [...parts.keys()].map((part) => (part === '' ? name : `${name}.${part}`)),
  )
  const texts: readonly (readonly [string, string])[] = [
    ['## Prompt', task.prompt],
    ...task.sessions.map(({ id, prompt }) => [`sessions.${id}.prompt`, prompt] as const),
    ...task.answerChecks.flatMap(({ id, expect, forbid }) =>
      [...expect.flat(), ...forbid].map((text) => [`credence.answer_checks.${id}`, text] as const),
    ),
    ['## Expected Behavior', task.expectedBehavior],
    ...task.criteria.map((text) => ['## Grading Criteria', text] as const),
    ['## LLM Judge Rubric', task.rubric ?? ''],
  ]
  const found = texts.flatMap(([field, text]) =>
    [...text.matchAll(placeholder)].flatMap(([, name = '', part = '']) =>
      values.get(name)?.has(part) ? [] : [{ field, name: part === '' ? name : `${name}.${part}`, known }],
    ),
  )
  return found.filter(
    ({ field, name }, index) => found.findIndex((o) => o.field === field && o.name === name) === index,
  )
}

const replaceIn = (text: string, values: ReadonlyMap<string, Drawn>, write: (value: string) => string): string =>
  text.replace(placeholder, (whole, name: string, part: string = '') => {
    const value = values.get(name)?.get(part)
    // Doubled braces are also how Python writes a brace, so unknown names are left alone.
    return value === undefined ? whole : write(value)
  })

/** Right inside an ordinary string of Python, whichever quotes it has. */
const insidePython = (value: string): string =>
  value
    .replace(/[\\'"]/gu, (mark) => `\\${mark}`)
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')

/** Every variable has a stream of its own, so that a new one changes no other. */
function drawAll(draw: DrawRules, seed: string): ReadonlyMap<string, Drawn> {
  const drawn = new Map<string, Drawn>()
  for (const [name, rule] of Object.entries(draw)) {
    const digest = createHash('sha256').update(`${seed}\n${name}`).digest()
    drawn.set(name, drawOne(rule, randomFrom(digest.readUInt32LE(0)), drawn))
  }
  return drawn
}

const alone = (value: string): Drawn => new Map([['', value]])

function drawOne(rule: DrawRule, random: () => number, earlier: ReadonlyMap<string, Drawn>): Drawn {
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[Math.floor(random() * items.length)]
    if (item === undefined) throw new Error('Nothing can be drawn from an empty list.')
    return item
  }
  if ('one_of' in rule) {
    const taken = (rule.unlike ?? []).map((name) => asKey(earlier.get(name)))
    const all = rule.one_of.map((value) => (typeof value === 'string' ? alone(value) : new Map(Object.entries(value))))
    const free = all.filter((value) => !taken.includes(asKey(value)))
    return pick(free.length > 0 ? free : all)
  }
  if ('words' in rule) return alone(drawWords(rule.words, random))
  if ('code' in rule) {
    return alone(Array.from({ length: rule.code }, () => pick([...'23456789abcdefghjkmnpqrstuvwxyz'])).join(''))
  }
  if ('number' in rule) {
    const { from, to } = rule.number
    return alone(String(from + Math.floor(random() * (to - from + 1))))
  }
  if ('person' in rule) {
    const first = pick(firstNames)
    const last = pick(lastNames)
    return new Map([
      ['', `${first} ${last}`],
      ['first', first],
      ['last', last],
    ])
  }
  return drawDate(rule.date === true ? { from: '2015-01-01', to: '2024-12-31' } : rule.date, random)
}

const asKey = (value: Drawn | undefined): string => JSON.stringify([...(value ?? [])])

/** Different words, so that no phrase says the same word twice. */
function drawWords(count: number, random: () => number): string {
  const left = [...drawnWords]
  return Array.from({ length: count }, () => left.splice(Math.floor(random() * left.length), 1)[0]).join(' ')
}

const months = 'January February March April May June July August September October November December'.split(' ')
const dayMs = 24 * 60 * 60 * 1000

function drawDate({ from, to }: { readonly from: string; readonly to: string }, random: () => number): Drawn {
  const first = Date.parse(`${from}T00:00:00Z`)
  const days = Math.round((Date.parse(`${to}T00:00:00Z`) - first) / dayMs) + 1
  const date = new Date(first + Math.floor(random() * days) * dayMs)
  const month = months[date.getUTCMonth()] ?? ''
  const day = String(date.getUTCDate())
  const year = String(date.getUTCFullYear())
  const iso = date.toISOString().slice(0, 10)
  return new Map([
    ['', `${month} ${day}, ${year}`],
    ['iso', iso],
    ['day', day],
    ['month', month],
    ['year', year],
  ])
}

/** Ordinary words that phrases are drawn from: easy to read, hard to take for one another, none the beginning of another. */
const drawnWords = `
amber anchor apricot autumn badger bamboo basket beacon birch blanket blossom bramble breeze bridge bronze
butter candle canyon carpet castle cedar cherry chimney cinnamon clover cobalt comet copper coral cotton
crimson crystal cypress dagger desert diamond dolphin donkey ember emerald engine falcon feather fiddle
forest fountain garden ginger glacier granite guitar hammer harbor hazel helmet heron hollow honey indigo
island ivory jacket jasmine jungle kettle kitten ladder lagoon lantern lavender lemon lilac lobster locket
magnet mango maple marble meadow melon meteor midnight mirror mountain mustard needle nectar nutmeg ocean
olive onyx orchard orchid otter oyster paddle pebble pelican pepper pigeon pillow pine planet plum pocket
pumpkin puzzle quartz quill rabbit raven ribbon river rocket saffron salmon sapphire satin scarlet shadow
silver spiral sparrow spruce squirrel summer sunset tango teapot temple thistle thunder tiger timber topaz
tulip tunnel turquoise turtle umbrella valley vanilla velvet violet violin walnut willow window winter zebra
`
  .trim()
  .split(/\s+/u)

const firstNames = `
Amara Anton Beatriz Callum Chiara Dagmar Dmitri Elif Esther Farid Freya Giulia Hamid Hana Ines Ivan Jamila Joris Kaori
Kwame Leila Lucia Mateo Mirela Nadia Nikolai Olena Oscar Priya Rafael Rosa Samir Sigrid Tariq Tomas Uma Viktor Wanda
Yusuf Zofia
`
  .trim()
  .split(/\s+/u)

const lastNames = `
Abara Andersen Bakker Banerjee Castellano Chandra Delacroix Dvorak Eriksen Fontaine Galvez Haddad Hoffmann Ibarra
Ishikawa Jankowski Kaplan Kovacs Lindqvist Marchetti Mbeki Nakamura Novak Okafor Oliveira Petrov Quispe Rahimi Ramirez
Rossi Santos Sorensen Takahashi Tremblay Ullman Vasiliev Weiss Yilmaz Zapata Zimmer
`
  .trim()
  .split(/\s+/u)
