import { delimiter } from 'node:path'
import { findNearestName } from './did-you-mean.ts'
import { invalid, type MemoryError } from './errors.ts'

/** One setting: its default, how it is checked, and how it is read from an environment variable. */
type Setting<Value> = {
  readonly default: Value
  /** The default as shown in the documentation. */
  readonly defaultText: string
  readonly meaning: string
  readonly isValue: (given: unknown) => boolean
  /** The allowed values, for error messages. */
  readonly allowed: string
  /** Parses the value of an environment variable, which `isValue` then checks. */
  readonly read: (text: string) => unknown
}

const truths: Readonly<Record<string, boolean>> = { '1': true, true: true, '0': false, false: false }

const flag = (meaning: string, isOn = false): Setting<boolean> => ({
  default: isOn,
  defaultText: `\`${isOn}\``,
  meaning,
  isValue: (given) => typeof given === 'boolean',
  allowed: 'Write true or false.',
  read: (text) => truths[text.toLowerCase()],
})

const count = (given: number, min: number, meaning: string): Setting<number> => ({
  default: given,
  defaultText: `\`${given}\``,
  meaning,
  isValue: (value) => Number.isSafeInteger(value) && (value as number) >= min,
  allowed: `Write a whole number, ${min} or more.`,
  read: (text) => (/^\d+$/.test(text) ? Number(text) : undefined),
})

const isText = (given: unknown): boolean => typeof given === 'string' && given !== ''

const text = <Default extends string | null>(given: Default, defaultText: string, meaning: string) => ({
  default: given as string | Default,
  defaultText,
  meaning,
  isValue: isText,
  allowed: 'Write a non-empty text.',
  read: (written: string): unknown => written,
})

const choice = <const Choice extends string>(choices: readonly [Choice, ...Choice[]], meaning: string) => ({
  ...text(choices[0], `\`${choices[0]}\``, meaning),
  default: choices[0] as Choice,
  isValue: (given: unknown): boolean => choices.some((choice) => choice === given),
  allowed: `Use ${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}.`,
})

