import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Captured, captureCase } from '../../../eval/pack/capture.ts'
import { importPack, type PackSummary, validatePack } from '../../../eval/pack/import-pack.ts'
import { manifestOf } from '../../../eval/pack/manifest.ts'
import { sealSet } from '../../../eval/pack/sealed-set.ts'
import { loadPack, recallRunnerNames } from '../../../eval/runners/retrieval/pack.ts'
import { checkPack, maxPassedByNone, type PackCheck } from '../../../eval/runners/retrieval/run-pack.ts'
import { runnerOf } from '../../../eval/runners/runner.ts'
import { defaultEmbedder } from '../../../memory/meaning/open-embedder.ts'
import { defineCommand, exitCodes, UsageError } from '../../command/command.ts'
import { flag, one, readOptions, text, texts, wholeNumber, words } from '../../command/options.ts'
import { packRunners } from '../../evaluation.ts'
import type { Session } from '../../session.ts'
import { lines, pluralize, type Style, table } from '../../text/output.ts'
import { evalStore, evalStoreOptions } from './benchmark-store.ts'

export const benchmarkValidate = defineCommand({
  args: { path: one('A manifest, or the folder of a pack.') },
  options: {
    controls: flag(
      `Also run the controls none and oracle: fail if an empty answer passes more than ${maxPassedByNone * 100} % of the cases, or if a case cannot be passed.`,
    ),
  },
  description: 'Changes nothing. A pack with a runner is checked case by case, as the runner would read it.',
  exitCodes: [exitCodes.failed],
  examples: {
    'credence benchmark validate ./packs/mine': 'Shows errors with file and field, or a summary of the pack.',
    'credence benchmark validate ./packs/mine --controls': 'Also checks that no memory passes by finding nothing.',
  },
  async run({ args: { path }, options }, session) {
    const { pack, warnings } = await validateFolder(session, path)
    const controls = options.controls ? await checkControls(session, path, pack) : null
    const isFit = controls === null || controls.problems.length === 0
    return {
      document: { ok: isFit, pack, warnings, ...(controls === null ? {} : { controls }) },
      text: (style) => lines(packText(pack), controls !== null && ['', controlsText(controls, style)]),
      notes: warnings,
      exitCode: isFit ? exitCodes.fine : exitCodes.failed,
    }
  },
})

async function checkControls(session: Session, path: string, { benchmarkId, runner }: PackSummary): Promise<PackCheck> {
  const directory = resolve(session.places.workingDirectory(), path)
  if (!recallRunnerNames.some((known) => known === runner) || !statSync(directory).isDirectory())
    throw new UsageError(
      `--controls cannot check ${benchmarkId}.`,
      `Give the folder of a pack whose runner is one of ${recallRunnerNames.join(', ')}.`,
    )
  const { systems, packsDirectory } = await session.evaluation()
  return checkPack(loadPack(directory).pack, systems({ packsDirectory, embedder: defaultEmbedder }))
}

function controlsText({ cases, passedByNone, passedByOracle, problems }: PackCheck, style: Style): string {
  const verdict = problems.length === 0 ? style.green('fit') : style.red('unfit')
  return lines(
    `${verdict}: none passes ${passedByNone} of ${cases} cases, oracle ${passedByOracle}`,
    problems.map((problem) => `  ${problem}`),
  )
}

export async function validateFolder(
  session: Session,
  given: string,
): Promise<{ readonly pack: PackSummary; readonly warnings: readonly string[] }> {
  const path = resolve(session.places.workingDirectory(), given)
  const pack = await validatePack(path)
  if (pack.runner === undefined || !statSync(path).isDirectory()) return { pack, warnings: [] }
  const place = { directory: path, manifest: manifestOf(path) }
  const runners = await packRunners(session, pack.runner, defaultEmbedder)
  return { pack, warnings: runnerOf(place, runners).read(place).warnings }
}

export function packText(pack: PackSummary): string {
  const { attackClass, targetSurface, tags, sourceLinks } = pack
  const facts = {
    pack: `${pack.benchmarkId}: ${pack.title}`,
    type: pack.benchmarkType,
    attack: attackClass !== undefined && `${attackClass} against ${targetSurface}`,
    cases: String(pack.totalCases),
    files: pluralize(pack.files, 'file'),
    runner: pack.runner ?? 'none: can be kept and compared, but not run',
    hash: pack.packHash,
    tags: tags.length > 0 && tags.join(', '),
    sources: sourceLinks.length > 0 && sourceLinks.join(' '),
  }
  const rows = Object.entries(facts).flatMap(([label, fact]) => (fact === false ? [] : [[label, fact]]))
  return table(rows)
}

export const benchmarkImport = defineCommand({
  args: { path: one('A manifest, or the folder of a pack.') },
  options: { force: flag('Replace a pack that has the same id.'), ...evalStoreOptions },
  description: 'Copies the whole folder but symbolic links and .git.',
  examples: {
    'credence benchmark import ./packs/mine': 'Copies the pack into the store.',
    'credence benchmark import ./packs/mine --force': 'Replaces the pack with the same id.',
  },
  async run({ args: { path }, options }, session) {
    const { root } = evalStore(session, options)
    const { warnings } = await validateFolder(session, path)
    const pack = await importPack(root, resolve(session.places.workingDirectory(), path), { force: options.force })
    return {
      document: { ok: true, pack },
      text: () => packText(pack),
      notes: [...warnings, `${pack.overwritten ? 'Replaced' : 'Imported to'} ${pack.targetDir}`],
    }
  },
})

