import { resolve } from 'node:path'
import { compareStrings } from '../../../beliefs/identity.ts'
import { manifestOf } from '../../../eval/pack/manifest.ts'
import { neutralId, rankingsSystem } from '../../../eval/runners/conversation/rankings.ts'
import type { PackPlace } from '../../../eval/runners/runner.ts'
import { readCaseLog } from '../../../eval/store/case-log.ts'
import { requireRun } from '../../../eval/store/documents.ts'
import { defineCommand, exitCodes, UsageError } from '../../command/command.ts'
import { one, text } from '../../command/options.ts'
import { writeOut } from '../../write-out.ts'
import { newJobs, type PackSearch, packDirectory, runJobs, runOptions } from './benchmark-run.ts'
import { evalStore, evalStoreOptions, fixedOptions } from './benchmark-store.ts'
import { measureWith } from './measure.ts'

const { data, notes, gitRef, runId } = runOptions

export const benchmarkScore = defineCommand({
  args: { suite: one('A conversation pack: its folder, or its id.') },
  options: {
    rankings: text('<file>', 'JSON Lines: for each question the ids of sessions or turns, best first. Required.'),
    data,
    notes,
    gitRef,
    runId,
    ...evalStoreOptions,
  },
  description:
    'Scores the answers of any memory without running it, and stores a run like every other. A file with an unknown or repeated id, a missing question or a field for labels is refused.',
  exitCodes: [exitCodes.failed, exitCodes.interrupted],
  examples: {
    'credence benchmark score longmemeval --data longmemeval_s.json --rankings theirs.jsonl':
      'Prints the same table as a run of the suite.',
    'credence benchmark score locomo --rankings theirs.jsonl': 'Scores rankings of the sample of the pack.',
  },
  async run({ args: { suite }, options: given }, session) {
    const { root } = evalStore(session, given)
    if (given.rankings === undefined)
      throw new UsageError(
        'No rankings are given.',
        'Give the file with --rankings; docs/evaluation.md has its format.',
      )
    const system = rankingsSystem(resolve(session.places.workingDirectory(), given.rankings))
    return measureWith(session, root, async (setup) => {
      conversationPack(suite, setup)
      return runJobs(
        newJobs([suite], { ...given, system: [system] }, setup),
        { ...given, given: fixedOptions(given) },
        setup,
      )
    })
  },
})

/** The pack of a suite. Must be a conversation pack, because only these have documents and rankings. */
function conversationPack(suite: string, search: PackSearch): PackPlace {
  const directory = packDirectory(suite, search)
  const manifest = manifestOf(directory)
  if (manifest.runner === 'conversation') return { directory, manifest }
  throw new UsageError(
    `${manifest.benchmarkId} is not a conversation pack.`,
    'Only conversations have documents, and rankings of them.',
  )
}

export const benchmarkExport = defineCommand({
  args: { suite: one('A conversation pack: its folder, or its id.') },
  options: {
    out: text('<file>', 'The file to write, in JSON Lines. Required.'),
    run: text('<run>', 'Write the rankings of this run, in the format of `benchmark score`, instead of the documents.'),
    data,
    ...evalStoreOptions,
  },
  description:
    'Writes the conversations and questions of a suite with neutral ids and without labels, for a memory that is run elsewhere.',
  examples: {
    'credence benchmark export longmemeval --data longmemeval_s.json --out documents.jsonl':
      'Writes one line per conversation: turns and questions.',
    'credence benchmark export longmemeval --run 20260306-100000-longmemeval-credence-1a2b --out rankings.jsonl':
      'Writes what a run found, for `benchmark score`.',
  },
  async run({ args: { suite }, options: given }, session) {
    const { root } = evalStore(session, given)
    if (given.out === undefined) throw new UsageError('No file to write is given.', 'Name it with --out.')
    const place = conversationPack(suite, { root, session, evaluation: await session.evaluation() })
    const at = (path: string): string => resolve(session.places.workingDirectory(), path)
    const out = at(given.out)
    const published = given.data === undefined ? undefined : at(given.data)
    const documents = given.run === undefined ? documentLines(place, published) : rankingLines(root, given.run, place)
    let lines = 0
    const texts = async function* () {
      for await (const document of documents) {
        lines += 1
        yield `${JSON.stringify(document)}\n`
      }
    }
    await writeOut(out, texts())
    return { document: { ok: true, file: out, lines }, text: () => `${lines} lines written to ${given.out}.` }
  },
})

async function* documentLines(place: PackPlace, published: string | undefined): AsyncGenerator<object> {
  const { conversationsOf } = await import('../../../eval/runners/conversation/conversation-runner.ts')
  for (const { id: conversation, turns, questions } of conversationsOf(place, published))
    yield {
      conversation: neutralId('c', conversation),
      turns,
      // Sorted by neutral id, because the order in published data would reveal the kind of each question.
      questions: questions
        .map(({ id, text, askedAt }) => ({ id: neutralId('q', id), text, askedAt }))
        .sort((a, b) => compareStrings(a.id, b.id)),
    }
}

async function* rankingLines(root: string, run: string, { manifest }: PackPlace): AsyncGenerator<object> {
  const { benchmarkId } = requireRun(root, run)
  if (benchmarkId !== manifest.benchmarkId)
    throw new UsageError(
      `${run} is a run of ${benchmarkId}, not of ${manifest.benchmarkId}.`,
      'Name the pack of the run.',
    )
  const { records } = await readCaseLog(root, run)
  for (const { caseId, repeat, ranking } of records) {
    if (repeat > 0) continue
    if (typeof ranking !== 'object' || ranking === null)
      throw new UsageError(`The run ${run} has no ranking for ${caseId}.`, 'Run the suite again with this version.')
    yield ranking
  }
}
