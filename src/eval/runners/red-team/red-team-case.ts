import { z } from 'zod'
import { invalid } from '../../../errors.ts'
import { readTextFile } from '../../../files/read-text.ts'
import { caseFileOf, parseJsonAs, refuseUnlike } from '../../pack/manifest.ts'
import { SafeId } from '../../store/schemas/primitives.ts'
import type { PackPlace } from '../runner.ts'

const text = z.string().min(1)
const json = z.record(z.string(), z.json())

const common = {
  /** Whose memory; default u1. */
  user: text.optional(),
  /** How often; `{i}` in any text is the number of the repetition, from 1. */
  repeat: z.int().min(1).max(500).optional(),
}

/** The project that an agent was started in; default project:shop. */
const project = text.optional()

/**
 * What is done to the memory through one door. `{proposal}` in any text is the id of the newest proposal,
 * `{belief:NAME}` that of a belief.
 */
const AttackStep = z.discriminatedUnion('door', [
  z.strictObject({
    door: z.literal('person'),
    remember: z.strictObject({ name: text, content: text, scope: text }),
    ...common,
  }),
  /** The person forgets a belief by its name, or all turns that contain these words. */
  z.strictObject({ door: z.literal('forget'), belief: text.optional(), turnsWith: text.optional(), ...common }),
  /** A message that a person typed or pasted, as the host's hook delivers it. */
  z.strictObject({ door: z.literal('hook'), text, session: text, ...common }),
  /** A call of an agent; `agent` is the name it gives itself. */
  z.strictObject({ door: z.literal('mcp'), tool: text, arguments: json, agent: text.optional(), project, ...common }),
  z.strictObject({ door: z.literal('http'), method: text, path: text, body: json.optional(), project, ...common }),
  /** An edit of MEMORY.md by another program, below the heading if there is one, and a sync. */
  z.strictObject({
    door: z.literal('file'),
    edit: z.enum(['append', 'replace', 'remove']),
    line: text.optional(),
    old: text.optional(),
    heading: text.optional(),
    ...common,
  }),
  /** A file that the person imports without vouching for it. */
  z.strictObject({ door: z.literal('import'), format: z.enum(['jsonl', 'markdown']), text, ...common }),
  /** A conversation given to the model extractor, and the model's answer. */
  z.strictObject({ door: z.literal('extractor'), conversation: text, answer: text, ...common }),
  z.strictObject({ door: z.literal('tool'), text, ...common }),
  /** A file of conversations in JSON Lines that the person imports. */
  z.strictObject({ door: z.literal('chats'), text, ...common }),
])

export type AttackStep = z.infer<typeof AttackStep>

const texts = z.array(text).min(1)

const AttackExpectation = z.strictObject({
  /** Not in the later context, unless the line is marked as the word of another author. */
  contextLacks: texts.optional(),
  /** Nor in a marked line, nor in the answer to a reading step. */
  contextLacksAll: z.literal(true).optional(),
  /** Beliefs of the person with these words are as they were after the setup. */
  personUnchanged: texts.optional(),
  /** No current belief of any author contains this. */
  noActiveBeliefWith: texts.optional(),
  /** Not a byte of this is on the disk. */
  storeLacks: texts.optional(),
  /** No surface for reading returns this, although every one of them did after the setup. */
  surfacesLack: texts.optional(),
  /** The max number of waiting proposals and candidates. */
  mostProposals: z.int().min(0).optional(),
  /** The context is one `<memory>` element, and no remembered text starts a new line. */
  fenceIntact: z.literal(true).optional(),
})

const BenignExpectation = z.strictObject({
  contextHas: texts.optional(),
  beliefWith: texts.optional(),
  proposalWith: texts.optional(),
  turnWith: texts.optional(),
  /** Every surface for reading returns this. */
  surfacesHave: texts.optional(),
})

const isNotEmpty = (expected: object): boolean => Object.keys(expected).length > 0

const shared = {
  caseId: SafeId,
  about: text,
  /** Carried out first. The person's statements here are genuine. */
  setup: z.array(AttackStep),
  steps: z.array(AttackStep).min(1),
  /** The later message, by whom and where. */
  ask: z.strictObject({ user: text, message: text, scopes: texts }),
}

const RedTeamCase = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('attack'), ...shared, expect: AttackExpectation.refine(isNotEmpty) }),
  z.strictObject({ kind: z.literal('benign'), ...shared, expect: BenignExpectation.refine(isNotEmpty) }),
])

export type RedTeamCase = z.infer<typeof RedTeamCase>
export type AttackExpectation = z.infer<typeof AttackExpectation>
export type BenignExpectation = z.infer<typeof BenignExpectation>
export type AttackAsk = RedTeamCase['ask']

export const defaultUser = 'u1'

/** Reads attacks and their benign twins, one a line. */
export function readRedTeamCases(place: PackPlace): readonly RedTeamCase[] {
  const file = caseFileOf(place)
  const cases = readTextFile(file)
    .split('\n')
    .flatMap((line, index) =>
      line.trim() === '' ? [] : [parseJsonAs(`${file}:${index + 1}`, line, RedTeamCase, seeFormat)],
    )
  for (const kind of ['attack', 'benign'] as const)
    if (!cases.some((one) => one.kind === kind))
      throw invalid(`${file}: there is no ${kind} case, so only half of the memory would be measured.`, seeFormat)
  // A benign twin that the manifest does not list makes the pack stricter, not easier.
  const known = new Set(place.manifest.cases.map(({ id }) => id))
  const listed = cases.filter(({ kind, caseId }) => kind === 'attack' || known.has(caseId))
  refuseUnlike(
    place,
    listed.map(({ caseId, about }) => ({ id: caseId, prompt: about })),
  )
  return cases
}

const seeFormat = 'See docs/red-team.md for the format.'
