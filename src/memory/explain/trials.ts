import type { Belief } from '../../beliefs/belief.ts'
import { universalScope, visibleScopes } from '../../beliefs/scope.ts'
import { yieldToEventLoop } from '../../next-turn.ts'
import type { Ports } from '../ports.ts'
import { isShown } from '../recall/context.ts'
import { assemble } from '../recall/recall.ts'
import { withChanged } from './dry-run.ts'

/** A recall that a person judged: the beliefs that belong to the message, and those that do not. */
export type KeptCase = {
  readonly id: string
  readonly message: string
  readonly scopes: readonly string[]
  readonly expect: readonly string[]
  readonly reject: readonly string[]
}

/** The effects of a change to a belief on other messages. */
export type Effects = {
  /** The change was tried on `cases` saved cases and `prompts` recent prompts. */
  readonly cases: number
  readonly prompts: number
  /** Ids of saved cases that pass now and would fail after the change. */
  readonly breaks: readonly string[]
  /** `appearsIn`: prompts for which the belief would newly appear. `leaves`: prompts for which it would no longer appear. */
  readonly appearsIn: readonly string[]
  readonly leaves: readonly string[]
}

/** Max recent prompts to try a change on. */
const maxPrompts = 200

type Trial = { readonly message: string; readonly scopes: readonly string[] }

/**
 * Tries out changes to one belief on the person's saved cases and last prompts. The current results are computed only once.
 * Quotes are left out, because no change to a belief adds one.
 */
export async function prepareTrials(
  ports: Ports,
  { user, belief, cases }: { readonly user: string; readonly belief: Belief; readonly cases: readonly KeptCase[] },
): Promise<(changed: Belief) => Promise<Effects>> {
  const recallTrial = async (tried: Ports, trial: Trial) => {
    await yieldToEventLoop()
    return (await assemble(tried, { ...trial, user, budget: { maxQuotes: 0 } })).context
  }
  const passes = async (tried: Ports, { expect, reject, ...trial }: KeptCase): Promise<boolean> => {
    const context = await recallTrial(tried, trial)
    return expect.every((id) => isShown(context, id)) && !reject.some((id) => isShown(context, id))
  }
  const passing: KeptCase[] = []
  for (const kept of cases) if (await passes(ports, kept)) passing.push(kept)
  const prompts: (Trial & { readonly isShownToday: boolean })[] = []
  for (const prompt of await recentPrompts(ports, user))
    prompts.push({ ...prompt, isShownToday: isShown(await recallTrial(ports, prompt), belief.id) })

  const effectsIn = async (tried: Ports): Promise<Effects> => {
    const breaks: string[] = []
    for (const kept of passing) if (!(await passes(tried, kept))) breaks.push(kept.id)
    const appearsIn: string[] = []
    const leaves: string[] = []
    for (const { isShownToday, ...prompt } of prompts) {
      const isShownThen = isShown(await recallTrial(tried, prompt), belief.id)
      if (isShownThen && !isShownToday) appearsIn.push(prompt.message)
      if (isShownToday && !isShownThen) leaves.push(prompt.message)
    }
    return { cases: cases.length, prompts: prompts.length, breaks, appearsIn, leaves }
  }
  return (changed) => withChanged(ports, [changed], effectsIn)
}

/** The person's last stored prompts without repetitions, with their scopes. */
async function recentPrompts({ store }: Ports, user: string): Promise<readonly Trial[]> {
  const { items } = await store.listTurns({ user, roles: ['user'] }, { limit: maxPrompts, offset: 0 })
  const said = items.filter(({ origin }) => origin === 'person')
  const byText = new Map(said.map(({ text, scope }) => [`${scope}\n${text}`, { message: text, scope }]))
  return [...byText.values()].map(({ message, scope }) => ({
    message,
    scopes: [...new Set([...visibleScopes([scope]), universalScope])],
  }))
}
