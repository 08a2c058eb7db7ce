import { z } from 'zod'
import { parseScope } from '../../../beliefs/scope.ts'
import type { Budget } from '../../../memory/context.ts'
import type { Expectations } from './expectations.ts'
import { invalid, parseCases } from './parse-cases.ts'

/** One question with one answer to check. */
export type RetrievalCase = {
  readonly caseId: string
  readonly category: string | null
  readonly description: string
  /** Null for the pack's default user. */
  readonly user: string | null
  readonly scopes: readonly string[]
  readonly message: string
  readonly budget: Partial<Budget>
  readonly expect: Expectations
}

/** One message of a session. What changes in the store changes after the turn has been scored. */
export type SessionTurn = {
  readonly turnIndex: number
  readonly label: string
  readonly scopes: readonly string[]
  readonly message: string
  readonly budget: Partial<Budget>
  readonly expect: Expectations
  /** A whole belief, in either spelling; read together with the corpus. */
  readonly createBelief: unknown
  readonly updateBelief: z.infer<typeof updateBelief> | null
}

export type SessionCase = {
  readonly caseId: string
  readonly description: string
  readonly user: string | null
  readonly turns: readonly SessionTurn[]
}

/** `warnings` name what the file asks for and nobody checks. */
export type CaseFile<Case> = { readonly cases: readonly Case[]; readonly warnings: readonly string[] }

const ids = z.array(z.string().min(1))
const texts = z.array(z.string().min(1))
const count = z.int().min(0)
const membership = z.strictObject({ mustInclude: ids.optional(), mustExclude: ids.optional() })

const expectations = z.strictObject({
  personaPrelude: z
    .strictObject({
      nonEmpty: z.boolean().optional(),
      isNull: z.boolean().optional(),
      contains: texts.optional(),
      mustNotContain: texts.optional(),
    })
    .optional(),
  pinnedFacts: membership.optional(),
  relevantBeliefs: z
    .strictObject({
      mustInclude: ids.optional(),
      mustExclude: ids.optional(),
      shouldInclude: ids.optional(),
      shouldOnlyInclude: ids.optional(),
      orderedBefore: z.array(z.tuple([z.string().min(1), z.string().min(1)])).optional(),
      minCount: count.optional(),
      maxCount: count.optional(),
    })
    .optional(),
  openQuestions: membership.optional(),
  noiseCheck: z.strictObject({ mustNotSurface: ids.optional() }).optional(),
})

const budget = z.strictObject({
  maxBeliefs: count.optional(),
  maxPinnedFacts: count.optional(),
  maxQuestions: count.optional(),
  maxCharacters: count.optional(),
  maxPrelude: count.optional(),
})

const scope = z.array(z.string().refine(isScope, 'must be a scope such as domain:code')).min(1)

const retrievalCase = z.strictObject({
  caseId: z.string().min(1),
  category: z.string().optional(),
  description: z.string().optional(),
  userId: z.string().min(1).optional(),
  scope,
  query: z.string(),
  budget: budget.optional(),
  notes: z.unknown().optional(),
  expect: expectations,
})

const updateBelief = z.strictObject({
  beliefId: z.string().min(1),
  addAliases: texts.optional(),
  setContent: z.string().min(1).optional(),
  setCanonicalName: z.string().min(1).optional(),
})

const sessionCase = z.strictObject({
  caseId: z.string().min(1),
  description: z.string().optional(),
  category: z.string().optional(),
  userId: z.string().min(1).optional(),
  notes: z.unknown().optional(),
  turns: z
    .array(
      z.strictObject({
        turnIndex: count,
        label: z.string(),
        scope,
        userMessage: z.string(),
        // What was answered and what it was about belongs to the story; every message is looked up on its own.
        assistantMessage: z.unknown().optional(),
        turnSignal: z.unknown().optional(),
        topics: z.unknown().optional(),
        notes: z.unknown().optional(),
        budget: budget.optional(),
        createBeliefAtTurn: z.unknown().optional(),
        updateBeliefAtTurn: updateBelief.optional(),
        expect: expectations,
      }),
    )
    .min(1),
})

function isScope(text: string): boolean {
  try {
    return parseScope(text) !== ''
  } catch {
    return false
  }
}

/** Reads a file of single questions. */
export function readRetrievalCases(file: string, value: unknown): CaseFile<RetrievalCase> {
  const { items, warnings } = parseCases(file, value, retrievalCase, 'query')
  const cases = items.map(
    (item): RetrievalCase => ({
      caseId: item.caseId,
      category: item.category ?? null,
      description: item.description ?? '',
      user: item.userId ?? null,
      scopes: item.scope,
      message: item.query,
      budget: asBudget(item.budget),
      expect: item.expect,
    }),
  )
  return { cases, warnings }
}

/** Reads a file of sessions. */
export function readSessionCases(file: string, value: unknown): CaseFile<SessionCase> {
  const { items, warnings } = parseCases(file, value, sessionCase, 'turns')
  const cases = items.map((item): SessionCase => {
    refuseDisorder(file, item)
    return {
      caseId: item.caseId,
      description: item.description ?? '',
      user: item.userId ?? null,
      turns: item.turns.map((turn) => ({
        turnIndex: turn.turnIndex,
        label: turn.label,
        scopes: turn.scope,
        message: turn.userMessage,
        budget: asBudget(turn.budget),
        expect: turn.expect,
        createBelief: turn.createBeliefAtTurn ?? null,
        updateBelief: turn.updateBeliefAtTurn ?? null,
      })),
    }
  })
  return { cases, warnings }
}

/** The published name of one limit differs from ours. */
function asBudget({ maxPinnedFacts, ...rest }: z.infer<typeof budget> = {}): Partial<Budget> {
  const given = { ...rest, maxPinned: maxPinnedFacts }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

function refuseDisorder(file: string, { caseId, turns }: z.infer<typeof sessionCase>): void {
  for (const [index, turn] of turns.entries()) {
    const before = turns[index - 1]
    if (before !== undefined && turn.turnIndex <= before.turnIndex) {
      throw invalid(
        `${file}: case "${caseId}", turns[${index}]: turn ${turn.turnIndex} follows turn ${before.turnIndex}.`,
        'Turns stand in the order in which they happen.',
      )
    }
  }
}
