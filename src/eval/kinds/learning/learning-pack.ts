import { join } from 'node:path'
import { z } from 'zod'
import { beliefTypes } from '../../../beliefs/belief.ts'
import { MemoryError } from '../../../errors.ts'
import { manifestOf } from '../../pack/load-pack.ts'
import { parseJsonFile, readTextFile } from '../../pack/read-file.ts'
import { manifestName } from '../../store/layout.ts'
import { type Manifest, PackPath } from '../../store/schemas/manifest.ts'
import { SafeId } from '../../store/schemas/primitives.ts'

const texts = z.array(z.string().min(1))

/** A statement that has to be taken. */
const ExpectedFact = z.strictObject({
  /** Stands in what is kept, letter by letter. */
  says: texts.min(1),
  /** Questions that have to bring it up. */
  askedWith: texts.min(1),
  /** Questions that must not. */
  notAskedWith: texts.default([]),
  type: z.enum(beliefTypes).optional(),
  kind: z.enum(['statement', 'correction', 'retraction']).default('statement'),
  certainty: z.enum(['said', 'inferred']).default('said'),
  /** For a correction: words that it takes back. */
  replaces: texts.optional(),
})

const LearningCase = z.strictObject({
  caseId: SafeId,
  category: z.string().min(1),
  description: z.string().min(1),
  message: z.string().min(1),
  earlier: texts.default([]),
  /** All that may be taken. An empty list: nothing. */
  learn: z.array(ExpectedFact),
  /** Why something is refused, where that matters: a refusal for this reason holds these words. */
  refuse: z.array(z.strictObject({ words: z.string().min(1), reason: z.string().min(1) })).default([]),
})

export type ExpectedFact = z.infer<typeof ExpectedFact>
export type LearningCase = z.infer<typeof LearningCase>

export type LearningPack = { readonly manifest: Manifest; readonly cases: readonly LearningCase[] }

const Files = z.looseObject({ files: z.looseObject({ cases: PackPath }) })

export const learningRunner = 'learning'

/** Reads a pack of messages with what must and must not be learned from them. */
export function loadLearningPack(directory: string): LearningPack {
  const manifest = manifestOf(directory)
  const place = join(directory, manifestName)
  if (manifest.runner !== learningRunner) throw invalid(`${place}: the runner is ${manifest.runner}, not learning.`)
  const named = Files.safeParse(manifest)
  if (!named.success) throw invalid(`${place}: files.cases must name the case file.`)
  const file = join(directory, named.data.files.cases)
  const parsed = z
    .array(LearningCase)
    .min(1)
    .safeParse(parseJsonFile(file, readTextFile(file)))
  if (!parsed.success) {
    throw invalid(parsed.error.issues.map((issue) => `${file}: ${issue.path.join('.')}: ${issue.message}.`).join('\n'))
  }
  refuseUnlike(place, manifest, parsed.data)
  for (const one of parsed.data) refuseImpossible(file, one)
  return { manifest, cases: parsed.data }
}

/** The manifest counts, the case file judges: they must speak of the same. */
function refuseUnlike(place: string, { cases: listed }: Manifest, cases: readonly LearningCase[]): void {
  const messages = new Map(cases.map(({ caseId, message }) => [caseId, message]))
  if (messages.size !== cases.length) throw invalid(`${place}: a case of the case file has the id of another.`)
  for (const { id, prompt } of listed) {
    if (!messages.has(id)) throw invalid(`${place}: lists "${id}", which is not in the case file.`)
    if (messages.get(id) !== prompt) throw invalid(`${place}: the prompt of "${id}" is not the message of the case.`)
  }
  const ids = new Set(listed.map(({ id }) => id))
  const unlisted = cases.find(({ caseId }) => !ids.has(caseId))
  if (unlisted !== undefined) throw invalid(`${place}: the case "${unlisted.caseId}" is not listed.`)
}

/** What is to be kept word by word must have been said. */
function refuseImpossible(file: string, { caseId, message, learn }: LearningCase): void {
  const said = message.replace(/\s+/gu, ' ')
  const words = learn
    .flatMap(({ says }) => says)
    .find((expected) => !said.includes(expected) && !message.includes(expected))
  if (words !== undefined) throw invalid(`${file}: ${caseId}: nobody says "${words}" in the message.`)
}

const invalid = (message: string): MemoryError =>
  new MemoryError('invalid', message, { hint: 'See docs/learning.md for the format.' })
