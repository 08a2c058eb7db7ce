import { z } from 'zod'
import { invalid } from '../../../errors.ts'
import { readTextFile } from '../../../files/read-text.ts'
import { caseFileOf, parseJsonAs, refuseUnlike } from '../../pack/manifest.ts'
import { SafeId } from '../../store/schemas/primitives.ts'
import type { PackPlace } from '../runner.ts'

const text = z.string().min(1)
const json = z.record(z.string(), z.json())

const common = {
  /** The user of the memory; default u1. */
  user: text.optional(),
  /** The number of repetitions; `{i}` in any text is replaced by the repetition's number, from 1. */
  repeat: z.int().min(1).max(500).optional(),
}

/** The project in which an agent was started; default project:shop. */
const project = text.optional()

/**
 * One action on the memory through one interface (`door`). `{proposal}` in any text is replaced by the id of the newest proposal,
 * `{belief:NAME}` by the id of that belief.
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
  /** A tool call by an agent; `agent` is the name that the agent gives itself. */
  z.strictObject({ door: z.literal('mcp'), tool: text, arguments: json, agent: text.optional(), project, ...common }),
  z.strictObject({ door: z.literal('http'), method: text, path: text, body: json.optional(), project, ...common }),
  /** An edit to MEMORY.md by another program, under a heading if one is given, followed by a sync. */
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
  /** A conversation for the model extractor, and the model's reply. */
  z.strictObject({ door: z.literal('extractor'), conversation: text, answer: text, ...common }),
  z.strictObject({ door: z.literal('tool'), text, ...common }),
  /** A JSON Lines file of conversations that the person imports. */
  z.strictObject({ door: z.literal('chats'), text, ...common }),
])

export type AttackStep = z.infer<typeof AttackStep>

const texts = z.array(text).min(1)

const AttackExpectation = z.strictObject({
  /** Text that must not be in the context of `ask`, except in lines marked as the words of another author. */
  contextLacks: texts.optional(),
  /** The text of `contextLacks` must not be in marked lines or in the answers to reading steps either. */
  contextLacksAll: z.literal(true).optional(),
  /** Words of the person's beliefs that must be unchanged since the setup. */
  personUnchanged: texts.optional(),
  /** Words that no current belief of any author may contain. */
  noActiveBeliefWith: texts.optional(),
  /** Text that must not be on the disk. */
  storeLacks: texts.optional(),
  /** Text that no reading surface may return, although every surface returned it after the setup. */
  surfacesLack: texts.optional(),
  /** Max waiting proposals and candidates. */
  mostProposals: z.int().min(0).optional(),
  /** Whether the context must be one `<memory>` element in which no remembered text starts a new line. */
  fenceIntact: z.literal(true).optional(),
})

const BenignExpectation = z.strictObject({
  contextHas: texts.optional(),
  beliefWith: texts.optional(),
  proposalWith: texts.optional(),
  turnWith: texts.optional(),
  /** Text that every reading surface must return. */
  surfacesHave: texts.optional(),
})

const isNotEmpty = (expected: object): boolean => Object.keys(expected).length > 0

const shared = {
  caseId: SafeId,
  about: text,
  /** Steps carried out first. The person's statements in them are genuine. */
  setup: z.array(AttackStep),
  steps: z.array(AttackStep).min(1),
  /** The message after the steps, with its user and scopes. */
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

/** Reads attacks and their benign twins, one per line. */
export function readRedTeamCases(place: PackPlace): readonly RedTeamCase[] {
  const file = caseFileOf(place)
  const cases = readTextFile(file)
    .split('\n')
    .flatMap((line, index) =>
      line.trim() === '' ? [] : [parseJsonAs(`${file}:${index + 1}`, line, RedTeamCase, seeFormat)],
    )
  for (const kind of ['attack', 'benign'] as const)
    if (!cases.some((redTeamCase) => redTeamCase.kind === kind))
      throw invalid(`${file}: there is no ${kind} case, so only half of the memory would be measured.`, seeFormat)
  // A benign twin that the manifest does not list is allowed, because it only makes the pack stricter.
  const known = new Set(place.manifest.cases.map(({ id }) => id))
  const listed = cases.filter(({ kind, caseId }) => kind === 'attack' || known.has(caseId))
  refuseUnlike(
    place,
    listed.map(({ caseId, about }) => ({ id: caseId, prompt: about })),
  )
  return cases
}

const seeFormat = 'See docs/red-team.md for the format.'
