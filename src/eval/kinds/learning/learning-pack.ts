import { join } from 'node:path'
import { z } from 'zod'
import { beliefTypes } from '../../../beliefs/belief.ts'
import { MemoryError } from '../../../errors.ts'
import { refuseUnlike } from '../../pack/manifest.ts'
import { parseJsonFile, readTextFile } from '../../pack/read-file.ts'
import { manifestName } from '../../store/layout.ts'
import { PackPath } from '../../store/schemas/manifest.ts'
import { SafeId } from '../../store/schemas/primitives.ts'
import type { PackPlace } from '../kind.ts'

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

const Files = z.looseObject({ files: z.looseObject({ cases: PackPath }) })

/** Reads messages with what must and must not be learned from them. */
export function readLearningCases(place: PackPlace): readonly LearningCase[] {
  const named = Files.safeParse(place.manifest)
  if (!named.success) throw invalid(`${join(place.directory, manifestName)}: files.cases must name the case file.`)
  const file = join(place.directory, named.data.files.cases)
  const parsed = z
    .array(LearningCase)
    .min(1)
    .safeParse(parseJsonFile(file, readTextFile(file)))
  if (!parsed.success) {
    throw invalid(parsed.error.issues.map((issue) => `${file}: ${issue.path.join('.')}: ${issue.message}.`).join('\n'))
  }
  refuseUnlike(
    place,
    parsed.data.map(({ caseId, message }) => ({ id: caseId, prompt: message })),
  )
  for (const one of parsed.data) refuseImpossible(file, one)
  return parsed.data
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