export const benchmarkSeal = defineCommand({
  args: { path: one('The data of a suite, or the folder of a pack.') },
  options: {
    runs: wholeNumber('How many runs may be made on it.', { min: 1, max: 1_000, default: 1 }),
    notes: text('<text>', 'Stored with the seal.'),
  },
  description:
    'Writes the hash, the time and the number of runs to <name>.seal.json next to it. Every run is recorded there before it begins. A changed file and a run too many are refused.',
  examples: {
    'credence benchmark seal held-out.json': 'Allows one run.',
    'credence benchmark seal ./packs/mine --runs 3 --notes "before release 1.0"': 'Allows three runs of a pack.',
  },
  async run({ args: { path }, options: { runs = 1, notes } }, session) {
    const place = resolve(session.places.workingDirectory(), path)
    const { file, hash, sealedAt, maxRuns } = await sealSet(place, { maxRuns: runs, notes, now: new Date() })
    return {
      document: { ok: true, file, hash, sealedAt, maxRuns },
      text: () => `Sealed ${hash} for ${pluralize(maxRuns, 'run')}.`,
      notes: [`Put ${file} under version control. If it is removed, nothing limits the runs any more.`],
    }
  },
})

export const benchmarkCapture = defineCommand({
  args: { message: words('The message.') },
  options: {
    expect: texts('<belief>', 'Must be recalled. May be given several times.'),
    reject: texts('<belief>', 'Must not be recalled. May be given several times.'),
    expectQuote: texts('<text|turn>', 'Must be quoted: words of a turn, or its id. May be given several times.'),
    forbidQuote: texts('<text|turn>', 'Must not be quoted: words of a turn, or its id. May be given several times.'),
    exactly: flag('With --expect: nothing else may be found for the message.'),
    asIs: flag('Expect exactly what is recalled now.'),
    replace: flag('Replace the cases that were captured for this message in these scopes.'),
    note: text('<text>', 'A reason, stored with the case.'),
    ...readOptions,
    evals: evalStoreOptions.evals,
  },
  description:
    'Adds a wrong recall, or a right one that must stay right, as a case to your own pack my-cases. Its beliefs, and for quotes the turns around them, are copied, so that later changes do not affect the case: when you have mended your memory, capture the message again with --replace.',
  examples: {
    'credence benchmark capture "Is the boat ready?" --expect Albatross --reject "Sunday race"':
      'Stores which belief should be recalled, and which should not.',
    'credence benchmark capture "How do I get into the gym?" --expect-quote "code is 1188" --forbid-quote t-7k2m9xq0v3bd':
      'Stores which turn should be quoted, and which should not.',
    'credence benchmark capture "Is the boat ready?" --as-is': 'Stores a recall that was right.',
  },
  async run({ args: { message }, options }, session) {
    const { expect, reject, expectQuote, forbidQuote, exactly, asIs, replace, note } = options
    const isJudged = [expect, reject, expectQuote, forbidQuote].some(({ length }) => length > 0)
    if (asIs && (isJudged || exactly))
      throw new UsageError(
        '--as-is cannot be combined with --expect, --reject, --expect-quote, --forbid-quote or --exactly.',
        'Leave out one or the other.',
      )
    if (!asIs && !isJudged && !exactly) {
      throw new UsageError(
        'No expectation is given.',
        'Give --expect or --reject with a belief, --expect-quote or --forbid-quote with words of a turn, or --as-is.',
      )
    }
    const { root } = evalStore(session, options)
    const memory = await session.memories.reading({ ...options, waitsForModel: true })
    const settings = session.places.settings(options)
    const system = await (await session.evaluation()).openAs(settings)
    try {
      const { scopes } = session.places.locate(options)
      const captured = await captureCase(
        memory,
        {
          message,
          scopes,
          expect,
          reject,
          expectQuotes: expectQuote,
          forbidQuotes: forbidQuote,
          exactly,
          asIs,
          replace,
          note: note ?? null,
        },
        { root, system },
      )
      return {
        document: { ok: true, ...captured },
        text: (style) => capturedText(captured, style),
        notes: [
          ...(replace && captured.casesReplaced === 0
            ? ['Nothing was replaced: no case was captured for this message in these scopes before.']
            : []),
          ...notesOf(captured),
        ],
      }
    } finally {
      await system.close()
    }
  },
})

function capturedText(captured: Captured, style: Style): string {
  const {
    caseId,
    case: { description },
    passesNow,
    failures,
    beliefsCopied,
    turnsCopied,
  } = captured
  const verdict = passesNow ? style.green('passes today') : style.red('fails today')
  return [
    `${style.bold(caseId)}: ${verdict}`,
    `  ${description}`,
    ...failures.map((failure) => `  ${failure}`),
    `  ${pluralize(beliefsCopied, 'belief')}${turnsCopied === 0 ? '' : ` and ${pluralize(turnsCopied, 'turn')}`} copied`,
  ].join('\n')
}

const notesOf = ({ packDir, isFaithful, passesNow }: Captured): readonly string[] => [
  ...(isFaithful
    ? []
    : [
        'The copies give another answer than the memory: a belief or turn that matters was not copied, or a setting such as recallBoldness is not its default. Check the case before you rely on it.',
      ]),
  ...(passesNow
    ? []
    : ['The case tests the copies. When you have changed the beliefs themselves, capture it again with --replace.']),
  `Stored in ${packDir}. Run it with \`credence benchmark run my-cases\`.`,
]