/** Only https, or http to this machine, because private messages are sent there. */
const isEndpoint = (given: unknown): boolean =>
  typeof given === 'string' &&
  /^(?:https:\/\/[^\s@?#]|http:\/\/(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?=[:/]|$))[^\s@?#]*$/u.test(given)

const paths = (meaning: string): Setting<readonly string[]> => ({
  default: [],
  defaultText: 'none',
  meaning,
  isValue: (given) => Array.isArray(given) && given.every(isText),
  allowed: 'Write a list of directories, such as ["~/private"].',
  read: (written) => written.split(delimiter).filter((path) => path !== ''),
})

/**
 * Every setting. A new one must earn its place: a user asked for it, no default suits everyone, and a test fails when it
 * changes.
 */
export const settingsSchema = {
  user: text('local', '`local`', 'The user whose memory is used if `--user` is not given.'),
  excludedDirectories: paths(
    'Directories (with everything below them) whose messages hooks do not store; recall continues. In a file: a list of paths, relative to the file; `~/` is your home directory. In the environment: separated like `PATH`.',
  ),
  maxTurnCharacters: count(200_000, 1, 'Maximum length of a turn, in characters. A longer one is refused.'),
  keepTurnsDays: count(
    0,
    0,
    'How many days turns are kept; 0 keeps them for ever. Older turns are erased when hooks run and while `credence serve` runs.',
  ),
  syncEvery: count(
    0,
    0,
    'How many minutes `credence serve` waits between two syncs with the targets of `credence sync`; 0 does not sync.',
  ),
  agentShare: count(
    25,
    0,
    'Maximum share of beliefs from agents, tools and models in a context, in percent; beliefs of a person or a document are not limited. Use 100 if only agents write.',
  ),
  requestsPerMinute: count(
    600,
    0,
    'How many requests a minute `credence serve` answers for one token of a person, an agent or an administrator; 0 for no limit. More are refused with 429. Each server process counts separately; the two tokens of the memory directory are not limited.',
  ),
  recallBoldness: choice(
    ['normal', 'quiet', 'eager'],
    'How readily recall quotes what was said. `quiet`: only sure quotes. `normal`: also quotes that may help, marked as such. `eager`: more of these.',
  ),
  semantic: {
    ...text(
      'on',
      '`on`',
      'Find turns and beliefs by meaning too, with vectors of their sentences. `on`: by the model in this package, on this machine. `off`: by words alone. A URL: by the model `semanticModel` of an OpenAI-compatible endpoint, such as `http://127.0.0.1:11434/v1` for Ollama; it gets the texts of turns and beliefs, and the key in `CREDENCE_MODEL_KEY`.',
    ),
    isValue: (given: unknown): boolean => given === 'on' || given === 'off' || isEndpoint(given),
    allowed: 'Write on, off, or the URL of an endpoint: https, or http on this machine.',
  },
  semanticModel: text(null, 'none', 'The model of the endpoint in `semantic`, such as `nomic-embed-text`.'),
  mirrorAuthority: choice(
    ['document', 'person'],
    'The authority of an edit to `MEMORY.md`. `document`: an edit that concerns `user:universal` or a standing instruction, or changes or removes a belief that a person or an agent stated, waits until a person accepts it. `person`: edits apply at once with your authority; only for a file that no other program can write.',
  ),
  evalHarnessEnabled: flag('Allow shadow mode. Benchmarks run without it.'),
  evalShadowModeEnabled: flag(
    'Record what each live recall did, in ids, hashes and numbers; needs `evalHarnessEnabled`. Does not change what is recalled.',
  ),
  benchmarkBaselineSnapshotsEnabled: flag('Allow storing accepted runs as baselines.', true),
  benchmarkDeltaReporterEnabled: flag('Allow comparing the latest runs with a baseline.', true),
  // Null, because the default is inside the memory directory, which this module does not know.
  evalStoreDir: text(
    null,
    '`state/evals` in the memory directory',
    'The directory of benchmarks, runs, shadow records and baselines; relative to the configuration file.',
  ),
} as const

type Schema = typeof settingsSchema
export type SettingName = keyof Schema
export type Settings = { readonly [Name in SettingName]: Schema[Name]['default'] }

export const settingNames = Object.keys(settingsSchema) as readonly SettingName[]

/** `evalStoreDir` is `CREDENCE_EVAL_STORE_DIR` in the environment. */
export const environmentName = (setting: string): string =>
  `CREDENCE_${setting.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`

/** Variables that are not settings. Other code reads them, some before the settings are known: to find the settings, or to report errors in them. */
const otherVariables = ['CREDENCE_DIR', 'CREDENCE_STORE', 'CREDENCE_DEBUG', 'CREDENCE_MODEL_KEY']

/** The settings that one source gives. */
export type SomeSettings = Partial<Record<SettingName, string | boolean | number | readonly string[]>>

/** Parses the text of a `config.json`; `source` names the file in errors. */
export function parseSettings(text: string, source: string): SomeSettings {
  const value = objectInFile(text, source, 'Write an object such as {"user": "ada"}, or remove the file.')
  for (const [name, given] of Object.entries(value)) {
    if (!isSetting(name)) throw unknownSetting(name, settingNames, source)
    checkValue(name, given, `The setting ${name} in ${source} is ${JSON.stringify(given)?.slice(0, 80)}.`)
  }
  return value as SomeSettings
}

function checkValue(name: SettingName, given: unknown, problem: string): void {
  const { isValue, allowed } = settingsSchema[name]
  if (!isValue(given)) throw invalid(problem, allowed)
}

/** Reads settings from `CREDENCE_*` variables. Misspelt names are an error; other unknown variables are ignored. */
export function environmentSettings(env: Readonly<Record<string, string | undefined>>): SomeSettings {
  const byVariable = new Map(settingNames.map((name) => [environmentName(name), name]))
  const found: SomeSettings = {}
  for (const [variable, text] of Object.entries(env)) {
    if (!variable.startsWith('CREDENCE_') || text === undefined || text === '') continue
    const name = byVariable.get(variable)
    if (name === undefined) refuseMisspelling(variable, [...byVariable.keys(), ...otherVariables])
    else {
      const value = settingsSchema[name].read(text)
      checkValue(name, value, `${variable} is "${text.slice(0, 80)}".`)
      found[name] = value as string | boolean | number | readonly string[]
    }
  }
  return found
}

/** Takes each setting from the first place that has it, or its default. */
export function resolveSettings(places: readonly SomeSettings[]): Settings {
  const resolved = settingNames.map((name) => [
    name,
    places.find((place) => place[name] !== undefined)?.[name] ?? settingsSchema[name].default,
  ])
  // The values of every place were already checked against the schema.
  return Object.fromEntries(resolved) as Settings
}

/** Parses a JSON file that must contain an object. `hint` describes the expected content. */
export function objectInFile(text: string, file: string, hint: string): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (cause) {
    throw invalid(`${file} is not JSON (${(cause as Error).message}).`, hint, cause)
  }
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) return { ...value }
  throw invalid(`${file} contains ${JSON.stringify(value).slice(0, 80)}, not an object.`, hint)
}

const isSetting = (name: string): name is SettingName => Object.hasOwn(settingsSchema, name)

function refuseMisspelling(variable: string, known: readonly string[]): void {
  const former = Object.keys(replaced).find((name) => environmentName(name) === variable)
  if (former !== undefined) throw invalid(`There is no setting ${variable}.`, replaced[former])
  const bare = (name: string): string => name.slice('CREDENCE_'.length)
  const meant = findNearestName(bare(variable), known.map(bare))
  if (meant === undefined || known.includes(variable)) return
  throw invalid(`There is no setting ${variable}.`, `Did you mean CREDENCE_${meant}?`)
}

/** Settings of earlier versions, with a hint that names the replacement. */
const replaced: Readonly<Record<string, string>> = {
  sentenceVectors: 'It was replaced by "semantic": on, which is the default, or off.',
}

function unknownSetting(name: string, known: readonly string[], source: string): MemoryError {
  const meant = findNearestName(name, known)
  return invalid(
    `There is no setting "${name.slice(0, 80)}" (in ${source}).`,
    replaced[name] ?? (meant === undefined ? `Settings: ${known.join(', ')}.` : `Did you mean ${meant}?`),
  )
}
